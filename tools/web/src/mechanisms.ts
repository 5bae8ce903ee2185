// Mechanisms: live examples, and everything the library has, by family, each with its picture.

import { checkedPicture } from './check';
import { rampBytes } from './colour';
import type { Mechanism, Picture } from './contract';
import { el, newId } from './dom';
import { largestSize, paintStrip } from './figures/strip';
import { formula } from './formula';
import { copied, go, settle } from './link';
import { LiveCard } from './live';
import * as server from './server';
import { onTheme, palette } from './theme';

/** Weights in the colours of weights, other numbers in those of vectors. */
function paintPicture(canvas: HTMLCanvasElement, { kind, numbers }: Picture): void {
  if (kind === 'output') {
    paintStrip(canvas, numbers, largestSize(numbers));
    return;
  }
  const wide = numbers[0].length;
  canvas.width = wide;
  canvas.height = numbers.length;
  const context = canvas.getContext('2d');
  if (!context) return;
  const ramp = rampBytes(palette());
  const pixels = context.createImageData(wide, numbers.length);
  numbers.forEach((row, r) => row.forEach((weight, c) => {
    const from = 3 * Math.round(255 * Math.min(1, Math.max(0, weight)));
    pixels.data.set([ramp[from], ramp[from + 1], ramp[from + 2], 255], 4 * (r * wide + c));
  }));
  context.putImageData(pixels, 0, 0);
}

function pictureOf(one: Mechanism): { canvas: HTMLCanvasElement; about: string } | undefined {
  const picture = checkedPicture(one.picture);
  if (!picture) return undefined;
  const { kind, of, shape, numbers } = picture;
  const rows = numbers.length;
  const columns = numbers[0].length;
  const whole = `${of} [${shape.join(', ')}]`;
  const about = kind === 'weights'
    ? `Its weights on its own example, ${rows} × ${columns} of ${whole}: the stronger a cell, the larger the weight.`
    : `It gives no weights; drawn is its output on its own example, ${rows} × ${columns} of ${whole}: blue above 0, orange below.`;
  const canvas = el('canvas', { class: 'picture', role: 'img', 'aria-label': about, title: about });
  paintPicture(canvas, picture);
  onTheme(() => paintPicture(canvas, picture));
  // Cells are square, and neither side of the picture is longer than 8 rem.
  const side = Math.min(8 / rows, 8 / columns, 1.4);
  canvas.style.width = `${(side * columns).toFixed(3)}rem`;
  canvas.style.height = `${(side * rows).toFixed(3)}rem`;
  return { canvas, about };
}

function entry(one: Mechanism): HTMLDetailsElement {
  const fact = (name: string, value: string | undefined) =>
    value ? [el('dt', {}, name), el('dd', {}, value)] : [];
  const picture = pictureOf(one);
  const hash = `#mechanism-${one.name}`;
  const told = el('span', { class: 'note', role: 'status' });
  const made = el('details', { class: 'mechanism', id: hash.slice(1), 'data-name': one.name },
    el('summary', {}, el('span', { class: 'thumb-box' }, picture?.canvas), el('span', { class: 'name' }, one.title), el('code', {}, one.name)));
  // What nobody opens need not be made: sixty formulas are some thousand elements.
  made.addEventListener('toggle', () => {
    if (!made.open) return;
    if (made.childElementCount > 1) return;
    made.append(
      formula(one.formula),
      ...(picture ? [el('p', { class: 'note' }, picture.about)] : [el('p', { class: 'note' }, 'It has no example to draw.')]),
      el('dl', {}, ...fact('Made of', one.made_of), ...fact('Paper', one.paper), ...fact('Options', one.options), ...fact('Used by', one.used_by), ...fact('Header', one.header)),
      ...(one.snippet ? [el('pre', { tabindex: 0, 'aria-label': `Code of ${one.title}` }, el('code', {}, one.snippet))] : []),
      el('p', { class: 'row' }, el('button', { type: 'button', class: 'small', onclick: () => void copied(hash).then((text) => (told.textContent = text)) }, 'Copy link'), told));
  });
  made.querySelector('summary')?.addEventListener('click', () => {
    if (!made.open) go(hash, 'push');
  });
  return made;
}

class List {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly rows;
  private readonly count = el('p', { class: 'note', role: 'status' });
  private readonly contents = el('nav', { class: 'contents', 'aria-label': 'Mechanisms by family' });
  private readonly list = el('div', { class: 'mechanism-list' });

