// One row of one head, step by step, with its numbers: scores, mask, softmax, sum. The server
// computes all of it; the page only tells and draws.

import type { HeadName, Part, StepReply } from './contract';
import { choice, el, fillChoice, newId, segments } from './dom';
import { formula } from './formula';
import { largestSize, strip } from './figures/strip';
import { kSteps, type Step } from './link';
import { onTheme } from './theme';
import { labels, quoted, tokenTitle } from './words';

const kNames: Record<Step, string> = { scores: '1 Scores', mask: '2 Mask', softmax: '3 Softmax', sum: '4 Sum' };
const kChannels = 3; // shown as numbers, the rest as a strip
const kMostRows = 40; // of the table, before it is folded

export interface StepChoice {
  part: Part;
  layer: number;
  head: number;
  row: number; // from 0
}

/** A number with `digits` behind the point and a true minus. */
function number(value: number, digits = 2): string {
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace('-', '') : text).replace('-', '−');
}

/** A product's factor: negative ones stand in brackets. */
function factor(value: number): string {
  return value < 0 ? `(${number(value)})` : number(value);
}

/** The first few of many, such as 1 + 2 + 3 + … */
function some(terms: string[], all: number): string {
  return terms.join(' + ') + (all > terms.length ? ' + …' : '');
}

function bar(share: number): SVGSVGElement {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('class', 'bar');
  svg.setAttribute('viewBox', '0 0 100 10');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  const rect = document.createElementNS(space, 'rect');
  rect.setAttribute('width', String(Math.max(0, Math.min(100, 100 * share))));
  rect.setAttribute('height', '10');
  svg.append(rect);
  return svg;
}

export class StepView {
  readonly element: HTMLElement;
  private readonly pickers = el('div', { class: 'row pickers' });
  private readonly parts: { field: HTMLElement; select: HTMLSelectElement };
  private readonly layers: { field: HTMLElement; select: HTMLSelectElement };
  private readonly heads: { field: HTMLElement; select: HTMLSelectElement };
  private readonly rows: { field: HTMLElement; select: HTMLSelectElement };
  private readonly which = el('p', { class: 'note which' }, 'One head alone. The drawings of the answer show the mean of the last layer’s heads, or the weights that words are copied by.');
  private readonly stages = el('div', { class: 'stages' });
  private readonly body = el('div', { class: 'step-body', 'aria-live': 'polite' });
  private readonly status = el('p', { class: 'status', role: 'status' });
  private reply: StepReply | undefined;
  private focus: number | undefined; // the key whose numbers are told
  step: Step = 'scores';

  /** `chose` is called with a head or a row that the reader picked, `stepped` with a step. */
  constructor(private readonly chose: (wanted: StepChoice) => void, private readonly stepped: (step: Step) => void) {
    const pick = () => {
      if (!this.reply) return;
      this.chose({ part: this.parts.select.value as Part, layer: Number(this.layers.select.value), head: Number(this.heads.select.value), row: Number(this.rows.select.value) });
    };
    this.parts = choice('Part', [], (part) => {
      // Another part has other rows and layers: begin with the same numbers where they exist.
      const reply = this.reply;
      if (!reply) return;
      const layers = reply.heads.filter((one) => one.part === part).map((one) => one.layer);
      this.chose({ part: part as Part, layer: Math.min(reply.layer, Math.max(...layers)), head: reply.head, row: part === 'encoder' || reply.part === 'encoder' ? 0 : reply.row });
    });
    this.layers = choice('Layer', [], pick);
    this.heads = choice('Head', [], pick);
    this.rows = choice('Row: the word that looks', [], pick);
    const turn = (by: number) => {
      const select = this.rows.select;
      const wanted = select.selectedIndex + by;
      if (wanted < 0 || wanted >= select.options.length) return;
      select.selectedIndex = wanted;
      pick();
    };
    this.pickers.append(this.rows.field,
      el('div', { class: 'turn' },
        el('button', { type: 'button', 'aria-label': 'The row before', onclick: () => turn(-1) }, '←'),
        el('button', { type: 'button', 'aria-label': 'The next row', onclick: () => turn(1) }, '→')),
      this.parts.field, this.layers.field, this.heads.field);
    const id = newId('steps');
    this.element = el('section', { class: 'steps', 'aria-labelledby': id },
      el('h3', { id }, 'One row, step by step'), this.pickers, this.which, this.stages, this.status, this.body);
    onTheme(() => this.draw());
    this.element.hidden = true;
  }

