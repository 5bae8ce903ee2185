// A matrix one can walk through: pointer, touch, or arrow keys with every cell told in words.

import { select } from 'd3-selection';
import type { AlignmentMap } from '../contract';
import { el } from '../dom';
import { kUnsteered, type Looking, type Spot, type Steering } from '../looking';
import { pooled, tell } from '../maps';
import type { Saved } from '../save';
import { palette } from '../theme';
import { LargeMatrix } from './large_matrix';
import { cellSize, drawMatrix, type MatrixDrawing } from './matrix';

export interface MatrixActions {
  force?: (row: number, column: number) => void;
  forbid?: (column: number) => void;
}

const kSmallestCell = 9; // pixels; narrower cells go to the canvas
const kLargestDrawing = 200; // tokens a side in a saved drawing
const kMostCells = 6_000; // that SVG moves smoothly

/** For paper: beyond a size, tiles, and the caption says so. */
export function savedMatrix(map: AlignmentMap, steering: Steering = kUnsteered): Saved {
  const small = pooled(map, kLargestDrawing);
  return {
    map,
    caption: small.caption,
    draw: (look) => drawMatrix(small, look, small === map ? steering : kUnsteered).svg.node() as SVGSVGElement,
  };
}

export class MatrixView {
  readonly element: HTMLElement;
  private readonly stage: HTMLElement;
  private readonly readout = el('p', { class: 'readout', 'aria-live': 'polite' });
  private map: AlignmentMap | undefined;
  private steering: Steering = kUnsteered;
  private drawing: MatrixDrawing | undefined;
  private large: LargeMatrix | undefined;

  constructor(
    private readonly looking: Looking,
    private readonly actions: MatrixActions = {},
  ) {
    const keys = actions.force
      ? 'Arrow keys move from cell to cell, Enter forces a cell, F forbids its column.'
      : 'Arrow keys move from cell to cell.';
    this.stage = el('div', {
      class: 'stage',
      tabindex: 0,
      role: 'application',
      'aria-roledescription': 'matrix of weights',
      'aria-label': `Matrix of weights. ${keys}`,
      onkeydown: (event: KeyboardEvent) => this.key(event),
    });
    this.element = el('div', { class: 'matrix' }, this.stage, this.readout);
    this.stage.addEventListener('pointermove', (event) => this.point(event));
    this.stage.addEventListener('pointerleave', () => this.looking.leave());
    this.stage.addEventListener('click', (event) => this.click(event));
    this.stage.addEventListener('blur', () => this.looking.leave());
    looking.on((spot) => this.mark(spot));
  }

  show(map: AlignmentMap, steering: Steering = kUnsteered): void {
    const before = this.map;
    this.map = map;
    this.steering = steering;
    const width = this.width();
    const many = map.rows.length * map.columns.length > kMostCells;
    if (many || cellSize(map, width) < kSmallestCell) {
      this.drawing = undefined;
      if (!this.large || before !== map) {
        this.large?.remove();
        this.large = new LargeMatrix(map, (spot) => this.looking.set(spot));
        this.stage.replaceChildren(this.large.element);
      }
      this.large.paint(palette(), width, steering);
    } else {
      this.large?.remove();
      this.large = undefined;
      this.drawing = drawMatrix(map, { palette: palette(), width }, steering);
      this.drawing.svg.attr('aria-hidden', 'true').attr('role', null);
      this.stage.replaceChildren(this.drawing.svg.node() as SVGSVGElement);
    }
    this.mark(this.looking.now);
  }

  redraw(): void {
    if (this.map) this.show(this.map, this.steering);
  }

  private width(): number {
    return Math.max(240, Math.min(this.element.clientWidth || 640, 980));
  }

  private spotOf(target: EventTarget | null): Spot {
    if (!(target instanceof Element)) return {};
    const { row, column } = (target as SVGElement).dataset;
    return {
      ...(row === undefined ? {} : { row: Number(row) }),
      ...(column === undefined ? {} : { column: Number(column) }),
    };
  }

