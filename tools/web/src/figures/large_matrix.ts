// A matrix of millions of cells: tiles of a pyramid of block maxima, made when they are first
// seen and kept in a small pool, under zoom and pan.

import { select } from 'd3-selection';
import { zoom, zoomIdentity, type D3ZoomEvent, type ZoomBehavior, type ZoomTransform } from 'd3-zoom';
import { rampBytes, type Palette } from '../colour';
import type { AlignmentMap } from '../contract';
import { el } from '../dom';
import { kUnsteered, type Spot, type Steering } from '../looking';
import { fitted, kFont, labels } from '../words';

const kTile = 256; // cells a side
const kPool = 48; // tiles that are kept: 12 MiB of pixels
const kLabelRoom = 84;
const kLegible = 11; // pixels a cell needs before its label is written

interface Level {
  rows: number;
  columns: number;
  bytes: Uint8Array; // weights as 0..255
}

function pyramid(map: AlignmentMap): Level[] {
  const rows = map.rows.length;
  const columns = map.columns.length;
  const bytes = new Uint8Array(rows * columns);
  map.weights.forEach((row, r) =>
    row.forEach((weight, c) => (bytes[r * columns + c] = Math.round(255 * Math.min(1, Math.max(0, weight))))),
  );
  const levels: Level[] = [{ rows, columns, bytes }];
  for (let last = levels[0]; Math.max(last.rows, last.columns) > kTile; last = levels[levels.length - 1]) {
    const next: Level = {
      rows: Math.ceil(last.rows / 2),
      columns: Math.ceil(last.columns / 2),
      bytes: new Uint8Array(Math.ceil(last.rows / 2) * Math.ceil(last.columns / 2)),
    };
    for (let r = 0; r < last.rows; ++r) {
      for (let c = 0; c < last.columns; ++c) {
        const at = (r >> 1) * next.columns + (c >> 1);
        next.bytes[at] = Math.max(next.bytes[at], last.bytes[r * last.columns + c]);
      }
    }
    levels.push(next);
  }
  return levels;
}

export class LargeMatrix {
  readonly element: HTMLElement;
  private readonly canvas = el('canvas', { class: 'large' });
  private readonly levels: Level[];
  private readonly tiles = new Map<string, HTMLCanvasElement>(); // in order of use
  private readonly zoomer: ZoomBehavior<HTMLCanvasElement, unknown>;
  private readonly rowNames: string[];
  private readonly columnNames: string[];
  private transform: ZoomTransform = zoomIdentity;
  private colours: Palette | undefined;
  private ramp: Uint8Array = new Uint8Array();
  private spot: Spot = {};
  private steering: Steering = kUnsteered;
  private size = { width: 0, height: 0, unit: 1 }; // unit: pixels a cell at zoom 1
  private scheduled = 0;
  private moved = 0;

  constructor(map: AlignmentMap, pointed: (spot: Spot) => void) {
    this.levels = pyramid(map);
    this.rowNames = labels(map.rows);
    this.columnNames = labels(map.columns);
    const button = (text: string, name: string, work: () => void) =>
      el('button', { type: 'button', class: 'small', 'aria-label': name, onclick: (event: Event) => {
        event.stopPropagation();
        work();
      } }, text);
    this.element = el('div', { class: 'large-matrix' },
      el('div', { class: 'zoom' },
        button('+', 'Zoom in', () => this.zoomBy(1.6)),
        button('−', 'Zoom out', () => this.zoomBy(1 / 1.6)),
        button('Whole', 'Show the whole matrix', () => this.reset()),
        el('span', { class: 'note' }, `${map.rows.length} × ${map.columns.length} · drag to move, Ctrl and wheel or + and − to zoom`)),
      this.canvas);
    this.zoomer = zoom<HTMLCanvasElement, unknown>()
      .filter((event: MouseEvent & WheelEvent & TouchEvent) => {
        // A plain wheel or one finger scrolls the page, unless one is inside the matrix.
        if (event.type === 'wheel') return event.ctrlKey || document.activeElement?.contains(this.canvas) === true;
        if (event.type === 'touchstart') return event.touches.length > 1 || this.transform.k > 1;
        return !event.button;
      })
      .on('zoom', (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
        this.transform = event.transform;
        this.moved += 1;
        this.canvas.style.touchAction = this.transform.k > 1 ? 'none' : 'pan-y';
        this.schedule();
      });
    select(this.canvas).call(this.zoomer).on('dblclick.zoom', null);
    this.canvas.addEventListener('pointerdown', () => (this.moved = 0));
    this.canvas.addEventListener('pointermove', (event) => pointed(this.at(event.offsetX, event.offsetY)));
  }

