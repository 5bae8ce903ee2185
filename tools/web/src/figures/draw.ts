// What every drawing shares. Drawings are plain SVG with presentation attributes only: the same
// elements are on the page, in the exported file and in the PNG.

import { create, type Selection } from 'd3-selection';
import type { Palette } from '../colour';
import { kFont } from '../words';

export type Svg = Selection<SVGSVGElement, undefined, null, undefined>;
// d3's element and datum types differ from call to call; drawings only append.
export type Group = Selection<SVGGElement, undefined, null, undefined>;

export interface Look {
  palette: Palette;
  width: number;
}

export function newSvg(width: number, height: number, label: string): Svg {
  const svg = create<SVGSVGElement>('svg:svg') as unknown as Svg;
  return svg
    .attr('viewBox', `0 0 ${round(width)} ${round(height)}`)
    .attr('width', round(width))
    .attr('height', round(height))
    .attr('font-family', kFont)
    .attr('font-size', 13)
    .attr('role', 'img')
    .attr('aria-label', label);
}

export function round(value: number): number {
  return Math.round(100 * value) / 100;
}

export interface Words {
  x: number;
  y: number;
  fill: string;
  size?: number;
  anchor?: 'start' | 'middle' | 'end';
  weight?: number;
  italic?: boolean;
}

export function words(into: Group | Svg, text: string, at: Words) {
  const made = (into as Group)
    .append('text')
    .attr('x', round(at.x))
    .attr('y', round(at.y))
    .attr('fill', at.fill)
    .text(text);
  if (at.size) made.attr('font-size', at.size);
  if (at.anchor) made.attr('text-anchor', at.anchor);
  if (at.weight) made.attr('font-weight', at.weight);
  if (at.italic) made.attr('font-style', 'italic');
  return made;
}

/** The bar that tells which colour is which weight. */
export function legend(into: Svg, palette: Palette, x: number, y: number): void {
  const kSteps = 32;
  const kWide = 96;
  const bar = into.append('g').attr('class', 'legend').attr('aria-hidden', 'true') as unknown as Group;
  words(bar, '0', { x: x, y: y + 9, fill: palette.faint, size: 11 });
  for (let step = 0; step < kSteps; ++step) {
    bar
      .append('rect')
      .attr('x', round(x + 12 + (step * kWide) / kSteps))
      .attr('y', y)
      .attr('width', round(kWide / kSteps + 0.4))
      .attr('height', 10)
      .attr('fill', palette.ramp[Math.round((255 * step) / (kSteps - 1))]);
  }
  words(bar, '1  weight', { x: x + 18 + kWide, y: y + 9, fill: palette.faint, size: 11 });
}
