// A server with the interface of `attn serve` for the page's own tests: answers that real models
// gave (test/data), steered by rules simple enough to foresee. `node test/mock.mjs` to try it.

import { readFileSync, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const data = (name) => JSON.parse(readFileSync(join(here, 'data', name), 'utf8'));
const recorded = data('answers.json');
const registry = data('mechanisms.json');

// Nothing but what is served, and no inline code: the page must live with this.
export const kPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const kTypes = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

const kAbout = {
  translate: ['English becomes Italian', 'BLEU', 'a fast web server'],
  pronounce: ['A word becomes its phones', 'phone error rate', 'attention'],
  summarise: ['A description becomes one line', 'ROUGE', Object.keys(recorded.summarise)[0]],
  answer: ['a question about a picture is answered', 'accuracy', 'what shape is it?'],
  chat: ['a dialogue becomes the next reply', 'right of ten', 'A table for two.\nWhat time?\nAt seven.'],
};

function info() {
  const models = [
    { name: 'shipped', kind: 'transformer', parameters: 4_170_000 },
    { name: 'recurrent', kind: 'bahdanau', parameters: 2_300_000 },
  ];
  const tasks = Object.entries(kAbout).map(([name, [about, metric, example]]) => ({ name, about, metric, models, example, turns: name === 'chat', fields: name === 'answer' ? ['picture', 'question'] : ['text'] }));
  return { version: 'mock', page: true, tasks, limits: { text_bytes: 20_000, body_bytes: 262_144, beam: 16 } };
}

const normalised = (row) => {
  const sum = row.reduce((total, weight) => total + weight, 0);
  return sum > 0 ? row.map((weight) => weight / sum) : row;
};

// Scores divided by T are weights to the power 1 / T; a forbidden position has none; a forced
// step looks at one place, and writes what it sees there.
function steered(answer, { attention_temperature: temperature = 1, forbid = [], force = [] }) {
  const weights = answer.weights.map((row) =>
    normalised(row.map((weight, column) => (forbid.includes(column) ? 0 : weight ** (1 / temperature)))));
  const target = [...answer.target_tokens];
  for (const { step, position } of force) {
    if (step >= target.length) continue;
    weights[step] = weights[step].map((_, column) => (column === position ? 1 : 0));
    target[step] = answer.source_tokens[position];
  }
  const changed = force.length > 0 || forbid.length > 0;
  const dropped = target.filter((token, row) => token !== '</s>' && !forbid.includes(largest(answer.weights[row])));
  const text = changed ? dropped.join('').replaceAll('▁', ' ').trim() : answer.text;
  return { ...answer, text, weights, target_tokens: target };
}

function largest(row) {
  return row.reduce((best, weight, column) => (weight > row[best] ? column : best), 0);
}

function heads(answer) {
  const list = [];
  const read = answer.source_tokens;
  const written = answer.target_tokens;
  const made = (rows, columns, weigh) => rows.map((_, r) => normalised(columns.map((__, c) => weigh(r, c))));
  for (let layer = 1; layer <= 2; ++layer) {
    for (let head = 1; head <= 4; ++head) {
      const near = (r, c) => Math.exp(-((c - r + head - 2) ** 2) / layer);
      list.push({ part: 'encoder', layer, head, rows: read, columns: read, weights: made(read, read, near) });
      list.push({ part: 'decoder', layer, head, rows: written, columns: written, weights: made(written, written, (r, c) => (c > r ? 0 : near(r, c) + 0.02)) });
      list.push({ part: 'cross', layer, head, weights: answer.weights.map((row) => normalised(row.map((weight) => (weight + 1e-4) ** (head / 2)))) });
    }
  }
  return list;
}

// A text that nobody recorded is copied, letter by letter.
function copied(text) {
  const tokens = [...Array.from(text).slice(0, 400), '</s>'];
  const weights = tokens.map((_, r) => normalised(tokens.map((__, c) => Math.exp(-((r - c) ** 2)))));
  return [{ text, score: -0.1, log_probability: -0.1, finished: true, source_tokens: tokens, target_tokens: tokens, weights }];
}

// What it replies counts the turns; each word of it looks at all of them alike.
function reply(text) {
  const turns = text.split('\n');
  if (turns.length % 2 === 0) return [400, { error: 'the dialogue ends with the system\'s turn' }];
  const rows = ['Turn', String(turns.length), '.'];
  const weights = rows.map(() => turns.map(() => 1 / turns.length));
  const map = { attn_map: 1, kind: 'alignment', title: rows.join(' '), caption: 'Turns alike.', rows, columns: turns, row_title: 'reply', column_title: 'dialogue', weights };
  return [200, { text: `Turn ${turns.length}.`, notes: [], table: { columns: ['slot', 'value'], rows: [['seats', 'two']] }, map, milliseconds: 3 }];
}

// A picture is said to be as it is: which channel is the strongest.
function seen({ picture: { width, height, channels, pixels }, question }) {
  const bytes = Buffer.from(pixels, 'base64');
  if (bytes.length !== width * height * channels) return [400, { error: 'picture: pixels do not fit' }];
  const sums = ['red', 'green', 'blue'].map((name, c) => ({ name, sum: bytes.reduce((sum, byte, at) => sum + (at % 3 === c ? byte : 0), 0) }));
  const all = sums.reduce((total, { sum }) => total + sum, 0) || 1;
  const labels = sums.map(({ name, sum }) => ({ name, score: sum / all })).sort((a, b) => b.score - a.score);
  const steps = ['words', 'phrases', 'question'].map((label, at) => ({ label, grid: { rows: 2, columns: 2, weights: normalised([1, at, 1, 1]) } }));
  const map = { attn_map: 1, kind: 'image', title: question, caption: 'Where it looked.', width, height, channels, pixels, steps };
  return [200, { text: labels[0].name, output: { labels }, notes: [], map, milliseconds: 4 }];
}

function answer(question) {
  if (question.task === 'answer' && question.picture) return seen(question);
  if (typeof question.text !== 'string' || !question.text) return [400, { error: 'text: expected a text that is not empty' }];
  if (!(question.task in kAbout)) return [404, { error: `task: there is no ${question.task}` }];
  if (question.task === 'chat') return reply(question.text);
  const known = recorded[question.task]?.[question.text] ?? copied(question.text);
  const answers = known.slice(0, question.best ?? 1).map((one) => steered(one, question));
  if (question.heads) for (const one of answers) one.heads = heads(one);
  return [200, { answers, milliseconds: 21.5 }];
}

// Rows of numbers that hang together as attention's do, from the places alone.
const kLayers = 2;
const kHeads = 4;
const kChannels = 8;
function step({ source_tokens: read, target_tokens: written, part = 'cross', layer = kLayers, head = 1, row = 0, forbid = [], force = [], attention_temperature: temperature = 1 }) {
  if (!Array.isArray(read) || !Array.isArray(written)) return [400, { error: 'the field "source_tokens" is missing' }];
  if (layer > kLayers || head > kHeads) return [400, { error: `layers 1 to ${kLayers} with heads 1 to ${kHeads} are accepted` }];
  const rows = part === 'encoder' ? read : written;
  const columns = part === 'decoder' ? ['<s>', ...written.slice(0, -1)] : read;
  if (row >= rows.length) return [400, { error: `row ${row}; 0 to ${rows.length - 1} are accepted` }];
  const vector = (seed) => Array.from({ length: kChannels }, (_, c) => Number(Math.sin(1.3 * seed + 2.1 * c + layer + 0.7 * head).toFixed(6)));
  const query = vector(row);
  const keys = columns.map((_, j) => vector(j + 0.2));
  const values = columns.map((_, j) => vector(3 * j + 1));
  const scale = 1 / Math.sqrt(kChannels) / temperature;
  const scores = keys.map((key) => scale * key.reduce((sum, k, c) => sum + k * query[c], 0));
  const forced = force.filter((one) => one.step === row).map((one) => one.position);
  const masked = columns.map((_, j) => (part === 'decoder' ? j > row : part === 'cross' && (forced.length > 0 ? !forced.includes(j) : forbid.includes(j))));
  const open = scores.filter((_, j) => !masked[j]);
  const largest = open.length > 0 ? Math.max(...open) : 0;
  const exponentials = scores.map((one, j) => (masked[j] ? 0 : Math.exp(one - largest)));
  const sum = exponentials.reduce((all, one) => all + one, 0);
  const weights = exponentials.map((one) => (sum > 0 ? one / sum : 0));
  const output = vector(0).map((_, c) => weights.reduce((all, weight, j) => all + weight * values[j][c], 0));
  const list = ['encoder', 'decoder', 'cross'].flatMap((name) => Array.from({ length: kLayers * kHeads }, (_, i) => ({ part: name, layer: 1 + Math.floor(i / kHeads), head: 1 + (i % kHeads) })));
  return [200, { part, layer, head, row, rows, columns, query, keys, scale, scores, masked, largest, exponentials, sum, weights, values, output, heads: list }];
}

const kExamples = [
  {
    name: 'kernel_regression', title: 'Kernel regression', kind: 'curve',
    formula: 'f(x) = sum_i softmax(-(x - x_i)^2 / (2 sigma^2)) y_i',
    about: 'Nadaraya and Watson: an average of the known values, weighted by how near they are.',
    sliders: [{ name: 'width', label: 'Width σ', min: 0.05, max: 2, step: 0.05, value: 0.5 }],
  },
  {
    name: 'temperature', title: 'Softmax temperature', kind: 'matrix',
    formula: 'w = softmax(q k^T / T)', about: 'Low temperatures look at one place, high ones at all.',
    sliders: [{ name: 'temperature', label: 'Temperature T', min: 0.1, max: 5, step: 0.1, value: 1 }],
  },
  {
    name: 'window', title: 'Sliding window', kind: 'matrix',
    formula: 'w = softmax(q k^T) where |i - j| <= r', about: 'Each token sees its neighbours only.',
    sliders: [{ name: 'radius', label: 'Radius r', min: 0, max: 8, step: 1, value: 2 }],
  },
];

const kWords = ['the', 'cat', 'sat', 'on', 'the', 'mat', 'and', 'slept'];
const kPoints = Array.from({ length: 20 }, (_, i) => [i / 4, Math.sin(i / 2) + 0.3 * Math.cos(3 * i)]);

function live({ name, values }) {
  const example = kExamples.find((one) => one.name === name);
  if (!example) return [404, { error: `name: there is no ${name}` }];
  for (const one of example.sliders) {
    if (!Number.isFinite(values?.[one.name])) return [400, { error: `values.${one.name}: expected a number` }];
  }
  const map = { attn_map: 1, title: example.title, caption: `At ${JSON.stringify(values)}.` };
  if (example.kind === 'curve') {
    const weigh = (x) => normalised(kPoints.map(([px]) => Math.exp(-((x - px) ** 2) / (2 * values.width ** 2))));
    const x = Array.from({ length: 100 }, (_, i) => (i * 4.75) / 99);
    const y = x.map((at) => weigh(at).reduce((sum, weight, i) => sum + weight * kPoints[i][1], 0));
    return [200, { ...map, kind: 'curve', x_title: 'x', y_title: 'y', points: kPoints, lines: [{ name: 'f', x, y }], queries: [1.5], weights: [weigh(1.5)] }];
  }
  const score = (r, c) => 2 * Math.cos(1.7 * (r - c)) + 0.3 * Math.sin(5 * c);
  const weights = kWords.map((_, r) => normalised(kWords.map((__, c) =>
    name === 'window' && Math.abs(r - c) > values.radius ? 0 : Math.exp(score(r, c) / (values.temperature ?? 1)))));
  return [200, { ...map, kind: 'alignment', rows: kWords, columns: kWords, row_title: 'query', column_title: 'key', weights }];
}

function caption({ pixels, attention = 'soft' }) {
  const bytes = Buffer.from(String(pixels), 'base64');
  if (bytes.length !== 64 * 64) return [400, { error: 'pixels: expected base64 of 4096 bytes' }];
  const side = 8;
  const grid = new Array(side * side).fill(0);
  bytes.forEach((byte, at) => (grid[Math.floor(at / 64 / 8) * side + Math.floor((at % 64) / 8)] += byte));
  const words = ['seven', 'left', 'of', 'three'];
  const steps = words.map((label, index) => {
    const seen = grid.map((value, at) => (index === 1 || index === 2 || (at % side < side / 2) === (index === 0) ? value : 0));
    const soft = normalised(seen);
    const weights = attention === 'hard' ? soft.map((_, at) => (at === largest(soft) ? 1 : 0)) : soft;
    return { label, grid: { rows: side, columns: side, weights } };
  });
  const map = { attn_map: 1, kind: 'image', title: words.join(' '), caption: 'Where each word looked.', width: 64, height: 64, channels: 1, pixels, steps };
  return [200, { text: words.join(' '), words, milliseconds: 5, map }];
}

const kRoutes = {
  'GET /health': () => [200, { status: 'ok' }],
  'GET /api/info': () => [200, info()],
  'GET /api/live': () => [200, { examples: kExamples }],
  'GET /api/mechanisms': () => [200, registry],
  'POST /api/answer': answer,
  'POST /api/step': step,
  'POST /api/live': live,
  'POST /api/caption': caption,
};

function asset(dist, path) {
  const file = normalize(join(dist, path === '/' ? 'index.html' : path));
  return file.startsWith(dist) && existsSync(file) && statSync(file).isFile() ? file : undefined;
}

/** Starts on `port` (0: any); `intercept(route, body)` may answer first with [status, object] or a promise of it. */
export async function startMock({ dist = join(here, '..', 'dist'), port = 0, intercept } = {}) {
  const seen = []; // every question that was asked
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, 'http://mock').pathname;
    const route = `${request.method} ${path}`;
    const headers = { 'content-security-policy': kPolicy, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
    const file = request.method === 'GET' && !path.startsWith('/api/') && asset(dist, path);
    if (file) {
      response.writeHead(200, { ...headers, 'content-type': kTypes[extname(file)] ?? 'application/octet-stream' });
      response.end(readFileSync(file));
      return;
    }
    let text = '';
    for await (const piece of request) text += piece;
    let status = 404;
    let reply = { error: `there is no ${path}` };
    try {
      const body = text ? JSON.parse(text) : {};
      seen.push({ route, body });
      const early = await intercept?.(route, body);
      if (early) [status, reply] = early;
      else if (route in kRoutes) [status, reply] = kRoutes[route](body);
    } catch (error) {
      [status, reply] = [400, { error: String(error.message) }];
    }
    response.writeHead(status, { ...headers, 'content-type': 'application/json' });
    response.end(JSON.stringify(reply));
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  return { url, seen, stop: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections?.(); }) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await startMock({ port: Number(process.argv[2] ?? 8081) });
  console.log(url);
}
