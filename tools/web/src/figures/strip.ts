// A vector as a strip of cells, one a channel: blue above 0, orange below, paler nearer to 0.

import { el } from '../dom';
import { palette } from '../theme';

function channels(hex: string): [number, number, number] {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];
}

/** The canvas of a vector whose largest size is `most`; told in words to those who cannot see it. */
export function strip(numbers: number[], most: number, about: string): HTMLCanvasElement {
  const canvas = el('canvas', { class: 'strip', width: Math.max(1, numbers.length), height: 1, role: 'img', 'aria-label': about, title: about });
  paintStrip(canvas, [numbers], most);
  return canvas;
}

/** Rows of numbers as cells, from −most to most. */
export function paintStrip(canvas: HTMLCanvasElement, rows: number[][], most: number): void {
  const context = canvas.getContext('2d');
  const wide = rows[0]?.length ?? 0;
  if (!context || wide === 0) return;
  const { paper, accent, warn } = palette();
  const [none, above, below] = [paper, accent, warn].map(channels);
  canvas.width = wide;
  canvas.height = rows.length;
  const pixels = context.createImageData(wide, rows.length);
  rows.forEach((row, y) =>
    row.forEach((number, x) => {
      const share = Math.min(1, Math.abs(number) / (most || 1));
      const full = number >= 0 ? above : below;
      const at = 4 * (y * wide + x);
      for (let c = 0; c < 3; ++c) pixels.data[at + c] = Math.round(none[c] + (full[c] - none[c]) * share);
      pixels.data[at + 3] = 255;
    }));
  context.putImageData(pixels, 0, 0);
}

export function largestSize(rows: number[][]): number {
  return rows.reduce((most, row) => row.reduce((all, number) => Math.max(all, Math.abs(number)), most), 0);
}
