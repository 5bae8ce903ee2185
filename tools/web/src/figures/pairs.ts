// Two lines of tokens joined by curves: above what was read, below what was written; on a narrow
// page, two columns.

import { select } from 'd3-selection';
import { linkHorizontal, linkVertical } from 'd3-shape';
import type { AlignmentMap } from '../contract';
import { el } from '../dom';
import { kUnsteered, type Looking, type Spot, type Steering } from '../looking';
import { tell } from '../maps';
import { palette } from '../theme';
import { fitted, labels, textWidth } from '../words';
import { newSvg, round, words, type Group, type Look, type Svg } from './draw';

const kSize = 15;
const kGap = 14;
const kWidestGap = 30;
const kTitleRoom = 56;
const kMostTokens = 120; // of either line; more would be a thicket
const kFaintest = 0.03; // weights that get a curve

interface Place {
  x: number;
  y: number;
  width: number;
  text: string;
}

interface PairsDrawing {
  svg: Svg;
}

function inLine(names: string[], width: number, y: number): Place[] {
  const wide = names.map((name) => textWidth(name, kSize));
  const bare = wide.reduce((sum, w) => sum + w, 0);
  const spare = (width - 2 * kTitleRoom - bare) / Math.max(1, names.length - 1);
  const gap = Math.max(kGap, Math.min(kWidestGap, spare));
  const total = bare + gap * (names.length - 1);
  let x = (width - total) / 2;
  return names.map((text, index) => {
    const place = { x: x + wide[index] / 2, y, width: wide[index], text };
    x += wide[index] + gap;
    return place;
  });
}

function pitchOf(tokens: number): number {
  return tokens > 16 ? 22 : 28;
}

function inColumn(names: string[], x: number, limit: number, tallest: number): Place[] {
  const pitch = pitchOf(tallest);
  const top = 40 + ((tallest - names.length) * pitch) / 2;
  return names.map((name, index) => {
    const text = fitted(name, kSize, limit);
    return { x, y: top + index * pitch, width: textWidth(text, kSize), text };
  });
}

export function fitsPairs(map: AlignmentMap): boolean {
  return Math.max(map.rows.length, map.columns.length) <= kMostTokens;
}

