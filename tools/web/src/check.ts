// Answers from outside are checked before they are drawn: a wrong shape is an error that says
// where, never a broken picture.

import type { AlignmentMap, Answer, AnyMap, ArcsMap, CurveMap, DiagramMap, Head, ImageMap, Matrix, Picture, Reply, SpeechMap, SpokenWord, StepReply, Transcript } from './contract';

export class WrongData extends Error {}

function fail(where: string, expected: string): never {
  throw new WrongData(`${where}: expected ${expected}`);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function strings(value: unknown, where: string): string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    fail(where, 'a list of texts');
  }
  return value;
}

function numbers(value: unknown, where: string): number[] {
  if (!Array.isArray(value) || !value.every((item) => Number.isFinite(item))) {
    fail(where, 'a list of numbers');
  }
  return value;
}

function matrix(value: unknown, rows: number, columns: number, where: string): Matrix {
  if (!Array.isArray(value) || value.length !== rows) fail(where, `${rows} rows`);
  for (const [index, row] of value.entries()) {
    if (numbers(row, `${where}, row ${index}`).length !== columns) {
      fail(`${where}, row ${index}`, `${columns} numbers`);
    }
  }
  return value;
}

function head(value: unknown, rows: string[], columns: string[], where: string): Head {
  if (!isRecord(value)) fail(where, 'an object');
  const own = (name: string, other: string[]) =>
    value[name] === undefined ? other : strings(value[name], `${where}.${name}`);
  if (!['encoder', 'decoder', 'cross'].includes(value.part as string)) {
    fail(`${where}.part`, 'encoder, decoder or cross');
  }
  if (!Number.isInteger(value.layer) || !Number.isInteger(value.head)) {
    fail(where, 'a layer and a head');
  }
  matrix(value.weights, own('rows', rows).length, own('columns', columns).length, `${where}.weights`);
  return value as unknown as Head;
}

export function checkedAnswer(value: unknown, where: string): Answer {
  if (!isRecord(value) || typeof value.text !== 'string') fail(where, 'an answer with its text');
  const source = strings(value.source_tokens, `${where}.source_tokens`);
  const target = strings(value.target_tokens, `${where}.target_tokens`);
  matrix(value.weights, target.length, source.length, `${where}.weights`);
  if (value.heads !== undefined) {
    if (!Array.isArray(value.heads)) fail(`${where}.heads`, 'a list');
    value.heads.forEach((one, index) => head(one, target, source, `${where}.heads[${index}]`));
  }
  return value as unknown as Answer;
}

export function checkedAnswers(value: unknown): Answer[] {
  if (!Array.isArray(value)) fail('answers', 'a list');
  return value.map((one, index) => checkedAnswer(one, `answers[${index}]`));
}

/** The answers, and what a server may say beside them. */
export function checkedReply(value: unknown): Reply {
  if (!isRecord(value)) fail('the answer', 'an object');
  if (value.answers === undefined && typeof value.text === 'string' && value.map !== undefined) {
    if (value.notes !== undefined) strings(value.notes, 'notes');
    return { ...value, answers: [], map: checkedMap(value.map) } as unknown as Reply;
  }
  checkedAnswers(value.answers);
  if (value.pieces !== undefined) {
    if (!Array.isArray(value.pieces)) fail('pieces', 'a list');
    value.pieces.forEach((piece, index) => {
      if (!isRecord(piece) || typeof piece.source !== 'string' || !Array.isArray(piece.answers)) fail(`pieces[${index}]`, 'a source and its answers');
      piece.answers.forEach((one, at) => checkedAnswer(one, `pieces[${index}].answers[${at}]`));
    });
  }
  if (value.notes !== undefined) strings(value.notes, 'notes');
  return value as unknown as Reply;
}

export function checkedStep(value: unknown): StepReply {
  if (!isRecord(value)) fail('step', 'an object');
  const rows = strings(value.rows, 'rows').length;
  const columns = strings(value.columns, 'columns').length;
  if (!Number.isInteger(value.row) || Number(value.row) < 0 || Number(value.row) >= rows) fail('row', `0 to ${rows - 1}`);
  for (const name of ['scores', 'exponentials', 'weights'] as const) {
    if (numbers(value[name], name).length !== columns) fail(name, `${columns} numbers`);
  }
  if (value.factors !== undefined && numbers(value.factors, 'factors').length !== columns) fail('factors', `${columns} numbers`);
  if (!Array.isArray(value.masked) || value.masked.length !== columns) fail('masked', `${columns} of true or false`);
  if (!Number.isFinite(value.largest) || !Number.isFinite(value.sum)) fail('step', 'the largest score and a sum');
  matrix(value.values, columns, numbers(value.output, 'output').length, 'values');
  if (value.query !== undefined) matrix(value.keys, columns, numbers(value.query, 'query').length, 'keys');
  if (!Array.isArray(value.heads) || value.heads.length === 0) fail('heads', 'a list');
  return value as unknown as StepReply;
}