  tell(kind: '' | 'error', text: string): void {
    this.element.hidden = false;
    this.status.className = `status ${kind}`;
    this.status.textContent = text;
  }

  /** A model whose attention has no rows to step through says so. */
  none(why: string): void {
    this.reply = undefined;
    this.pickers.hidden = true;
    this.which.hidden = true;
    this.stages.replaceChildren();
    this.body.replaceChildren();
    this.tell('', why);
  }

  busy(on: boolean): void {
    if (on) this.body.setAttribute('aria-busy', 'true');
    else this.body.removeAttribute('aria-busy');
  }

  show(reply: StepReply, step: Step): void {
    this.reply = reply;
    this.step = step;
    this.focus = undefined;
    this.pickers.hidden = false;
    this.tell('', '');
    this.fillPickers(reply);
    this.draw();
  }

  private fillPickers(reply: StepReply): void {
    const distinct = <T>(all: T[]) => [...new Set(all)];
    const here = (one: HeadName) => one.part === reply.part;
    const fill = (select: HTMLSelectElement, values: string[], chosen: string) => {
      fillChoice(select, values.map((value) => ({ value, text: value })));
      select.value = chosen;
    };
    fill(this.parts.select, distinct(reply.heads.map((one) => one.part)), reply.part);
    fill(this.layers.select, distinct(reply.heads.filter(here).map((one) => String(one.layer))), String(reply.layer));
    fill(this.heads.select, distinct(reply.heads.filter(here).map((one) => String(one.head))), String(reply.head));
    this.which.hidden = reply.heads.length < 2;
    for (const one of [this.parts, this.layers, this.heads]) one.field.hidden = one.select.options.length < 2;
    fillChoice(this.rows.select, labels(reply.rows).map((text, row) => ({ value: String(row), text: `${row + 1} · ${text}` })));
    this.rows.select.value = String(reply.row);
  }

  private draw(): void {
    const reply = this.reply;
    if (!reply) return;
    const focused = this.stages.contains(document.activeElement);
    this.stages.replaceChildren(
      segments('Step', kSteps.map((value) => ({ value, text: kNames[value] })), this.step, (step) => this.turnTo(step)),
      el('button', { type: 'button', class: 'next', onclick: () => this.turnTo(kSteps[(kSteps.indexOf(this.step) + 1) % kSteps.length]) },
        this.step === 'sum' ? 'Again from the scores' : 'Next step'));
    if (focused) this.stages.querySelector<HTMLElement>('input:checked')?.focus();
    const draws: Record<Step, (reply: StepReply) => HTMLElement[]> = {
      scores: (one) => this.scores(one),
      mask: (one) => this.mask(one),
      softmax: (one) => this.softmax(one),
      sum: (one) => this.sum(one),
    };
    this.body.dataset.step = this.step;
    this.body.replaceChildren(...draws[this.step](reply));
  }

  private turnTo(step: Step): void {
    const next = document.activeElement?.matches('.next');
    this.step = step;
    this.draw();
    if (next) this.stages.querySelector<HTMLElement>('.next')?.focus();
    this.stepped(step);
  }

  private get at(): number {
    const reply = this.reply as StepReply;
    if (this.focus !== undefined) return this.focus;
    return reply.weights.reduce((best, weight, index) => (weight > reply.weights[best] ? index : best), 0);
  }

  private name(reply: StepReply): string {
    return quoted(labels(reply.rows)[reply.row]);
  }

