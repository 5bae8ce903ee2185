// The alignment matrix: rows are what was written, columns what was read.

import { scaleBand } from 'd3-scale';
import { colourOf, inkOn } from '../colour';
import type { AlignmentMap } from '../contract';
import { kUnsteered, type Steering } from '../looking';
import { fitted, labels, textWidth } from '../words';
import { legend, newSvg, round, words, type Group, type Look, type Svg } from './draw';

export interface MatrixDrawing {
  svg: Svg;
  left: number;
  top: number;
  cell: number; // width and height of a cell; also the pitch
}

export const kLabelSize = 13;
const kSlant = Math.SQRT1_2; // labels of columns stand at 45 degrees
const kLargestCell = 44;
const kLegendRoom = 180;
const kShowNumbers = 30; // cells at least so wide have room for their number

interface Layout {
  left: number;
  top: number;
  cell: number;
  slanted: boolean;
  right: number; // room that slanted labels need beyond the last column
  rowLimit: number;
  columnLimit: number;
}

function layout(rows: string[], columns: string[], width: number): Layout {
  const widest = (names: string[]) => names.reduce((w, name) => Math.max(w, textWidth(name, kLabelSize)), 0);
  const rowLimit = Math.min(widest(rows), Math.max(48, 0.3 * width));
  const left = Math.ceil(rowLimit) + 12;
  const widestColumn = widest(columns);
  const flat = Math.min(kLargestCell, (width - left - 2) / Math.max(1, columns.length));
  if (widestColumn + 6 <= flat) {
    return { left, top: 42, cell: flat, slanted: false, right: 2, rowLimit, columnLimit: flat - 4 };
  }
  const columnLimit = Math.min(widestColumn, 120, 0.3 * width);
  const overhang = columnLimit * kSlant;
  // A label begins in the middle of its column and is as high as it is slanted.
  const right = Math.ceil(overhang + kLabelSize) + 4;
  const cell = Math.min(kLargestCell, (width - left - right) / Math.max(1, columns.length));
  return { left, top: Math.ceil(overhang) + 36, cell, slanted: true, right, rowLimit, columnLimit };
}

/** How wide a cell of this map would be: below a legible size it is drawn on a canvas. */
export function cellSize(map: AlignmentMap, width: number): number {
  return layout(labels(map.rows), labels(map.columns), width).cell;
}

export function drawMatrix(
  map: AlignmentMap,
  { palette, width }: Look,
  { forbidden, forced }: Steering = kUnsteered,
): MatrixDrawing {
  const rows = labels(map.rows);
  const columns = labels(map.columns);
  const { left, top, cell, slanted, right, rowLimit, columnLimit } = layout(rows, columns, width);
  const x = scaleBand<number>().domain(columns.keys()).range([left, left + cell * columns.length]);
  const y = scaleBand<number>().domain(rows.keys()).range([top, top + cell * rows.length]);
  const bottom = top + cell * rows.length;
  const svg = newSvg(Math.min(width, Math.max(left + cell * columns.length + right, left + kLegendRoom)), bottom + 34, map.title);
  const size = Math.min(kLabelSize, Math.max(8, cell - 1));
  // Slanted labels are nearer to each other than their columns are.
  const columnSize = slanted ? Math.min(size, Math.max(7, 0.6 * cell)) : size;

  words(svg, `${map.row_title} ↓   ${map.column_title} →`, { x: 0, y: 13, fill: palette.faint, size: 11 });

  const columnNames = svg.append('g').attr('class', 'columns') as unknown as Group;
  columns.forEach((name, column) => {
    const off = forbidden.has(column);
    const middle = (x(column) ?? 0) + cell / 2;
    const label = words(columnNames, fitted(name, columnSize, columnLimit), {
      x: 0,
      y: 0,
      fill: off ? palette.warn : palette.ink,
      size: columnSize,
      anchor: slanted ? 'start' : 'middle',
    })
      .attr('data-column', column)
      .attr('transform', `translate(${round(middle + (slanted ? 4 : 0))} ${top - 7})${slanted ? ' rotate(-45)' : ''}`);
    label.append('title').text(name);
    if (off) label.attr('text-decoration', 'line-through');
  });

  const rowNames = svg.append('g').attr('class', 'rows') as unknown as Group;
  rows.forEach((name, row) => {
    words(rowNames, fitted(name, size, rowLimit), {
      x: left - 8,
      y: (y(row) ?? 0) + cell / 2 + size * 0.35,
      fill: forced.has(row) ? palette.warn : palette.ink,
      size,
      anchor: 'end',
    })
      .attr('data-row', row)
      .append('title')
      .text(name);
  });

  const cells = svg.append('g').attr('class', 'cells') as unknown as Group;
  const gap = cell >= 12 ? 1 : 0;
  map.weights.forEach((weights, row) => {
    weights.forEach((weight, column) => {
      cells
        .append('rect')
        .attr('data-row', row)
        .attr('data-column', column)
        .attr('x', round(x(column) ?? 0))
        .attr('y', round(y(row) ?? 0))
        .attr('width', round(cell - gap))
        .attr('height', round(cell - gap))
        .attr('fill', colourOf(palette, weight));
      if (cell >= kShowNumbers && weight >= 0.095) {
        words(cells, weight >= 0.995 ? '1' : `.${String(Math.round(100 * weight)).padStart(2, '0')}`, {
          x: (x(column) ?? 0) + (cell - gap) / 2,
          y: (y(row) ?? 0) + cell / 2 + 4,
          fill: inkOn(palette, weight),
          size: 11,
          anchor: 'middle',
        }).attr('pointer-events', 'none');
      }
    });
  });

  // What the reader changed is told by shape as well as by colour.
  const marks = svg.append('g').attr('class', 'marks').attr('fill', 'none').attr('pointer-events', 'none') as unknown as Group;
  for (const column of forbidden) {
    if (column >= columns.length) continue;
    const middle = (x(column) ?? 0) + (cell - gap) / 2;
    marks.append('path').attr('class', 'forbidden')
      .attr('d', `M${round(middle)} ${top}V${round(bottom - gap)}`)
      .attr('stroke', palette.warn).attr('stroke-width', 1.5).attr('stroke-dasharray', '3 3');
  }
  for (const [row, column] of forced) {
    if (row >= rows.length || column >= columns.length) continue;
    marks.append('rect').attr('class', 'forced')
      .attr('x', round((x(column) ?? 0) + 0.5)).attr('y', round((y(row) ?? 0) + 0.5))
      .attr('width', round(cell - gap - 1)).attr('height', round(cell - gap - 1))
      .attr('stroke', palette.warn).attr('stroke-width', 2.5);
  }
  legend(svg, palette, left, bottom + 14);
  return { svg, left, top, cell };
}