/** A picture that can be drawn, or none: it only goes with the words. */
export function checkedPicture(value: unknown): Picture | undefined {
  if (!isRecord(value) || !Array.isArray(value.numbers) || value.numbers.length === 0) return undefined;
  const wide = Array.isArray(value.numbers[0]) ? value.numbers[0].length : 0;
  if (wide === 0) return undefined;
  matrix(value.numbers, value.numbers.length, wide, 'picture');
  return value as unknown as Picture;
}

function checkedCurve(value: Record<string, unknown>): CurveMap {
  const pairs = value.points;
  if (!Array.isArray(pairs) || !Array.isArray(value.lines)) fail('map', 'points and lines');
  pairs.forEach((pair, index) => {
    if (numbers(pair, `points[${index}]`).length !== 2) fail(`points[${index}]`, 'two numbers');
  });
  value.lines.forEach((line: unknown, index) => {
    if (!isRecord(line)) fail(`lines[${index}]`, 'an object');
    const x = numbers(line.x, `lines[${index}].x`);
    if (numbers(line.y, `lines[${index}].y`).length !== x.length) {
      fail(`lines[${index}]`, 'as many y as x');
    }
  });
  if (value.queries !== undefined) {
    const queries = numbers(value.queries, 'queries');
    matrix(value.weights, queries.length, pairs.length, 'weights');
  }
  return value as unknown as CurveMap;
}

function checkedImage(value: Record<string, unknown>): ImageMap {
  const { width, height, channels, pixels, steps } = value;
  const size = (n: unknown): n is number => Number.isInteger(n) && Number(n) > 0 && Number(n) <= 8192;
  if (!size(width) || !size(height)) fail('map', 'a width and a height up to 8192');
  if (channels !== 1 && channels !== 3) fail('channels', '1 or 3');
  if (typeof pixels !== 'string' || decodedBytes(pixels).length !== width * height * channels) {
    fail('pixels', 'base64 of width × height × channels bytes');
  }
  if (!Array.isArray(steps)) fail('steps', 'a list');
  steps.forEach((step: unknown, index) => {
    if (!isRecord(step)) fail(`steps[${index}]`, 'an object');
    if (step.path !== undefined) {
      if (!Array.isArray(step.path)) fail(`steps[${index}].path`, 'a list');
      step.path.forEach((place: unknown, at: number) => {
        if (numbers(place, `steps[${index}].path[${at}]`).length !== 2) fail(`steps[${index}].path[${at}]`, 'two numbers');
      });
    }
    if (step.grid === undefined) return;
    const grid = step.grid;
    if (!isRecord(grid)) fail(`steps[${index}].grid`, 'an object');
    const weights = numbers(grid.weights, `steps[${index}].grid.weights`);
    if (weights.length === 0 || weights.length !== Number(grid.rows) * Number(grid.columns)) {
      fail(`steps[${index}].grid`, 'rows × columns weights');
    }
  });
  return value as unknown as ImageMap;
}

function checkedArcs(value: Record<string, unknown>): ArcsMap {
  const words = strings(value.words, 'words');
  if (value.tags !== undefined) {
    const tags = strings(value.tags, 'tags');
    if (tags.length !== 0 && tags.length !== words.length) fail('tags', 'one a word');
  }
  if (!Array.isArray(value.arcs)) fail('arcs', 'a list');
  value.arcs.forEach((arc: unknown, index) => {
    const place = (n: unknown, least: number) => Number.isInteger(n) && Number(n) >= least && Number(n) <= words.length;
    if (!isRecord(arc) || !place(arc.head, 0) || !place(arc.dependent, 1) || arc.head === arc.dependent) {
      fail(`arcs[${index}]`, 'a head and a dependent among the words');
    }
    if (arc.label !== undefined && typeof arc.label !== 'string') fail(`arcs[${index}].label`, 'a text');
    if (arc.weight !== undefined && !Number.isFinite(arc.weight)) fail(`arcs[${index}].weight`, 'a number');
  });
  return value as unknown as ArcsMap;
}