  private point(event: PointerEvent): void {
    if (!this.large) this.looking.set(this.spotOf(event.target));
  }

  private click(event: MouseEvent): void {
    const spot = this.large ? this.looking.now : this.spotOf(event.target);
    if (this.large && !this.large.isClick()) return;
    if (spot.row !== undefined && spot.column !== undefined) this.actions.force?.(spot.row, spot.column);
    else if (spot.column !== undefined) this.actions.forbid?.(spot.column);
  }

  private key(event: KeyboardEvent): void {
    if (!this.map || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = this.map.rows.length;
    const columns = this.map.columns.length;
    if (rows === 0 || columns === 0) return;
    const now = this.looking.now;
    const row = now.row ?? 0;
    const column = now.column ?? 0;
    const started = now.row !== undefined && now.column !== undefined;
    const clamp = (value: number, count: number) => Math.max(0, Math.min(count - 1, value));
    const go = (r: number, c: number) =>
      this.looking.set(started ? { row: clamp(r, rows), column: clamp(c, columns) } : { row: clamp(row, rows), column: clamp(column, columns) });
    switch (event.key) {
      case 'ArrowUp': go(row - 1, column); break;
      case 'ArrowDown': go(row + 1, column); break;
      case 'ArrowLeft': go(row, column - 1); break;
      case 'ArrowRight': go(row, column + 1); break;
      case 'Home': go(event.shiftKey ? 0 : row, 0); break;
      case 'End': go(event.shiftKey ? rows - 1 : row, columns - 1); break;
      case 'PageUp': go(row - 10, column); break;
      case 'PageDown': go(row + 10, column); break;
      case 'Escape': this.looking.leave(); break;
      case 'Enter':
      case ' ':
        if (!started || !this.actions.force) return;
        this.actions.force(row, column);
        break;
      case 'f':
      case 'F':
        if (!started || !this.actions.forbid) return;
        this.actions.forbid(column);
        break;
      case '+':
      case '=': if (!this.large) return; this.large.zoomBy(1.6); break;
      case '-': if (!this.large) return; this.large.zoomBy(1 / 1.6); break;
      case '0': if (!this.large) return; this.large.reset(); break;
      default: return;
    }
    event.preventDefault();
    this.large?.reveal(this.looking.now);
  }

  private mark(spot: Spot): void {
    if (!this.map) return;
    this.readout.textContent = tell(this.map, spot);
    if (this.large) {
      this.large.mark(spot);
      return;
    }
    if (!this.drawing) return;
    const { svg, left, top, cell } = this.drawing;
    const colours = palette();
    svg.selectAll('.spot').remove();
    const rows = this.map.rows.length;
    const columns = this.map.columns.length;
    const box = (x: number, y: number, width: number, height: number, thick: number) =>
      svg.append('rect').attr('class', 'spot').attr('pointer-events', 'none')
        .attr('x', x - 1).attr('y', y - 1).attr('width', width + 1).attr('height', height + 1)
        .attr('fill', 'none').attr('stroke', colours.accent).attr('stroke-width', thick);
    const { row, column } = spot;
    if (row !== undefined && row < rows) box(left, top + row * cell, columns * cell, cell, column === undefined ? 2 : 1);
    if (column !== undefined && column < columns) box(left + column * cell, top, cell, rows * cell, row === undefined ? 2 : 1);
    if (row !== undefined && column !== undefined && row < rows && column < columns) {
      box(left + column * cell, top + row * cell, cell, cell, 2.5);
    }
    svg.selectAll<SVGTextElement, unknown>('.rows text, .columns text').each(function () {
      const at = this.dataset;
      const on = (at.row !== undefined && Number(at.row) === row) || (at.column !== undefined && Number(at.column) === column);
      select(this).attr('font-weight', on ? 700 : null);
    });
  }
}
