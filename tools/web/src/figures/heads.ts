// The grid of heads: one small matrix each, and the one that is open.

import { rampBytes, colourOf, type Palette } from '../colour';
import type { Head, HeadsMap, Part } from '../contract';
import { el, segments } from '../dom';
import { Looking } from '../looking';
import { headMap, partName } from '../maps';
import { palette } from '../theme';
import { newSvg, round, words, type Look, type Svg } from './draw';
import { MatrixView } from './matrix_view';

const kThumb = 108; // pixels a side

function paintThumb(canvas: HTMLCanvasElement, head: Head, colours: Palette): void {
  const rows = head.weights.length;
  const columns = head.weights[0]?.length ?? 0;
  if (rows === 0 || columns === 0) return;
  // At most one weight a pixel; the largest of those that fall on it is drawn.
  const high = Math.min(rows, kThumb);
  const wide = Math.min(columns, kThumb);
  const most = new Float32Array(high * wide);
  head.weights.forEach((row, r) =>
    row.forEach((weight, c) => {
      const at = Math.floor((r * high) / rows) * wide + Math.floor((c * wide) / columns);
      if (weight > most[at]) most[at] = weight;
    }),
  );
  canvas.width = wide;
  canvas.height = high;
  const context = canvas.getContext('2d');
  if (!context) return;
  const ramp = rampBytes(colours);
  const pixels = context.createImageData(wide, high);
  most.forEach((weight, at) => {
    const from = 3 * Math.round(255 * Math.min(1, weight));
    pixels.data.set([ramp[from], ramp[from + 1], ramp[from + 2], 255], 4 * at);
  });
  context.putImageData(pixels, 0, 0);
}

export function drawHeads(map: HeadsMap, { palette: colours, width }: Look): Svg {
  const pitch = 128;
  const across = Math.max(1, Math.floor(width / pitch));
  const down = Math.ceil(map.maps.length / across);
  const svg = newSvg(width, down * (pitch + 14) + 8, map.title);
  map.maps.forEach((head, index) => {
    const x = (index % across) * pitch;
    const y = Math.floor(index / across) * (pitch + 14) + 16;
    const cell = 116 / Math.max(1, head.weights.length, head.weights[0]?.length ?? 0);
    words(svg, `${head.part} · layer ${head.layer} · ${head.head}`, { x, y: y - 4, fill: colours.faint, size: 10 });
    head.weights.forEach((row, r) =>
      row.forEach((weight, c) =>
        svg.append('rect').attr('x', round(x + c * cell)).attr('y', round(y + r * cell))
          .attr('width', round(cell)).attr('height', round(cell)).attr('fill', colourOf(colours, weight)),
      ),
    );
  });
  return svg;
}

export class HeadsView {
  readonly element = el('div', { class: 'heads' });
  private readonly view = new MatrixView(new Looking());
  private map: HeadsMap | undefined;
  private part: Part = 'cross';
  private layer = 0; // 0: all of them
  private opened: Head | undefined;

  /** `open` is called with the head that the reader opens. */
  constructor(private readonly open?: (head: Head) => void) {}

  /** What an export holds: the head that is open, or those that are seen. */
  get shown(): { map: HeadsMap; head?: Head } | undefined {
    if (!this.map) return undefined;
    const map = { ...this.map, maps: this.chosen() };
    return this.opened ? { map, head: this.opened } : { map };
  }

  show(map: HeadsMap): void {
    const same = (one: Head, other: Head) => one.part === other.part && one.layer === other.layer && one.head === other.head;
    const before = this.opened;
    this.map = map;
    this.opened = before && map.maps.find((one) => same(one, before));
    if (!map.maps.some((one) => one.part === this.part)) this.part = map.maps[0]?.part ?? 'cross';
    if (!map.maps.some((one) => one.layer === this.layer && one.part === this.part)) this.layer = 0;
    this.render();
  }

  redraw(): void {
    if (this.map) this.render();
  }

  private chosen(): Head[] {
    return (this.map?.maps ?? []).filter((one) => one.part === this.part && (this.layer === 0 || one.layer === this.layer));
  }

  private render(focus?: string): void {
    const map = this.map as HeadsMap;
    if (map.maps.length === 0) {
      this.element.replaceChildren(el('p', { class: 'note' }, 'This model gives no heads to look at.'));
      return;
    }
    const parts = (['encoder', 'decoder', 'cross'] as Part[]).filter((part) => map.maps.some((one) => one.part === part));
    const layers = [...new Set(map.maps.filter((one) => one.part === this.part).map((one) => one.layer))].sort((a, b) => a - b);
    const controls = el('div', { class: 'row' },
      segments('Part', parts.map((part) => ({ value: part, text: part })), this.part, (part) => {
        this.part = part;
        this.layer = 0;
        this.opened = undefined;
        this.render(`input[value="${part}"]`);
      }),
      segments('Layer', [{ value: '0', text: 'all layers' }, ...layers.map((layer) => ({ value: String(layer), text: String(layer) }))], String(this.layer), (layer) => {
        this.layer = Number(layer);
        this.opened = undefined;
        this.render(`[aria-label="Layer"] input[value="${layer}"]`);
      }),
    );
    this.element.replaceChildren(controls, el('p', { class: 'note' }, `${partName(this.part)}.`));
    this.element.append(this.opened ? this.single(this.opened) : this.grid());
    if (this.opened) this.view.show(headMap(map, this.opened));
    if (focus) this.element.querySelector<HTMLElement>(focus)?.focus();
  }

  private grid(): HTMLElement {
    const grid = el('div', { class: 'thumbs', role: 'group', 'aria-label': 'Heads' });
    for (const head of this.chosen()) {
      const name = `layer ${head.layer}, head ${head.head}`;
      const canvas = el('canvas', { 'aria-hidden': 'true' });
      paintThumb(canvas, head, palette());
      grid.append(
        el('button', {
          type: 'button',
          class: 'thumb',
          'data-head': `${head.part}-${head.layer}-${head.head}`,
          'aria-label': `Open ${head.part}, ${name}`,
          onclick: () => {
            this.opened = head;
            this.render('.back');
            this.open?.(head);
          },
        }, canvas, el('span', {}, name)),
      );
    }
    return grid;
  }

  private single(head: Head): HTMLElement {
    const back = el('button', {
      type: 'button',
      class: 'small back',
      onclick: () => {
        this.opened = undefined;
        this.render(`[data-head="${head.part}-${head.layer}-${head.head}"]`);
      },
    }, '← all heads');
    return el('div', { class: 'single' },
      el('div', { class: 'row' }, back, el('strong', {}, `${head.part}, layer ${head.layer}, head ${head.head}`)),
      this.view.element);
  }
}