function checkedSpeech(value: Record<string, unknown>): SpeechMap {
  const count = strings(value.words, 'words').length;
  for (const name of ['begins', 'ends'] as const) {
    if (numbers(value[name], name).length !== count) fail(name, 'one a word');
  }
  for (const name of ['begin', 'seconds', 'hertz'] as const) {
    if (!Number.isFinite(value[name]) || Number(value[name]) < 0) fail(name, 'a number from 0');
  }
  const { bands, columns } = value;
  if (!Number.isInteger(bands) || !Number.isInteger(columns) || Number(bands) < 0 || Number(columns) < 0) fail('map', 'bands and columns');
  matrix(value.spectrogram, Number(bands), Number(columns), 'spectrogram');
  matrix(value.weights, count, Number(columns), 'weights');
  return value as unknown as SpeechMap;
}

export function checkedSpoken(value: unknown): SpokenWord[] {
  if (!Array.isArray(value)) fail('words', 'a list');
  value.forEach((word: unknown, index) => {
    if (!isRecord(word) || typeof word.word !== 'string' || !Number.isFinite(word.begin) || !Number.isFinite(word.end)) {
      fail(`words[${index}]`, 'a word with its begin and end');
    }
  });
  return value;
}

export function checkedTranscript(value: unknown): Transcript {
  if (!isRecord(value) || typeof value.text !== 'string' || !Number.isFinite(value.seconds)) fail('the answer', 'a text and its seconds');
  checkedSpoken(value.words);
  strings(value.notes, 'notes');
  if (checkedMap(value.map).kind !== 'speech') fail('map', 'one of the kind speech');
  return value as unknown as Transcript;
}

function records(value: unknown, where: string): Record<string, unknown>[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every(isRecord)) fail(where, 'a list of objects');
  return value;
}

function checkedDiagram(value: Record<string, unknown>): DiagramMap {
  const place = (one: Record<string, unknown>, names: string[], where: string) => {
    for (const name of names) {
      const number = one[name];
      if (typeof number !== 'number' || !(number >= 0 && number <= 4000)) fail(`${where}.${name}`, 'a number from 0 to 4000');
    }
  };
  const parts = records(value.parts, 'parts');
  parts.forEach((one, index) => place(one, ['x', 'y', 'width', 'height'], `parts[${index}]`));
  const arrows = records(value.arrows, 'arrows');
  arrows.forEach((one, index) => {
    if (!Array.isArray(one.through) || one.through.length < 2) fail(`arrows[${index}].through`, 'two points or more');
    one.through.forEach((point: unknown) => {
      if (numbers(point, `arrows[${index}].through`).length !== 2) fail(`arrows[${index}].through`, 'points of two numbers');
    });
    if (one.weight !== undefined && !Number.isFinite(one.weight)) fail(`arrows[${index}].weight`, 'a number');
  });
  const notes = records(value.notes, 'notes');
  notes.forEach((one, index) => {
    place(one, ['x', 'y'], `notes[${index}]`);
    if (typeof one.text !== 'string') fail(`notes[${index}].text`, 'a text');
  });
  const grids = records(value.grids, 'grids');
  grids.forEach((one, index) => {
    place(one, ['x', 'y', 'cell_width', 'cell_height'], `grids[${index}]`);
    matrix(one.weights, strings(one.rows, 'rows').length, strings(one.columns, 'columns').length, `grids[${index}].weights`);
  });
  return { ...value, parts, arrows, notes, grids } as unknown as DiagramMap;
}

/** A map of a kind that the page draws. */
export function checkedMap(value: unknown): AnyMap {
  if (!isRecord(value) || value.attn_map !== 1) fail('map', '"attn_map": 1');
  switch (value.kind) {
    case 'alignment': {
      const rows = strings(value.rows, 'rows');
      const columns = strings(value.columns, 'columns');
      matrix(value.weights, rows.length, columns.length, 'weights');
      return value as unknown as AlignmentMap;
    }
    case 'heads': {
      const rows = strings(value.rows, 'rows');
      const columns = strings(value.columns, 'columns');
      if (!Array.isArray(value.maps)) fail('maps', 'a list');
      value.maps.forEach((one, index) => head(one, rows, columns, `maps[${index}]`));
      return value as unknown as AnyMap;
    }
    case 'curve':
      return checkedCurve(value);
    case 'image':
      return checkedImage(value);
    case 'arcs':
      return checkedArcs(value);
    case 'speech':
      return checkedSpeech(value);
    case 'diagram':
      return checkedDiagram(value);
    default:
      return fail('kind', 'alignment, heads, curve, image, arcs, speech or diagram; `attn map` draws the others');
  }
}

export function decodedBytes(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