export function drawPairs(
  map: AlignmentMap,
  { palette: colours, width }: Look,
  { forbidden, forced }: Steering = kUnsteered,
): PairsDrawing {
  const written = labels(map.rows);
  const read = labels(map.columns);
  const long = (names: string[]) => names.reduce((sum, name) => sum + textWidth(name, kSize) + kGap, -kGap);
  const flat = Math.max(long(written), long(read)) <= width - 16;
  const height = flat ? 196 : 40 + Math.max(written.length, read.length) * pitchOf(Math.max(written.length, read.length));
  const svg = newSvg(width, height, map.title);
  const limit = Math.max(60, width * 0.34);
  const tallest = Math.max(written.length, read.length);
  const above = flat ? inLine(read, width, 44) : inColumn(read, limit, limit, tallest);
  const below = flat ? inLine(written, width, 166) : inColumn(written, width - limit, limit, tallest);
  const anchor = { read: flat ? 'middle' : 'end', written: flat ? 'middle' : 'start' } as const;

  const title = (text: string, x: number, y: number, at: 'start' | 'end') =>
    words(svg, text, { x, y, fill: colours.faint, size: 11, anchor: at });
  // Before the lines where both have room, else above the one and below the other.
  const left = (places: Place[]) => (places[0]?.x ?? 0) - (places[0]?.width ?? 0) / 2;
  const beside = Math.min(left(above), left(below)) > kTitleRoom - 8;
  title(map.column_title, flat ? 0 : limit, flat && beside ? 44 : 14, flat ? 'start' : 'end');
  title(map.row_title, flat ? 0 : width - limit, !flat ? 14 : beside ? 166 : height - 4, 'start');

  const curves = svg.append('g').attr('class', 'curves').attr('fill', 'none').attr('stroke-linecap', 'round') as unknown as Group;
  const vertical = linkVertical<unknown, [number, number]>();
  const horizontal = linkHorizontal<unknown, [number, number]>();
  map.weights.forEach((weights, row) => {
    weights.forEach((weight, column) => {
      if (weight < kFaintest) return;
      const from = above[column];
      const to = below[row];
      const d = flat
        ? vertical({ source: [from.x, from.y + 8], target: [to.x, to.y - 17] })
        : horizontal({ source: [from.x + 8, from.y - 5], target: [to.x - 8, to.y - 5] });
      curves
        .append('path')
        .attr('data-row', row)
        .attr('data-column', column)
        .attr('d', d ?? '')
        .attr('stroke', forced.get(row) === column ? colours.warn : colours.accent)
        .attr('stroke-width', round(0.6 + 4.4 * weight))
        .attr('stroke-opacity', round(0.12 + 0.78 * weight));
    });
  });

  const put = (line: 'read' | 'written', places: Place[], full: string[]) => {
    const group = svg.append('g').attr('class', line) as unknown as Group;
    places.forEach((place, index) => {
      const off = line === 'read' && forbidden.has(index);
      const mark = off || (line === 'written' && forced.has(index));
      const left = anchor[line] === 'middle' ? place.x - place.width / 2 : anchor[line] === 'end' ? place.x - place.width : place.x;
      const token = group.append('g').attr('class', 'token').attr(line === 'read' ? 'data-column' : 'data-row', index) as unknown as Group;
      token.append('rect').attr('x', round(left - 5)).attr('y', round(place.y - 18)).attr('width', round(place.width + 10))
        .attr('height', 25).attr('rx', 4).attr('fill', colours.paper);
      const text = words(token, place.text, {
        x: place.x,
        y: place.y,
        fill: mark ? colours.warn : colours.ink,
        size: kSize,
        anchor: anchor[line],
      });
      if (off) text.attr('text-decoration', 'line-through');
      token.append('title').text(full[index]);
    });
  };
  put('read', above, read);
  put('written', below, written);
  return { svg };
}

export class PairsView {
  readonly element = el('div', { class: 'pairs' });
  private readonly stage = el('div', { class: 'stage' });
  private readonly readout = el('p', { class: 'readout', 'aria-live': 'polite' });
  private map: AlignmentMap | undefined;
  private steering: Steering = kUnsteered;
  private svg: Svg | undefined;

  constructor(
    private readonly looking: Looking,
    private readonly forbid?: (column: number) => void,
    private readonly choose?: (row: number) => void,
  ) {
    this.element.append(this.stage, this.readout);
    looking.on((spot) => this.mark(spot));
  }

  show(map: AlignmentMap, steering: Steering = kUnsteered): void {
    const focused = this.focusedToken();
    this.map = map;
    this.steering = steering;
    this.element.hidden = !fitsPairs(map);
    if (this.element.hidden) return;
    const width = Math.max(240, Math.min(this.element.clientWidth || 640, 980));
    const { svg } = drawPairs(map, { palette: palette(), width }, steering);
    svg.attr('role', 'group').attr('aria-label', 'Tokens read and written. Arrow keys move from token to token.');
    this.svg = svg;
    this.makeTokensReachable(svg);
    this.stage.replaceChildren(svg.node() as SVGSVGElement);
    this.mark(this.looking.now);
    if (focused) this.stage.querySelector<SVGElement>(focused)?.focus();
  }

  redraw(): void {
    if (this.map) this.show(this.map, this.steering);
  }

  // Drawing anew must not lose the reader's place.
  private focusedToken(): string | undefined {
    const active = document.activeElement;
    if (!active || !this.stage.contains(active)) return undefined;
    const { row, column } = (active as SVGElement).dataset;
    return row === undefined ? `.read [data-column="${column}"]` : `.written [data-row="${row}"]`;
  }

