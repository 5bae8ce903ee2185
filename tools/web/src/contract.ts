// What the server says and what a map is: docs/serve.md, docs/maps.md.

export type Matrix = number[][];

export interface Model {
  name: string;
  kind: string;
  parameters: number;
}

export interface Task {
  name: string;
  about: string;
  metric: string;
  models: Model[];
  example: string;
  fields?: string[]; // of a request: "text", or "picture" and "question"
  turns?: boolean; // a text is a dialogue, a turn a line
  pictures?: boolean; // it reads pictures
  input_bytes?: number; // that a sound may have; 0: no sound is read
  missing?: string; // what fetches its models, where they are not there
}

export interface Info {
  version: string;
  tasks: Task[];
  limits?: { text_bytes?: number; body_bytes?: number; beam?: number };
}

export type Part = 'encoder' | 'decoder' | 'cross';

export interface Head {
  part: Part;
  layer: number;
  head: number;
  rows?: string[];
  columns?: string[];
  weights: Matrix;
}

export interface Answer {
  text: string;
  score: number;
  log_probability: number;
  finished: boolean;
  cut?: boolean;
  source_tokens: string[];
  target_tokens: string[];
  weights: Matrix;
  heads?: Head[];
}

export interface Question {
  task: string;
  model?: string;
  text?: string;
  picture?: { width: number; height: number; channels: 1 | 3; pixels: string };
  question?: string; // about the picture
  frames?: { width: number; height: number; channels: 1 | 3; pixels: string }[];
  best?: number;
  attention_temperature?: number;
  forbid?: number[];
  force?: { step: number; position: number }[];
  heads?: boolean;
}

/** A part of a long text, which is answered by itself. */
export interface Piece {
  source: string;
  cut?: boolean;
  answers: Answer[];
}

export interface Reply {
  answers: Answer[]; // none where the answer is no tokens over tokens; then there are:
  text?: string;
  output?: { labels?: { name: string; score: number }[]; columns?: string[]; rows?: (string | number)[][] };
  table?: { columns: string[]; rows: (string | number)[][] };
  numbers?: Record<string, number[]>;
  map?: AnyMap;
  pieces?: Piece[];
  unfamiliar?: boolean;
  cut?: boolean;
  notes?: string[];
  milliseconds?: number;
}

export interface HeadName {
  part: Part;
  layer: number;
  head: number;
}

export interface StepQuestion extends Partial<HeadName> {
  task: string;
  model?: string;
  source_tokens: string[];
  target_tokens: string[];
  row: number;
  attention_temperature?: number;
  forbid?: number[];
  force?: { step: number; position: number }[];
}

/** One row of one head: docs/serve.md. */
export interface StepReply extends HeadName {
  row: number;
  rows: string[];
  columns: string[];
  query?: number[];
  keys?: Matrix;
  scale?: number;
  scores: number[];
  masked: boolean[];
  largest: number;
  exponentials: number[];
  sum: number;
  factors?: number[];
  weights: number[];
  values: Matrix;
  output: number[];
  heads: HeadName[];
}

export interface Slider {
  name: string;
  label: string;
  min: number;
  max: number;
  step: number;
  value: number;
}

export interface Example {
  name: string;
  title: string;
  formula: string;
  about: string;
  kind: 'matrix' | 'curve';
  sliders: Slider[];
}

export interface Mechanism {
  name: string;
  title: string;
  family: string;
  formula: string;
  made_of: string;
  paper: string;
  header: string;
  options: string;
  snippet: string;
  used_by?: string;
  picture?: Picture | null;
}

/** What a mechanism gives on its own example. */
export interface Picture {
  of: string;
  kind: 'weights' | 'output';
  shape: number[];
  numbers: Matrix;
}

interface MapBase {
  attn_map: 1;
  title: string;
  caption: string;
}

export interface AlignmentMap extends MapBase {
  kind: 'alignment';
  rows: string[];
  columns: string[];
  row_title: string;
  column_title: string;
  weights: Matrix;
}

export interface HeadsMap extends MapBase {
  kind: 'heads';
  rows: string[];
  columns: string[];
  maps: Head[];
}

export interface CurveMap extends MapBase {
  kind: 'curve';
  x_title: string;
  y_title: string;
  points: [number, number][];
  lines: { name: string; x: number[]; y: number[] }[];
  queries?: number[];
  weights?: Matrix;
}

export interface ImageStep {
  label: string;
  grid?: { rows: number; columns: number; weights: number[] };
  boxes?: { x: number; y: number; width: number; height: number; weight?: number; label?: string }[];
  path?: [number, number][]; // places in the order of looking
}

export interface ImageMap extends MapBase {
  kind: 'image';
  width: number;
  height: number;
  channels: 1 | 3;
  pixels: string;
  steps: ImageStep[];
}

export interface Arc {
  head: number; // from 1; 0 is the root
  dependent: number;
  label?: string;
  weight?: number;
}

export interface ArcsMap extends MapBase {
  kind: 'arcs';
  words: string[];
  tags?: string[];
  arcs: Arc[];
}

/** A sound as the words that were heard in it; times are seconds, one a word. */
export interface SpeechMap extends MapBase {
  kind: 'speech';
  begin: number;
  seconds: number;
  hertz: number; // of the top of the spectrogram
  bands: number;
  columns: number;
  words: string[];
  begins: number[];
  ends: number[];
  spectrogram: Matrix; // [bands, columns], the highest first
  weights: Matrix; // [words, columns]
}

export interface SpokenWord {
  word: string;
  begin: number;
  end: number;
}

/** What POST /api/transcribe answers. */
export interface Transcript {
  text: string;
  seconds: number;
  words: SpokenWord[];
  notes: string[];
  milliseconds?: number;
  map: SpeechMap;
}

export type DiagramRole = 'plain' | 'query' | 'key' | 'value' | 'score' | 'output';

export interface DiagramMap extends MapBase {
  kind: 'diagram';
  parts: { x: number; y: number; width: number; height: number; label?: string; detail?: string; role?: DiagramRole }[];
  arrows: { through: [number, number][]; label?: string; role?: DiagramRole; weight?: number }[];
  notes: { x: number; y: number; text: string; anchor?: 'left' | 'centre' | 'right'; role?: DiagramRole; strong?: boolean }[];
  grids: { x: number; y: number; cell_width: number; cell_height: number; rows: string[]; columns: string[]; weights: Matrix; numbers?: boolean }[];
}

export type AnyMap = AlignmentMap | HeadsMap | CurveMap | ImageMap | ArcsMap | SpeechMap | DiagramMap;

export interface Caption {
  text: string;
  map: ImageMap;
}

// The data block of a page that was written by `attn explain`.
export interface Offline {
  task: string;
  model: string;
  text: string;
  answers: Answer[];
  pieces?: Piece[];
  unfamiliar?: boolean;
  cut?: boolean;
  notes?: string[];
  live?: { example: Example; map: AnyMap }[];
  figure?: AnyMap; // of an answer that is no tokens over tokens
  words?: SpokenWord[]; // of a sound
}
