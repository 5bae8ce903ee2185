// Every state has a link. What the reader chose stands behind the # of the address, which no
// server is sent: #try?task=…&text=…, #live-alibi?slope=…, #mechanism-alibi, #open.

import type { Part } from './contract';
import { say } from './dom';

/** What Try shows; left out is what nobody chose. */
export interface TryState {
  task?: string;
  model?: string;
  text?: string;
  best?: number; // which answer, from 1
  piece?: number; // which piece of a long text, from 1
  attention_temperature?: number;
  forbid?: number[];
  force?: { step: number; position: number }[];
  part?: Part;
  layer?: number;
  head?: number;
  row?: number; // from 1
  step?: Step;
}

export const kSteps = ['scores', 'mask', 'softmax', 'sum'] as const;
export type Step = (typeof kSteps)[number];

export interface Place {
  section: string; // the part before ?
  values: URLSearchParams;
}

const kLargest = 1e6;

/** What an address says; damaged escapes are read as they stand. */
export function placeOf(hash: string): Place {
  const text = hash.replace(/^#/, '');
  const cut = text.indexOf('?');
  const section = cut < 0 ? text : text.slice(0, cut);
  let name = section;
  try {
    name = decodeURIComponent(section);
  } catch {
    // Not ours, then; it leads nowhere.
  }
  return { section: name, values: new URLSearchParams(cut < 0 ? '' : text.slice(cut + 1)) };
}

export interface Read {
  state: TryState;
  wrong: string[]; // what could not be used, in words
}

/** Try's state; what is malformed is left out and told. */
export function readState(values: URLSearchParams): Read {
  const state: TryState = {};
  const wrong: string[] = [];
  const whole = (name: 'best' | 'piece' | 'layer' | 'head' | 'row') => {
    const text = values.get(name);
    if (text === null) return;
    const number = Number(text);
    if (/^[0-9]+$/.test(text) && number >= 1 && number <= kLargest) state[name] = number;
    else wrong.push(`${name}=${text}`);
  };
  for (const name of ['task', 'model', 'text'] as const) {
    const text = values.get(name);
    if (text !== null && text !== '') state[name] = text;
  }
  whole('best');
  whole('piece');
  whole('layer');
  whole('head');
  whole('row');
  // Links that were shared before say `temperature`.
  for (const name of ['temperature', 'attention_temperature']) {
    const text = values.get(name);
    if (text === null) continue;
    const number = Number(text);
    if (number >= 0.1 && number <= 10) state.attention_temperature = number;
    else wrong.push(`${name}=${text}`);
  }
  const part = values.get('part');
  if (part === 'encoder' || part === 'decoder' || part === 'cross') state.part = part;
  else if (part !== null) wrong.push(`part=${part}`);
  const step = values.get('step');
  if (kSteps.some((one) => one === step)) state.step = step as Step;
  else if (step !== null) wrong.push(`step=${step}`);
  const forbid = values.get('forbid');
  if (forbid !== null) {
    if (/^[0-9]{1,6}(,[0-9]{1,6})*$/.test(forbid)) state.forbid = [...new Set(forbid.split(',').map(Number))];
    else wrong.push(`forbid=${forbid}`);
  }
  const force = values.get('force');
  if (force !== null) {
    if (/^[0-9]{1,6}:[0-9]{1,6}(,[0-9]{1,6}:[0-9]{1,6})*$/.test(force)) {
      state.force = force.split(',').map((pair) => {
        const [at, position] = pair.split(':').map(Number);
        return { step: at, position };
      });
    } else {
      wrong.push(`force=${force}`);
    }
  }
  for (const name of values.keys()) {
    if (!['task', 'model', 'text', 'best', 'piece', 'layer', 'head', 'row', 'temperature', 'attention_temperature', 'part', 'step', 'forbid', 'force'].includes(name)) wrong.push(name);
  }
  return { state, wrong };
}

/** The part of an address behind #, for a state of Try. */
export function hashOf(state: TryState): string {
  const values = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value === undefined) continue;
    if (name === 'forbid') {
      if ((value as number[]).length > 0) values.set(name, (value as number[]).join(','));
    } else if (name === 'force') {
      const all = value as { step: number; position: number }[];
      if (all.length > 0) values.set(name, all.map((one) => `${one.step}:${one.position}`).join(','));
    } else {
      values.set(name, String(value));
    }
  }
  const text = values.toString();
  return text ? `#try?${text}` : '#try';
}

/** Puts a hash into the address: as a step that Back undoes, or in place of the last one. */
export function go(hash: string, how: 'push' | 'replace'): void {
  if (location.hash === hash) return;
  // A page from a file keeps its address where the browser does not allow another.
  try {
    if (how === 'push') history.pushState(null, '', hash);
    else history.replaceState(null, '', hash);
  } catch {
    return;
  }
}

/** Puts the address with this hash into the address bar and the clipboard; what happened, in words. */
export async function copied(hash: string): Promise<string> {
  go(hash, 'replace');
  try {
    await navigator.clipboard.writeText(new URL(hash, location.href).href);
    say('The link is copied');
    return 'The link is copied.';
  } catch {
    return 'The link is in the address bar; the browser does not let this page copy it.';
  }
}

const kSettled = 3_000; // milliseconds in which a page may still grow

/** Scrolls to an element and stays there while the page above it is still being drawn. */
export function settle(element: Element): void {
  const to = () => element.scrollIntoView({ behavior: 'instant', block: 'start' });
  const grows = new ResizeObserver(to);
  const stop = () => {
    grows.disconnect();
    for (const kind of kMoves) window.removeEventListener(kind, stop);
  };
  to();
  grows.observe(document.body);
  for (const kind of kMoves) window.addEventListener(kind, stop, { passive: true });
  setTimeout(stop, kSettled);
}

const kMoves = ['wheel', 'touchstart', 'keydown', 'pointerdown'];