  constructor(all: Mechanism[]) {
    const id = newId('search');
    this.rows = all.map((one) => ({
      haystack: [one.name, one.title, one.family, one.formula, one.made_of, one.paper].join(' ').toLowerCase(),
      name: one.name,
      family: one.family,
      element: entry(one),
    })).sort((a, b) => a.family.localeCompare(b.family));
    this.input = el('input', { type: 'search', id, autocomplete: 'off', placeholder: 'ALiBi, window, Bahdanau…' });
    this.input.addEventListener('input', () => this.filter());
    this.element = el('div', { class: 'search' }, el('div', { class: 'field' }, el('label', { for: id }, 'Search'), this.input), this.count, this.contents, this.list);
    this.filter();
  }

  open(name: string): boolean {
    const row = this.rows.find((one) => one.name === name);
    if (!row) return false;
    this.input.value = '';
    this.filter();
    row.element.open = true;
    settle(row.element);
    return true;
  }

  private filter(): void {
    const wanted = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.rows.filter((row) => wanted.every((word) => row.haystack.includes(word)));
    const families = [...new Set(found.map((row) => row.family))];
    this.list.replaceChildren(...families.flatMap((family) => [
      el('h4', { id: `family-${family}` }, family),
      ...found.filter((row) => row.family === family).map((row) => row.element)]));
    this.contents.replaceChildren(...families.map((family) => {
      const members = found.filter((row) => row.family === family);
      return el('div', {}, el('a', { class: 'family', href: `#family-${family}` }, family),
        ...members.map((row) => el('a', { href: `#mechanism-${row.name}`, onclick: (event: Event) => {
          event.preventDefault();
          go(`#mechanism-${row.name}`, 'push');
          row.element.open = true;
          settle(row.element);
          row.element.querySelector('summary')?.focus({ preventScroll: true });
        } }, row.name.replaceAll('_', ' '))));
    }));
    this.count.textContent = found.length === 0 ? 'Nothing is called that.' : `${found.length} of ${this.rows.length} mechanisms`;
  }
}

export class Mechanisms {
  readonly element: HTMLElement;
  private list: List | undefined;
  private cards: LiveCard[] = [];
  private wanted: { section: string; values: URLSearchParams } | undefined;

  constructor() {
    const cards = el('div', { class: 'cards' });
    const list = el('div', {}, el('p', { class: 'status loading', role: 'status' }, 'Loading…'));
    const failed = (error: Error) => el('p', { class: 'status error', role: 'status' }, `That did not work: ${error.message}.`);
    server.liveExamples().then(
      (examples) => {
        this.cards = examples.map((example) => new LiveCard(example));
        cards.replaceChildren(...this.cards.map((card) => card.element));
        this.follow();
      },
      (error: Error) => cards.replaceChildren(failed(error)),
    );
    server.mechanisms().then(
      (all) => {
        this.list = new List(all);
        list.replaceChildren(this.list.element);
        this.follow();
      },
      (error: Error) => list.replaceChildren(failed(error)),
    );
    this.element = el('section', { id: 'mechanisms', 'aria-labelledby': 'mechanisms-title' },
      el('h2', { id: 'mechanisms-title' }, 'Mechanisms'),
      el('p', { class: 'note' }, 'Each formula on a small example, computed by the library while you move its sliders. ',
        el('a', { href: '#all-mechanisms' }, 'All mechanisms'), ' follow below.'),
      el('p', { class: 'note invented' }, kInvented),
      cards,
      el('h3', { id: 'all-mechanisms' }, 'All mechanisms'),
      list);
  }

  /** Where a link leads: live-NAME with the values of its sliders, or mechanism-NAME. */
  show(section: string, values: URLSearchParams): void {
    this.wanted = { section, values };
    this.follow();
  }

  private follow(): void {
    if (!this.wanted) return;
    const { section, values } = this.wanted;
    if (section.startsWith('mechanism-') && this.list) {
      this.list.open(section.slice('mechanism-'.length));
      this.wanted = undefined;
    } else if (section.startsWith('live-') && this.cards.length > 0) {
      this.cards.find((one) => one.name === section.slice('live-'.length))?.apply(values);
      this.wanted = undefined;
    }
  }
}

export const kInvented = 'The words’ vectors in these examples are invented: four numbers a word, set by hand so that the pictures can be read. Vectors that a model learnt are in the steps above, for your own text.';