  /** A table whose rows are the keys; pointing at one tells its numbers below. */
  private table(reply: StepReply, heads: string[], cells: (key: number) => (Node | string)[], foot?: (Node | string)[]): HTMLElement {
    const names = labels(reply.columns);
    const row = (key: number) => {
      const made = el('tr', { 'data-key': key, class: reply.masked[key] ? 'masked' : undefined },
        el('th', { scope: 'row', title: tokenTitle(reply.columns[key]) }, names[key]),
        ...cells(key).map((cell) => el('td', typeof cell === 'string' ? { class: 'number' } : {}, cell)));
      made.addEventListener('pointerenter', () => this.point(key));
      return made;
    };
    const body = el('tbody', {}, ...names.slice(0, kMostRows).map((_, key) => row(key)));
    const made = el('table', { class: 'numbers' },
      el('thead', {}, el('tr', {}, ...heads.map((text) => el('th', { scope: 'col' }, text)))), body,
      foot ? el('tfoot', {}, el('tr', {}, ...foot.map((cell, index) => el(index === 0 ? 'th' : 'td', { ...(index === 0 ? { scope: 'row' } : {}), ...(typeof cell === 'string' && index > 0 ? { class: 'number' } : {}) }, cell)))) : undefined);
    if (names.length <= kMostRows) return made;
    const more = el('button', { type: 'button', class: 'small', onclick: () => {
      body.append(...names.slice(kMostRows).map((_, index) => row(kMostRows + index)));
      more.remove();
    } }, `All ${names.length} rows`);
    return el('div', {}, made, more);
  }

  private readonly told = el('p', { class: 'told' });

  private point(key: number): void {
    if (this.focus === key || !this.reply) return;
    this.focus = key;
    this.tellKey();
  }

  private tellKey(): void {
    const reply = this.reply as StepReply;
    const key = this.at;
    this.body.querySelectorAll('tr[data-key]').forEach((row) => row.classList.toggle('at', Number((row as HTMLElement).dataset.key) === key));
    this.told.textContent = this.sentence(reply, key);
  }

  /** The numbers of one key, in the step that is shown. */
  private sentence(reply: StepReply, key: number): string {
    const name = quoted(labels(reply.columns)[key]);
    if (this.step === 'scores') {
      if (!reply.query || !reply.keys) return `The score of ${name} is ${number(reply.scores[key])}.`;
      const { query, keys } = reply;
      const terms = query.slice(0, kChannels).map((q, c) => `${factor(q)} · ${factor(keys[key][c])}`);
      const scale = reply.scale === undefined || reply.scale === 1 ? '' : `, times ${number(reply.scale, 3)}`;
      return `${name}: ${some(terms, query.length)}${scale} = ${number(reply.scores[key])}`;
    }
    if (this.step === 'mask') {
      return reply.masked[key] ? `${name} is masked: its score does not count.` : `${name} stays, with its score ${number(reply.scores[key])}.`;
    }
    if (reply.masked[key]) return `${name} is masked: its weight is 0.`;
    if (this.step === 'softmax') {
      const times = reply.factors ? ` · ${number(reply.factors[key])}` : '';
      return `${name}: exp(${number(reply.scores[key])} − ${factor(reply.largest)}) = ${number(reply.exponentials[key], 3)}, and ${number(reply.exponentials[key], 3)} / ${number(reply.sum, 3)}${times} = ${number(reply.weights[key], 3)}`;
    }
    const order = reply.weights.map((_, index) => index).sort((a, b) => reply.weights[b] - reply.weights[a]).slice(0, kChannels);
    const terms = order.map((index) => `${number(reply.weights[index])} · ${factor(reply.values[index][0] ?? 0)}`);
    return `Channel 1, the largest weights first: ${some(terms, reply.weights.length)} = ${number(reply.output[0] ?? 0)}`;
  }

  private parted(...children: HTMLElement[]): HTMLElement[] {
    queueMicrotask(() => this.tellKey());
    return [...children, this.told];
  }

  private about(text: string, typed?: string): HTMLElement {
    return el('div', { class: 'about' }, el('p', {}, text), ...(typed ? [formula(typed)] : []));
  }

