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
}

export interface Info {
  version: string;
  tasks: Task[];
  limits?: { text_bytes?: number; beam?: number };
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
  source_tokens: string[];
  target_tokens: string[];
  weights: Matrix;
  heads?: Head[];
}

export interface Question {
  task: string;
  model?: string;
  text: string;
  beam?: number;
  best?: number;
  temperature?: number;
  forbid?: number[];
  force?: { step: number; position: number }[];
  heads?: boolean;
}

export interface Reply {
  answers: Answer[];
  milliseconds?: number;
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
}

export interface ImageMap extends MapBase {
  kind: 'image';
  width: number;
  height: number;
  channels: 1 | 3;
  pixels: string;
  steps: ImageStep[];
}

export type AnyMap = AlignmentMap | HeadsMap | CurveMap | ImageMap;

export interface Caption {
  text: string;
  words: string[];
  milliseconds?: number;
  map: ImageMap;
}

// The data block of a page that was written by `attn explain`.
export interface Offline {
  task: string;
  model: string;
  text: string;
  answers: Answer[];
  live?: { example: Example; map: AnyMap }[];
}
