// A curve over known points, and below it the weights that chosen queries gave to them.

import { axisBottom, axisLeft } from 'd3-axis';
import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import type { Palette } from '../colour';
import type { CurveMap } from '../contract';
import { newSvg, round, words, type Group, type Look, type Svg } from './draw';

function extent(values: number[]): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

// Axes with colours of their own instead of currentColor, which an exported file would lack.
function quiet(axis: Group, colours: Palette): void {
  axis.selectAll('.domain, line').attr('stroke', colours.line);
  axis.selectAll('text').attr('fill', colours.faint).attr('font-size', 11);
  axis.attr('font-family', null);
}

export function drawCurve(map: CurveMap, { palette: colours, width }: Look): Svg {
  const queries = map.queries ?? [];
  const weights = map.weights ?? [];
  const kMargin = { left: 46, right: 12, top: 30, bottom: 40 };
  const plot = Math.min(280, Math.max(180, width * 0.42));
  const strip = queries.length > 0 ? Math.min(3, queries.length) * 46 + 22 : 0;
  const height = kMargin.top + plot + kMargin.bottom + strip;
  const svg = newSvg(width, height, map.title);
  const xs = map.points.map(([px]) => px).concat(...map.lines.map((one) => one.x), queries);
  const ys = map.points.map(([, py]) => py).concat(...map.lines.map((one) => one.y));
  const x = scaleLinear().domain(extent(xs)).nice().range([kMargin.left, width - kMargin.right]);
  const y = scaleLinear().domain(extent(ys)).nice().range([kMargin.top + plot, kMargin.top]);

  const ticks = Math.max(3, Math.floor(width / 90));
  quiet(svg.append('g').attr('transform', `translate(0 ${kMargin.top + plot})`).call(axisBottom(x).ticks(ticks).tickSizeOuter(0)) as unknown as Group, colours);
  quiet(svg.append('g').attr('transform', `translate(${kMargin.left} 0)`).call(axisLeft(y).ticks(5).tickSizeOuter(0)) as unknown as Group, colours);
  words(svg, map.x_title, { x: width - kMargin.right, y: kMargin.top + plot + 34, fill: colours.faint, size: 11, anchor: 'end' });
  words(svg, map.y_title, { x: 0, y: 13, fill: colours.faint, size: 11 });

  // Lines differ by dashes as well as by tone.
  const styles = [
    { stroke: colours.accent, dash: null, wide: 2 },
    { stroke: colours.faint, dash: '5 4', wide: 1.5 },
    { stroke: colours.ink, dash: '1.5 3', wide: 1.5 },
  ];
  let legendX = width - kMargin.right;
  map.lines.forEach((one, index) => {
    const style = styles[index % styles.length];
    const path = line<number>((_, i) => x(one.x[i]), (_, i) => y(one.y[i]));
    svg.append('path').attr('class', 'line').attr('d', path(one.x) ?? '').attr('fill', 'none')
      .attr('stroke', style.stroke).attr('stroke-width', style.wide).attr('stroke-dasharray', style.dash);
    const name = words(svg, one.name, { x: legendX, y: 13, fill: colours.ink, size: 11, anchor: 'end' });
    const wide = 6.2 * one.name.length;
    name.attr('class', 'line-name');
    svg.append('path').attr('d', `M${round(legendX - wide - 26)} 9H${round(legendX - wide - 6)}`).attr('fill', 'none')
      .attr('stroke', style.stroke).attr('stroke-width', style.wide).attr('stroke-dasharray', style.dash);
    legendX -= wide + 42;
  });
  for (const [px, py] of map.points) {
    svg.append('circle').attr('class', 'point').attr('cx', round(x(px))).attr('cy', round(y(py))).attr('r', 3)
      .attr('fill', colours.paper).attr('stroke', colours.ink).attr('stroke-width', 1.2);
  }

  weights.slice(0, 3).forEach((row, index) => {
    const base = kMargin.top + plot + kMargin.bottom + 22 + (index + 1) * 46 - 10;
    const most = Math.max(1e-9, ...row);
    const at = round(x(queries[index]));
    svg.append('path').attr('d', `M${kMargin.left} ${base}H${width - kMargin.right}`).attr('stroke', colours.line).attr('fill', 'none');
    svg.append('path').attr('d', `M${at} ${base - 36}V${base}`).attr('stroke', colours.warn).attr('stroke-dasharray', '2 2').attr('fill', 'none');
    words(svg, `weights of x = ${round(queries[index])}`, { x: at < width / 2 ? width - kMargin.right : kMargin.left, y: base - 28, fill: colours.faint, size: 11, anchor: at < width / 2 ? 'end' : 'start' });
    row.forEach((weight, point) => {
      const px = round(x(map.points[point][0]));
      svg.append('path').attr('class', 'stem').attr('d', `M${px} ${base}V${round(base - 32 * (weight / most))}`)
        .attr('stroke', colours.accent).attr('stroke-width', 3).attr('fill', 'none');
    });
  });
  return svg;
}
