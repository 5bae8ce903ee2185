// A picture with where each word looked laid over it: one panel a word.

import { select } from 'd3-selection';
import { decodedBytes } from '../check';
import type { ImageMap, ImageStep } from '../contract';
import { el } from '../dom';
import { pictureElement } from '../paint';
import { percent } from '../words';
import { newSvg, words, type Look, type Svg } from './draw';

const kSide = 192; // pixels of a panel's longer side

function base(map: ImageMap): HTMLCanvasElement {
  const canvas = el('canvas', { width: map.width, height: map.height });
  const context = canvas.getContext('2d');
  if (!context) return canvas;
  const bytes = decodedBytes(map.pixels);
  const pixels = context.createImageData(map.width, map.height);
  for (let at = 0; at < map.width * map.height; ++at) {
    for (let c = 0; c < 3; ++c) pixels.data[4 * at + c] = bytes[map.channels === 1 ? at : 3 * at + c];
    pixels.data[4 * at + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
  return canvas;
}

// Weights as a veil: what was looked at is bare and tinted, the rest is dimmed.
function veil(step: ImageStep): HTMLCanvasElement | undefined {
  const grid = step.grid;
  if (!grid) return undefined;
  const canvas = el('canvas', { width: grid.columns, height: grid.rows });
  const context = canvas.getContext('2d');
  if (!context) return undefined;
  const most = Math.max(1e-9, ...grid.weights);
  const pixels = context.createImageData(grid.columns, grid.rows);
  grid.weights.forEach((weight, at) => {
    const share = weight / most;
    pixels.data.set([255, Math.round(196 - 40 * share), 64, Math.round(190 * share)], 4 * at);
  });
  context.putImageData(pixels, 0, 0);
  return canvas;
}

/** One panel: the picture, its veil and its boxes. */
export function panel(map: ImageMap, step: ImageStep, side: number = kSide): HTMLCanvasElement {
  const scale = side / Math.max(map.width, map.height);
  const canvas = el('canvas', { width: Math.round(map.width * scale), height: Math.round(map.height * scale) });
  const context = canvas.getContext('2d');
  if (!context) return canvas;
  context.imageSmoothingEnabled = false;
  context.drawImage(base(map), 0, 0, canvas.width, canvas.height);
  const over = veil(step);
  if (over) {
    context.imageSmoothingEnabled = true;
    context.imageSmoothingQuality = 'high';
    context.drawImage(over, 0, 0, canvas.width, canvas.height);
  }
  context.lineWidth = 2;
  context.strokeStyle = '#ffb347';
  for (const box of step.boxes ?? []) {
    context.globalAlpha = 0.25 + 0.75 * Math.min(1, box.weight ?? 1);
    context.strokeRect(box.x * scale, box.y * scale, box.width * scale, box.height * scale);
  }
  context.globalAlpha = 1;
  drawPath(context, step, scale);
  return canvas;
}

// A line from place to place, and on each the number of the look.
function drawPath(context: CanvasRenderingContext2D, step: ImageStep, scale: number): void {
  const places = (step.path ?? []).map(([x, y]) => [(x + 0.5) * scale, (y + 0.5) * scale]);
  if (places.length === 0) return;
  context.beginPath();
  for (const [x, y] of places) context.lineTo(x, y);
  context.stroke();
  context.font = 'bold 11px sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (let at = places.length - 1; at >= 0; --at) {
    const [x, y] = places[at];
    context.beginPath();
    context.arc(x, y, 8, 0, 2 * Math.PI);
    context.fillStyle = '#b04800';
    context.fill();
    context.fillStyle = '#ffffff';
    context.fillText(String(at + 1), x, y);
  }
}

/** Where a step looked most, in words: the third of the picture its heaviest cell lies in. */
export function tellStep(step: ImageStep): string {
  const grid = step.grid;
  if (step.path && step.path.length > 0) return `${step.label}: ${step.path.map(([x, y]) => `${x}, ${y}`).join(' to ')}`;
  if (!grid || grid.weights.length === 0) return `“${step.label}”`;
  let best = 0;
  grid.weights.forEach((weight, at) => {
    if (weight > grid.weights[best]) best = at;
  });
  const third = (at: number, count: number, names: [string, string, string]) => names[Math.min(2, Math.floor((3 * (at + 0.5)) / count))];
  const down = third(Math.floor(best / grid.columns), grid.rows, ['top', 'middle', 'bottom']);
  const across = third(best % grid.columns, grid.columns, ['left', 'centre', 'right']);
  return `“${step.label}” looked most at the ${down} ${across}: ${percent(grid.weights[best])} on one place`;
}

export function imagePanels(map: ImageMap): HTMLElement {
  const list = el('ol', { class: 'panels', 'aria-label': 'Where each word looked' });
  for (const step of map.steps) {
    const canvas = panel(map, step);
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', tellStep(step));
    list.append(el('li', { tabindex: 0, title: tellStep(step) }, canvas, el('span', { dir: 'auto' }, step.label)));
  }
  return list;
}

export function drawImage(map: ImageMap, { palette: colours, width }: Look): Svg {
  const pitch = kSide + 16;
  const across = Math.max(1, Math.min(map.steps.length, Math.floor((width + 16) / pitch)));
  const down = Math.ceil(map.steps.length / across);
  const svg = newSvg(across * pitch, Math.max(1, down) * (kSide + 34), map.title);
  map.steps.forEach((step, index) => {
    const x = (index % across) * pitch;
    const y = Math.floor(index / across) * (kSide + 34);
    const canvas = panel(map, step, 2 * kSide);
    const image = pictureElement(canvas);
    select(image).attr('x', x).attr('y', y).attr('width', canvas.width / 2).attr('height', canvas.height / 2);
    (svg.node() as SVGSVGElement).append(image);
    words(svg, step.label, { x: x + canvas.width / 4, y: y + canvas.height / 2 + 20, fill: colours.ink, size: 14, anchor: 'middle' });
  });
  return svg;
}