  private scores(reply: StepReply): HTMLElement[] {
    const most = largestSize([reply.scores]) || 1;
    const shown = (key: number) => [bar(Math.abs(reply.scores[key]) / most), number(reply.scores[key])];
    if (!reply.query || !reply.keys) {
      return this.parted(
        this.about(`A small network compares ${this.name(reply)} with each key; its score says how well they fit.`),
        this.table(reply, ['key of', 'size', 'score'], shown));
    }
    const { query, keys } = reply;
    const size = largestSize([query]);
    const keySize = largestSize(keys);
    const plain = reply.scale === 1;
    return this.parted(
      this.about(`${this.name(reply)} has a query of ${query.length} numbers, and every word it may look at a key of as many. They are multiplied number by number and added up${plain ? '' : `; the sum times ${number(reply.scale ?? 1, 3)}`} is the score.`,
        plain ? 's_j = q . k_j' : 's_j = q . k_j / sqrt(d)'),
      el('div', { class: 'vector' }, el('span', {}, 'q'), strip(query, size, `The query of ${this.name(reply)}: ${query.length} numbers from ${number(Math.min(...query))} to ${number(Math.max(...query))}`),
        el('span', { class: 'number' }, query.slice(0, kChannels).map((value) => number(value)).join('  ') + '  …')),
      this.table(reply, ['', 'key k', 'score'], (key) => [strip(keys[key], keySize, `The key of ${quoted(labels(reply.columns)[key])}`), number(reply.scores[key])]));
  }

  private mask(reply: StepReply): HTMLElement[] {
    const count = reply.masked.filter(Boolean).length;
    const why = reply.part === 'decoder'
      ? 'A word that is being written cannot look at what comes after it.'
      : 'Only what you forbade, or left out by forcing a step, or what a window does not reach, is masked here.';
    return this.parted(
      this.about(count === 0
        ? `Nothing is masked: ${this.name(reply)} may look at all ${reply.columns.length}. ${why}`
        : `${count} of ${reply.columns.length} ${count === 1 ? 'is' : 'are'} masked: ${count === 1 ? 'its score counts' : 'their scores count'} as minus infinity. ${why}`),
      this.table(reply, ['', 'score', 'after the mask'], (key) => [number(reply.scores[key]), reply.masked[key] ? '−∞' : number(reply.scores[key])]));
  }

  private softmax(reply: StepReply): HTMLElement[] {
    const share = reply.factors
      ? 'each divided by that sum is its share. The share times how near a place is to the middle of the window is its weight.'
      : 'each divided by that sum is a weight. Weights are never negative and sum to 1.';
    return this.parted(
      this.about(`The largest score is ${number(reply.largest)}. It is taken from every score, which changes nothing and keeps numbers small; the exponentials sum to ${number(reply.sum, 3)}, and ${share}`,
        `w_j = ${reply.factors ? 'f_j ' : ''}exp(s_j - max s) / sum_i exp(s_i - max s)`),
      this.table(reply, ['', 'exp', 'weight', ''], (key) => [number(reply.exponentials[key], 3), bar(reply.weights[key]), number(reply.weights[key], 3)],
        ['sum', number(reply.sum, 3), '', number(reply.weights.reduce((sum, weight) => sum + weight, 0), 3)]));
  }

  private sum(reply: StepReply): HTMLElement[] {
    const most = largestSize([...reply.values, reply.output]);
    const first = (row: number[]) => row.slice(0, kChannels).map((value) => number(value)).join('  ');
    return this.parted(
      this.about(`Every word has a value too, ${reply.output.length} numbers. Each value times its weight, all added up, is what ${this.name(reply)} takes from this head.`, 'out = sum_j w_j v_j'),
      this.table(reply, ['', 'weight', 'value v', `first ${kChannels}`], (key) => [number(reply.weights[key], 3), strip(reply.values[key], most, `The value of ${quoted(labels(reply.columns)[key])}`), first(reply.values[key])],
        ['out', '', strip(reply.output, most, 'The output'), first(reply.output)]));
  }
}
