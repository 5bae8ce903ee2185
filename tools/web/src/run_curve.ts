// A number over the steps of a training: one line, its axes in words, a ring where it is best.

import { scaleLinear } from 'd3-scale';

export interface CurveOf {
  title: string; // what is counted, and in what
  steps: number[];
  values: number[];
  most: number; // the last step of the axis
  top?: number; // values above it are drawn at it
  least: number; // the axis reaches at least so far
  dots: boolean;
  best?: { step: number; value: number; label: string };
}

const kSpace = 'http://www.w3.org/2000/svg';

function add(parent: Element, tag: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const made = document.createElementNS(kSpace, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

const at = (value: number): number => Math.round(value * 100) / 100;

// Ticks that fit; 12000 is 12k where there is little room.
function short(value: number, narrow: boolean): string {
  return narrow && value >= 1000 && value % 100 === 0 ? `${value / 1000}k` : String(value);
}

export function drawRunCurve(curve: CurveOf, width: number): SVGSVGElement {
  const narrow = width < 500;
  const margin = { left: 46, right: 14, top: 28, bottom: 38 };
  const height = margin.top + (narrow ? 130 : 170) + margin.bottom;
  const svg = document.createElementNS(kSpace, 'svg');
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  svg.setAttribute('class', 'run-curve');
  svg.setAttribute('role', 'img');
  const last = curve.values.at(-1);
  svg.setAttribute('aria-label', `${curve.title} over steps${last === undefined ? '' : `; now ${last.toFixed(2)}`}${curve.best ? `; ${curve.best.label}` : ''}`);
  const x = scaleLinear([0, Math.max(1, curve.most)], [margin.left, width - margin.right]);
  const values = curve.values.map((value) => Math.min(value, curve.top ?? value));
  const y = scaleLinear([0, Math.max(curve.least, ...values) * 1.05], [height - margin.bottom, margin.top]);
  for (const tick of y.ticks(4)) {
    add(svg, 'path', { class: 'grid', d: `M${margin.left} ${at(y(tick))}H${width - margin.right}` });
    add(svg, 'text', { class: 'tick', x: margin.left - 6, y: at(y(tick)) + 4, 'text-anchor': 'end' }, String(tick));
  }
  for (const tick of x.ticks(narrow ? 4 : 8).filter(Number.isInteger)) {
    add(svg, 'text', { class: 'tick', x: at(x(tick)), y: height - margin.bottom + 16, 'text-anchor': 'middle' }, short(tick, narrow));
  }
  add(svg, 'path', { class: 'axis', d: `M${margin.left} ${height - margin.bottom}H${width - margin.right}` });
  add(svg, 'text', { class: 'tick', x: width - margin.right, y: height - 6, 'text-anchor': 'end' }, 'steps');
  add(svg, 'text', { class: 'axis-title', x: 0, y: 13 }, curve.title);
  const points = curve.steps.map((step, index) => [at(x(step)), at(y(values[index]))]);
  if (points.length > 0) add(svg, 'path', { class: 'curve', d: `M${points.map((point) => point.join(' ')).join('L')}` });
  if (curve.dots || points.length === 1) {
    for (const [px, py] of points.length <= 80 ? points : []) add(svg, 'circle', { class: 'dot', cx: px, cy: py, r: 2.2 });
  }
  if (curve.best) {
    const px = at(x(curve.best.step));
    const py = at(y(Math.min(curve.best.value, curve.top ?? curve.best.value)));
    add(svg, 'path', { class: 'best-line', d: `M${px} ${margin.top}V${height - margin.bottom}` });
    add(svg, 'circle', { class: 'best-ring', cx: px, cy: py, r: 4.5 });
    const right = px > width / 2;
    const above = py > margin.top + 24;
    add(svg, 'text', { class: 'best-label', x: px + (right ? -8 : 8), y: above ? py - 9 : py + 18, 'text-anchor': right ? 'end' : 'start' }, curve.best.label);
  }
  return svg;
}