  remove(): void {
    cancelAnimationFrame(this.scheduled);
    this.tiles.clear();
  }

  /** Whether the pointer went down and up without a drag between. */
  isClick(): boolean {
    return this.moved === 0;
  }

  paint(palette: Palette, width: number, steering: Steering): void {
    if (palette !== this.colours) {
      this.tiles.clear();
      this.ramp = rampBytes(palette);
      this.colours = palette;
    }
    this.steering = steering;
    const { rows, columns } = this.levels[0];
    const inner = Math.max(80, width - kLabelRoom);
    const unit = Math.min(inner / Math.max(1, columns), 640 / Math.max(1, rows), 24);
    this.size = { width, height: Math.max(60, Math.min(640, unit * rows)) + kLabelRoom, unit };
    const dense = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.size.width * dense);
    this.canvas.height = Math.round(this.size.height * dense);
    this.canvas.style.width = `${this.size.width}px`;
    this.canvas.style.height = `${this.size.height}px`;
    const extent: [[number, number], [number, number]] = [[kLabelRoom, kLabelRoom], [this.size.width, this.size.height]];
    this.zoomer
      .extent(extent)
      .translateExtent([[kLabelRoom, kLabelRoom], [kLabelRoom + Math.max(inner, unit * columns), Math.max(this.size.height, kLabelRoom + unit * rows)]])
      .scaleExtent([1, Math.max(1, 40 / unit)]);
    this.schedule();
  }

  mark(spot: Spot): void {
    this.spot = spot;
    this.schedule();
  }

  zoomBy(factor: number): void {
    const { row, column } = this.spot;
    const centre: [number, number] | undefined =
      row === undefined || column === undefined ? undefined : [this.x(column + 0.5), this.y(row + 0.5)];
    this.zoomer.scaleBy(select(this.canvas), factor, centre);
  }

  reset(): void {
    this.zoomer.transform(select(this.canvas), zoomIdentity);
  }

  /** Moves the view so that the spot is seen. */
  reveal({ row, column }: Spot): void {
    if (row === undefined || column === undefined) return;
    const x = this.x(column + 0.5);
    const y = this.y(row + 0.5);
    const inside = x > kLabelRoom && x < this.size.width && y > kLabelRoom && y < this.size.height;
    if (!inside) {
      const { unit } = this.size;
      this.zoomer.translateTo(select(this.canvas), kLabelRoom + (column + 0.5) * unit, kLabelRoom + (row + 0.5) * unit);
    }
  }

  private x(column: number): number {
    return this.transform.applyX(kLabelRoom + column * this.size.unit);
  }

  private y(row: number): number {
    return this.transform.applyY(kLabelRoom + row * this.size.unit);
  }

  private at(x: number, y: number): Spot {
    const column = Math.floor((this.transform.invertX(x) - kLabelRoom) / this.size.unit);
    const row = Math.floor((this.transform.invertY(y) - kLabelRoom) / this.size.unit);
    const { rows, columns } = this.levels[0];
    return {
      ...(y >= kLabelRoom && row >= 0 && row < rows ? { row } : {}),
      ...(x >= kLabelRoom && column >= 0 && column < columns ? { column } : {}),
    };
  }

  private schedule(): void {
    cancelAnimationFrame(this.scheduled);
    this.scheduled = requestAnimationFrame(() => this.draw());
  }

  private tile(level: number, tileRow: number, tileColumn: number): HTMLCanvasElement {
    const key = `${level}/${tileRow}/${tileColumn}`;
    let tile = this.tiles.get(key);
    if (tile) {
      this.tiles.delete(key);
    } else {
      const oldest = this.tiles.size >= kPool ? this.tiles.keys().next().value : undefined;
      tile = (oldest !== undefined && this.tiles.get(oldest)) || el('canvas', { width: kTile, height: kTile });
      if (oldest !== undefined) this.tiles.delete(oldest);
      this.fill(tile, this.levels[level], tileRow * kTile, tileColumn * kTile);
    }
    this.tiles.set(key, tile);
    return tile;
  }

  private fill(tile: HTMLCanvasElement, level: Level, top: number, left: number): void {
    const context = tile.getContext('2d');
    if (!context) return;
    const pixels = context.createImageData(kTile, kTile);
    const bottom = Math.min(level.rows, top + kTile);
    const right = Math.min(level.columns, left + kTile);
    for (let r = top; r < bottom; ++r) {
      for (let c = left; c < right; ++c) {
        const from = 3 * level.bytes[r * level.columns + c];
        const to = 4 * ((r - top) * kTile + c - left);
        pixels.data[to] = this.ramp[from];
        pixels.data[to + 1] = this.ramp[from + 1];
        pixels.data[to + 2] = this.ramp[from + 2];
        pixels.data[to + 3] = 255;
      }
    }
    context.putImageData(pixels, 0, 0);
  }

  private draw(): void {
    const context = this.canvas.getContext('2d');
    if (!context || !this.colours) return;
    const dense = window.devicePixelRatio || 1;
    const { width, height, unit } = this.size;
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, width, height);
    const pixels = unit * this.transform.k; // a cell now
    // The coarsest level whose blocks are still at most one device pixel.
    let level = 0;
    while (level + 1 < this.levels.length && pixels * dense * 2 ** (level + 1) <= 1.01) level += 1;
    const { rows, columns } = this.levels[level];
    const block = pixels * 2 ** level;
    const originX = this.x(0);
    const originY = this.y(0);
    context.save();
    context.beginPath();
    context.rect(kLabelRoom, kLabelRoom, width - kLabelRoom, height - kLabelRoom);
    context.clip();
    context.imageSmoothingEnabled = block * dense < 1;
    const first = (origin: number) => Math.max(0, Math.floor((kLabelRoom - origin) / (block * kTile)));
    for (let tr = first(originY); tr * kTile < rows && originY + tr * kTile * block < height; ++tr) {
      for (let tc = first(originX); tc * kTile < columns && originX + tc * kTile * block < width; ++tc) {
        const wide = Math.min(kTile, columns - tc * kTile);
        const high = Math.min(kTile, rows - tr * kTile);
        context.drawImage(this.tile(level, tr, tc), 0, 0, wide, high,
          originX + tc * kTile * block, originY + tr * kTile * block, wide * block, high * block);
      }
    }
    this.drawMarks(context, pixels);
    context.restore();
    this.drawLabels(context, pixels);
  }

  private drawMarks(context: CanvasRenderingContext2D, pixels: number): void {
    const { warn, accent } = this.colours as Palette;
    const { rows, columns } = this.levels[0];
    context.lineWidth = 2;
    context.strokeStyle = warn;
    for (const column of this.steering.forbidden) {
      context.strokeRect(this.x(column), this.y(0), pixels, rows * pixels);
    }
    for (const [row, column] of this.steering.forced) {
      context.strokeRect(this.x(column) - 1, this.y(row) - 1, pixels + 2, pixels + 2);
    }
    context.strokeStyle = accent;
    context.lineWidth = 1;
    const { row, column } = this.spot;
    if (row !== undefined) context.strokeRect(this.x(0), this.y(row) - 0.5, columns * pixels, pixels + 1);
    if (column !== undefined) context.strokeRect(this.x(column) - 0.5, this.y(0), pixels + 1, rows * pixels);
  }

  private drawLabels(context: CanvasRenderingContext2D, pixels: number): void {
    const { ink, accent } = this.colours as Palette;
    const { width, height } = this.size;
    const { rows, columns } = this.levels[0];
    const size = 12;
    // Where cells are too small for all labels, one in so many is written.
    const every = Math.max(1, Math.ceil((kLegible + 3) / pixels));
    context.font = `${size}px ${kFont}`;
    const write = (count: number, place: (index: number) => number, end: number, spot: number | undefined, put: (index: number, at: number) => void) => {
      const from = Math.max(0, Math.floor((kLabelRoom - place(0)) / pixels));
      for (let index = Math.ceil(from / every) * every; index < count; index += every) {
        const at = place(index + 0.5);
        if (at > end) break;
        const near = spot !== undefined && spot !== index && Math.abs(place(spot + 0.5) - at) < size;
        if (at < kLabelRoom || near) continue;
        context.fillStyle = index === spot ? accent : ink;
        put(index, at);
      }
      if (spot !== undefined && spot % every !== 0) {
        context.fillStyle = accent;
        put(spot, place(spot + 0.5));
      }
    };
    context.textAlign = 'right';
    write(rows, (row) => this.y(row), height, this.spot.row, (row, at) =>
      context.fillText(fitted(this.rowNames[row], size, kLabelRoom - 8), kLabelRoom - 6, at + size * 0.35));
    context.textAlign = 'left';
    write(columns, (column) => this.x(column), width, this.spot.column, (column, at) => {
      context.save();
      context.translate(at + size * 0.35, kLabelRoom - 6);
      context.rotate(-Math.PI / 2);
      context.fillText(fitted(this.columnNames[column], size, kLabelRoom - 8), 0, 0);
      context.restore();
    });
  }
}
