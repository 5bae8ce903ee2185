// A sound as its words: the spectrogram, and below it a row for each word with what it looked at
// and, as a frame, when it was said.

import { rampBytes, type Palette } from '../colour';
import type { Matrix, SpeechMap } from '../contract';
import { el } from '../dom';
import { painted, pictureElement } from '../paint';
import { fitted, percent, textWidth } from '../words';
import { newSvg, round, words, type Look, type Svg } from './draw';

const kSound = 96; // height of the spectrogram
const kRow = 17;
const kGap = 8;
const kFoot = 40;
const kFont = 12;
const kLongestWord = 110;
const kMostWords = 160;

type Colour = (value: number) => [number, number, number];

/** A pixel a number. */
function pixels(matrix: Matrix, columns: number, colour: Colour): HTMLCanvasElement {
  const canvas = el('canvas', { width: Math.max(1, columns), height: Math.max(1, matrix.length) });
  const context = canvas.getContext('2d');
  if (!context || columns === 0) return canvas;
  const image = context.createImageData(columns, Math.max(1, matrix.length));
  matrix.forEach((row, at) => row.forEach((value, column) => {
    image.data.set([...colour(value), 255], 4 * (at * columns + column));
  }));
  context.putImageData(image, 0, 0);
  return canvas;
}

function bytesOf(hex: string): [number, number, number] {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];
}

/** From paper to ink: loud stands out on both. */
function loudness(palette: Palette): Colour {
  const paper = bytesOf(palette.paper);
  const ink = bytesOf(palette.ink);
  return (value) => paper.map((from, c) => Math.round(from + (ink[c] - from) * Math.min(1, Math.max(0, value)))) as [number, number, number];
}

function weight(palette: Palette, most: number): Colour {
  const ramp = rampBytes(palette);
  return (value) => {
    const at = 3 * Math.round(255 * Math.min(1, Math.max(0, value / most)));
    return [ramp[at], ramp[at + 1], ramp[at + 2]];
  };
}

function put(svg: Svg, canvas: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
  const image = pictureElement(canvas);
  for (const [name, value] of Object.entries({ x, y, width, height })) image.setAttribute(name, String(round(value)));
  image.setAttribute('preserveAspectRatio', 'none');
  (svg.node() as SVGSVGElement).append(image);
}

function outline(svg: Svg, x: number, y: number, width: number, height: number, colour: string): void {
  svg.append('rect').attr('x', round(x)).attr('y', round(y)).attr('width', round(width)).attr('height', round(height))
    .attr('fill', 'none').attr('stroke', colour).attr('stroke-width', 1);
}

/** Seconds between ticks, so that there are no more than ten. */
function tickStep(seconds: number): number {
  return [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60].find((step) => seconds / step <= 10) ?? 300;
}

export function drawSpeech(map: SpeechMap, { palette, width }: Look): Svg {
  const count = Math.min(map.words.length, kMostWords);
  const shown = map.words.slice(0, count).map((word) => fitted(word, kFont, kLongestWord));
  const left = Math.ceil(Math.max(38, ...shown.map((word) => textWidth(word, kFont)))) + 8;
  const across = Math.max(180, width - left - 2);
  const top = kSound + kGap;
  const bottom = top + count * kRow;
  const svg = newSvg(left + across + 2, bottom + kFoot, map.title);
  const at = (seconds: number) => left + across * Math.min(1, Math.max(0, map.seconds > 0 ? (seconds - map.begin) / map.seconds : 0));
  put(svg, pixels(map.spectrogram, map.columns, loudness(palette)), left, 0, across, kSound);
  outline(svg, left, 0, across, kSound, palette.line);
  words(svg, `${map.hertz / 1000} kHz`, { x: left - 6, y: 10, fill: palette.faint, size: 11, anchor: 'end' });
  words(svg, '0', { x: left - 6, y: kSound - 1, fill: palette.faint, size: 11, anchor: 'end' });
  const most = Math.max(1e-9, ...map.weights.slice(0, count).map((row) => Math.max(0, ...row)));
  if (count > 0) {
    put(svg, pixels(map.weights.slice(0, count), map.columns, weight(palette, most)), left, top, across, count * kRow);
    outline(svg, left, top, across, count * kRow, palette.line);
  }
  shown.forEach((word, index) => {
    const y = top + index * kRow;
    words(svg, word, { x: left - 6, y: y + kRow - 4.5, fill: palette.ink, size: kFont, anchor: 'end' }).attr('class', 'word');
    const begin = at(map.begins[index]);
    outline(svg, begin, y + 1.5, Math.max(1, at(map.ends[index]) - begin), kRow - 3, palette.warn);
  });
  const step = tickStep(map.seconds);
  for (let tick = Math.ceil(map.begin / step); tick * step <= map.begin + map.seconds; ++tick) {
    const x = round(at(tick * step));
    svg.append('line').attr('x1', x).attr('x2', x).attr('y1', bottom + 1).attr('y2', bottom + 4).attr('stroke', palette.faint);
    words(svg, `${round(tick * step)} s`, { x, y: bottom + 15, fill: palette.faint, size: 11, anchor: 'middle' });
  }
  if (count > 0) {
    words(svg, `The ${palette.paper < '#7' ? 'brightest' : 'darkest'} place has ${percent(most)} of a word’s weight.`, { x: left, y: bottom + kFoot - 6, fill: palette.faint, size: 11 });
  }
  return svg;
}

/** The same on the page: as pixels, since its policy lets no picture into an SVG there. */
export function speechCanvas(map: SpeechMap, look: Look): HTMLCanvasElement {
  const svg = drawSpeech(map, look).node() as SVGSVGElement;
  const canvas = painted(svg, look.palette.paper, window.devicePixelRatio || 1);
  canvas.className = 'speech';
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `${map.title}. ${map.caption}`);
  canvas.style.width = `${svg.getAttribute('width')}px`;
  return canvas;
}