  private makeTokensReachable(svg: Svg): void {
    const map = this.map as AlignmentMap;
    const spotOf = (token: SVGElement): Spot =>
      token.dataset.row === undefined ? { column: Number(token.dataset.column) } : { row: Number(token.dataset.row) };
    const { forbidden } = this.steering;
    const { forbid, choose } = this;
    svg.selectAll<SVGGElement, unknown>('.token').each(function () {
      const spot = spotOf(this);
      const source = spot.column !== undefined;
      const pressable = source ? forbid : choose;
      const token = select(this)
        .attr('tabindex', (spot.column ?? -1) === 0 || (spot.row ?? -1) === 0 ? 0 : -1)
        .attr('role', pressable ? 'button' : 'img')
        .attr('aria-label', tell(map, spot) + (pressable ? (source ? '. Enter forbids or allows it.' : '. Enter steps through its numbers.') : ''));
      if (source && forbid) token.attr('aria-pressed', String(forbidden.has(spot.column as number)));
      token.select('text').attr('aria-hidden', 'true');
    });
    const tokens = svg.selectAll<SVGGElement, unknown>('.token');
    tokens
      .on('pointerenter focus', (event: Event) => this.looking.set(spotOf(event.currentTarget as SVGElement)))
      .on('pointerleave blur', () => this.looking.leave())
      .on('click', (event: Event) => this.press(spotOf(event.currentTarget as SVGElement)))
      .on('keydown', (event: KeyboardEvent) => this.key(event, spotOf(event.currentTarget as SVGElement)));
  }

  private press({ row, column }: Spot): void {
    if (column !== undefined) this.forbid?.(column);
    else if (row !== undefined) this.choose?.(row);
  }

  private key(event: KeyboardEvent, spot: Spot): void {
    const { row, column } = spot;
    if (event.key === 'Enter' || event.key === ' ') {
      this.press(spot);
      event.preventDefault();
      return;
    }
    const line = column === undefined ? 'written' : 'read';
    const tokens = [...this.stage.querySelectorAll<SVGGElement>(`.${line} .token`)];
    const index = column ?? row ?? 0;
    const goals: Record<string, SVGGElement | undefined> = {
      ArrowLeft: tokens[index - 1],
      ArrowRight: tokens[index + 1],
      ArrowUp: tokens[index - 1],
      ArrowDown: tokens[index + 1],
      Home: tokens[0],
      End: tokens[tokens.length - 1],
    };
    if (!(event.key in goals)) return;
    event.preventDefault();
    const goal = goals[event.key];
    if (!goal) return;
    tokens.forEach((token) => token.setAttribute('tabindex', token === goal ? '0' : '-1'));
    goal.focus();
  }

  private mark(spot: Spot): void {
    if (!this.map || !this.svg) return;
    const { row, column } = spot;
    const some = row !== undefined || column !== undefined;
    const map = this.map;
    const colours = palette();
    this.readout.textContent = tell(map, spot);
    this.svg.selectAll<SVGPathElement, unknown>('.curves path').each(function () {
      const r = Number(this.dataset.row);
      const c = Number(this.dataset.column);
      const on = (row === undefined || r === row) && (column === undefined || c === column);
      select(this).attr('opacity', !some || on ? null : 0.06);
    });
    this.svg.selectAll<SVGGElement, unknown>('.token').each(function () {
      const r = this.dataset.row === undefined ? undefined : Number(this.dataset.row);
      const c = this.dataset.column === undefined ? undefined : Number(this.dataset.column);
      const self = (r !== undefined && r === row) || (c !== undefined && c === column);
      let weight = 0;
      if (r === undefined && row !== undefined && column === undefined) weight = map.weights[row]?.[c as number] ?? 0;
      if (c === undefined && column !== undefined && row === undefined) weight = map.weights[r as number]?.[column] ?? 0;
      select(this).select('rect')
        .attr('fill', weight > 0.01 ? colours.accent : colours.paper)
        .attr('fill-opacity', weight > 0.01 ? round(0.08 + 0.42 * weight) : null)
        .attr('stroke', self ? colours.accent : null);
    });
  }
}
