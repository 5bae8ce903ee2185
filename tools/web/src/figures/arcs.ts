// A sentence as a tree: words in a row with arcs above them, or, where they do not fit, one below
// the other with brackets beside them.

import type { Palette } from '../colour';
import type { Arc, ArcsMap } from '../contract';
import { newSvg, round, words, type Look, type Svg } from './draw';

const kFont = 13;
const kSmall = 10.5;
const kSure = 0.5; // an arc that is less likely is drawn as one that may be wrong
const kMostWords = 400;

/** What a text takes, about: an SVG that is saved has no page to measure it in. */
function wide(text: string, size: number): number {
  let width = 0;
  for (const letter of text) width += letter.codePointAt(0)! >= 0x1100 ? size : 0.58 * size;
  return width;
}

const first = (arc: Arc) => Math.min(arc.head, arc.dependent);
const last = (arc: Arc) => Math.max(arc.head, arc.dependent);

/** For each arc how high it is above its words; 0 for that of the root. */
export function arcLevels(arcs: Arc[], count: number): number[] {
  const order = arcs.map((_, index) => index).sort((a, b) => last(arcs[a]) - first(arcs[a]) - last(arcs[b]) + first(arcs[b]) || a - b);
  const highest = new Array<number>(count + 1).fill(0);
  const levels = new Array<number>(arcs.length).fill(0);
  for (const index of order) {
    const arc = arcs[index];
    if (first(arc) === 0 || last(arc) > count) continue;
    levels[index] = 1 + Math.max(...highest.slice(first(arc), last(arc)));
    highest.fill(levels[index], first(arc), last(arc));
  }
  return levels;
}

interface Tree {
  words: string[];
  tags: string[];
  arcs: Arc[];
  levels: number[];
  highest: number;
}

const line = (arc: Arc, colours: Palette) => ((arc.weight ?? 1) >= kSure ? colours.accent : colours.warn);
const dashes = (arc: Arc) => ((arc.weight ?? 1) >= kSure ? null : '4 3');

function path(svg: Svg, arc: Arc, d: string, colours: Palette): void {
  const one = svg.append('path').attr('class', 'arc').attr('d', d).attr('fill', 'none')
    .attr('stroke', line(arc, colours)).attr('stroke-width', 1.3).attr('stroke-dasharray', dashes(arc));
  const likely = arc.weight === undefined ? '' : `, ${Math.round(100 * arc.weight)} %`;
  one.append('title').text(`${arc.label ?? ''}${likely}`);
}

const kAside = 4; // arcs leave a word beside the one that comes in
const kLevel = 21;
const kFoot = 12;
const kRoot = 20;

/** The middle of each word, and behind the last the width of all. */
function places(tree: Tree): number[] {
  const half = tree.words.map((word, i) => Math.max(wide(word, kFont), wide(tree.tags[i] ?? '', kSmall)) / 2);
  const at: number[] = [];
  half.forEach((own, i) => at.push(i === 0 ? own : at[i - 1] + half[i - 1] + own + 14));
  const order = tree.arcs.map((_, index) => index).filter((index) => tree.levels[index] > 0).sort((a, b) => tree.levels[a] - tree.levels[b]);
  for (const index of order) {
    const [left, right] = [first(tree.arcs[index]) - 1, last(tree.arcs[index]) - 1];
    const lack = wide(tree.arcs[index].label ?? '', kSmall) + 18 + 2 * kAside - (at[right] - at[left]);
    if (lack <= 0) continue;
    for (let word = left + 1; word < at.length; ++word) at[word] += (lack * (Math.min(word, right) - left)) / (right - left);
  }
  return [...at, at[at.length - 1] + half[half.length - 1]];
}

