// Boxes, arrows, texts and small matrices, where the map places them.

import type { Palette } from '../colour';
import type { DiagramMap, DiagramRole } from '../contract';
import { newSvg, round, words, type Group, type Look, type Svg } from './draw';

const kLabel = 11;

function colourOf(role: DiagramRole | undefined, colours: Palette): { stroke: string; fill: string } {
  switch (role) {
    case 'score':
      return { stroke: colours.warn, fill: colours.warn };
    case 'output':
    case 'query':
      return { stroke: colours.accent, fill: colours.accent };
    case 'key':
    case 'value':
      return { stroke: colours.ink, fill: colours.faint };
    default:
      return { stroke: colours.faint, fill: colours.line };
  }
}

/** How far the shapes reach, from the top left of the sheet. */
function size(map: DiagramMap): { wide: number; high: number } {
  const x: number[] = [1];
  const y: number[] = [1];
  const take = (right: number, below: number) => {
    x.push(right);
    y.push(below);
  };
  for (const part of map.parts) take(part.x + part.width, part.y + part.height);
  for (const arrow of map.arrows) for (const [px, py] of arrow.through) take(px, py);
  for (const note of map.notes) take(note.x + (note.anchor === 'right' ? 0 : 6.2 * note.text.length), note.y + kLabel);
  for (const grid of map.grids) take(grid.x + grid.cell_width * grid.columns.length, grid.y + grid.cell_height * grid.rows.length);
  return { wide: Math.max(...x) + 8, high: Math.max(...y) + 8 };
}

function head(into: Svg, through: [number, number][], fill: string, opacity: number): void {
  const [ex, ey] = through[through.length - 1];
  const [bx, by] = through[through.length - 2];
  const length = Math.hypot(ex - bx, ey - by) || 1;
  const [ux, uy] = [(ex - bx) / length, (ey - by) / length];
  const point = (back: number, side: number) => `${round(ex - back * ux - side * uy)} ${round(ey - back * uy + side * ux)}`;
  into.append('path').attr('d', `M${round(ex)} ${round(ey)}L${point(7, 3)}L${point(7, -3)}Z`).attr('fill', fill).attr('fill-opacity', opacity);
}

export function drawDiagram(map: DiagramMap, { palette: colours, width }: Look): Svg {
  const { wide, high } = size(map);
  const svg = newSvg(wide, high, map.title);
  const share = Math.min(1, width / wide);
  svg.attr('width', round(wide * share)).attr('height', round(high * share));
  const top = Math.max(1e-9, ...map.grids.map((grid) => Math.max(0, ...grid.weights.map((row) => Math.max(0, ...row)))));
  for (const grid of map.grids) {
    grid.weights.forEach((row, r) => row.forEach((weight, c) => {
      svg.append('rect').attr('class', 'cell').attr('x', round(grid.x + c * grid.cell_width)).attr('y', round(grid.y + r * grid.cell_height))
        .attr('width', round(grid.cell_width - 1)).attr('height', round(grid.cell_height - 1))
        .attr('fill', colours.ramp[Math.round((255 * weight) / top)]);
    }));
    grid.rows.forEach((name, r) => words(svg, name, { x: grid.x - 5, y: grid.y + (r + 0.5) * grid.cell_height + 4, fill: colours.faint, size: kLabel, anchor: 'end' }));
    grid.columns.forEach((name, c) => words(svg, name, { x: grid.x + (c + 0.5) * grid.cell_width, y: grid.y - 5, fill: colours.faint, size: kLabel, anchor: 'middle' }));
  }
  for (const part of map.parts) {
    const { stroke, fill } = colourOf(part.role, colours);
    const text = part.label || part.detail;
    svg.append('rect').attr('class', 'part').attr('x', round(part.x)).attr('y', round(part.y)).attr('width', round(part.width)).attr('height', round(part.height))
      .attr('rx', Math.min(5, part.height / 2)).attr('fill', text ? colours.paper : fill).attr('stroke', stroke);
    const middle = part.x + part.width / 2;
    if (part.label) words(svg, part.label, { x: middle, y: part.y + part.height / 2 + (part.detail ? -2 : 4), fill: colours.ink, size: 12, anchor: 'middle' });
    if (part.detail) words(svg, part.detail, { x: middle, y: part.y + part.height / 2 + 12, fill: colours.faint, size: 10, anchor: 'middle' });
  }
  for (const arrow of map.arrows) {
    const { stroke } = colourOf(arrow.role ?? 'score', colours);
    const weight = arrow.weight ?? 1;
    const opacity = round(0.25 + 0.75 * weight);
    const line = arrow.through.map(([x, y], at) => `${at === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('');
    svg.append('path').attr('class', 'arrow').attr('d', line).attr('fill', 'none').attr('stroke', stroke)
      .attr('stroke-width', round(0.6 + 1.2 * weight)).attr('stroke-opacity', opacity);
    head(svg, arrow.through, stroke, opacity);
    if (!arrow.label) continue;
    const [mx, my] = arrow.through[Math.floor(arrow.through.length / 2)];
    words(svg as unknown as Group, arrow.label, { x: mx, y: my - 4, fill: colours.ink, size: 10.5, anchor: 'middle' });
  }
  const anchors = { left: 'start', centre: 'middle', right: 'end' } as const;
  for (const note of map.notes) {
    words(svg, note.text, { x: note.x, y: note.y + 4, fill: note.strong ? colours.ink : colours.faint, size: note.strong ? 12 : kLabel, anchor: anchors[note.anchor ?? 'left'], ...(note.strong ? { weight: 600 } : {}) });
  }
  return svg;
}