function drawRow(tree: Tree, at: number[], map: ArcsMap, colours: Palette): Svg {
  const foot = kRoot + tree.highest * kLevel + kFoot;
  const svg = newSvg(at[at.length - 1] + 2, foot + 22 + (tree.tags.length > 0 ? 18 : 0), map.title);
  const begin = (arc: Arc) => at[arc.head - 1] + (arc.dependent > arc.head ? kAside : -kAside);
  const top = (index: number) => foot - kFoot - tree.levels[index] * kLevel + kLevel / 2;
  const order = tree.arcs.map((_, index) => index).sort((a, b) => tree.levels[b] - tree.levels[a]);
  for (const index of order) {
    const arc = tree.arcs[index];
    const end = round(at[arc.dependent - 1]);
    if (arc.head === 0) {
      path(svg, arc, `M${end} ${kSmall + 6}V${foot - 6}`, colours);
    } else {
      const from = round(begin(arc));
      const r = Math.min(9, Math.abs(end - from) / 2);
      const way = end > from ? 1 : -1;
      const y = round(top(index));
      path(svg, arc, `M${from} ${foot}V${y + r}Q${from} ${y} ${round(from + way * r)} ${y}H${round(end - way * r)}Q${end} ${y} ${end} ${y + r}V${foot - 6}`, colours);
    }
    svg.append('path').attr('d', `M${end} ${foot}l-3 -6h6z`).attr('fill', line(arc, colours));
  }
  for (const index of order) {
    const arc = tree.arcs[index];
    const label = arc.label ?? '';
    const middle = arc.head === 0 ? at[arc.dependent - 1] : (begin(arc) + at[arc.dependent - 1]) / 2;
    const y = arc.head === 0 ? kSmall / 2 : top(index);
    if (arc.head !== 0) {
      const room = wide(label, kSmall) + 4;
      svg.append('rect').attr('x', round(middle - room / 2)).attr('y', round(y - 6)).attr('width', round(room)).attr('height', 12).attr('fill', colours.paper);
    }
    words(svg, label, { x: middle, y: y + 3.5, fill: (arc.weight ?? 1) >= kSure ? colours.ink : colours.warn, size: kSmall, anchor: 'middle' });
  }
  tree.words.forEach((word, i) => {
    words(svg, word, { x: at[i], y: foot + 16, fill: colours.ink, anchor: 'middle' }).attr('class', 'word');
    if (tree.tags[i]) words(svg, tree.tags[i], { x: at[i], y: foot + 34, fill: colours.faint, size: kSmall, anchor: 'middle' });
  });
  return svg;
}

function drawColumn(tree: Tree, map: ArcsMap, colours: Palette, width: number): Svg {
  const kRow = 20;
  const most = (texts: string[], size: number) => Math.min(180, Math.max(0, ...texts.map((text) => wide(text, size))));
  const tag = most(tree.words, kFont) + 12;
  const label = tag + (tree.tags.length > 0 ? most(tree.tags, kSmall) + 12 : 0);
  const left = label + most(tree.arcs.map((arc) => arc.label ?? ''), kSmall) + 12;
  // Many levels stand closer.
  const step = Math.max(3, Math.min(13, (width - left - 18) / Math.max(1, tree.highest)));
  const svg = newSvg(left + 18 + tree.highest * step, tree.words.length * kRow, map.title);
  const row = (word: number) => (word - 0.5) * kRow;
  tree.words.forEach((word, i) => {
    words(svg, word, { x: 0, y: row(i + 1) + 4.5, fill: colours.ink }).attr('class', 'word');
    if (tree.tags[i]) words(svg, tree.tags[i], { x: tag, y: row(i + 1) + 4, fill: colours.faint, size: kSmall });
  });
  tree.arcs.forEach((arc, index) => {
    const end = row(arc.dependent);
    words(svg, arc.label ?? '', { x: label, y: end + 4, fill: (arc.weight ?? 1) >= kSure ? colours.ink : colours.warn, size: kSmall });
    if (arc.head === 0) return;
    const from = row(arc.head) + (arc.dependent > arc.head ? 3 : -3);
    const side = left + 6 + tree.levels[index] * step;
    path(svg, arc, `M${round(left)} ${round(from)}H${round(side)}V${round(end)}H${round(left + 6)}`, colours);
    svg.append('path').attr('d', `M${round(left)} ${round(end)}l6 -3v6z`).attr('fill', line(arc, colours));
  });
  return svg;
}

export function drawArcs(map: ArcsMap, { palette: colours, width }: Look): Svg {
  const count = Math.min(map.words.length, kMostWords);
  const arcs = map.arcs.filter((arc) => last(arc) <= count);
  const levels = arcLevels(arcs, count);
  const tree = { words: map.words.slice(0, count), tags: (map.tags ?? []).slice(0, count), arcs, levels, highest: Math.max(0, ...levels) };
  if (count === 0) return newSvg(width, 1, map.title);
  const at = places(tree);
  return at[at.length - 1] + 2 <= width ? drawRow(tree, at, map, colours) : drawColumn(tree, map, colours, width);
}
