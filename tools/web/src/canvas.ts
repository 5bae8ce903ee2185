// A canvas of 64 × 64 grey bytes that one draws on with a pointer or with keys.

import { el, say } from './dom';
import { kDigitNames, kDigits } from './strokes';

export const kSize = 64;
const kShown = 4; // pixels on the screen for one of the canvas, before it is fitted
const kPen = 2.6; // pixels of the canvas, as wide as the strokes of the digits learnt from
const kDigitHeight = 19;

export class Pad {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly ink: HTMLCanvasElement; // what was drawn, without the cursor
  private readonly pen: CanvasRenderingContext2D;
  private cursor = { x: 32, y: 32 };
  private down = false;
  private last: { x: number; y: number } | undefined;

  constructor(private readonly changed: () => void) {
    this.ink = el('canvas', { width: kSize, height: kSize });
    const pen = this.ink.getContext('2d', { willReadFrequently: true });
    if (!pen) throw new Error('this browser has no canvas');
    this.pen = pen;
    this.canvas = el('canvas', {
      class: 'pad',
      width: kSize * kShown,
      height: kSize * kShown,
      tabindex: 0,
      role: 'application',
      'aria-label': 'Canvas. Arrow keys move the pen, Space puts it down or lifts it, a digit key writes that digit at the pen, Delete clears.',
      onkeydown: (event: KeyboardEvent) => this.key(event),
      onfocus: () => this.paint(),
      onblur: () => this.paint(),
    });
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.last = this.place(event);
      this.strokeTo(this.last);
    });
    this.canvas.addEventListener('pointermove', (event) => {
      if (this.last) this.strokeTo(this.place(event));
    });
    const up = () => {
      if (!this.last) return;
      this.last = undefined;
      this.changed();
    };
    this.canvas.addEventListener('pointerup', up);
    this.canvas.addEventListener('pointercancel', up);
    this.element = this.canvas;
    this.clear();
  }

  clear(): void {
    this.pen.fillStyle = '#000000';
    this.pen.fillRect(0, 0, kSize, kSize);
    this.paint();
  }

  get empty(): boolean {
    return this.pixels().every((byte) => byte === 0);
  }

  pixels(): Uint8Array {
    const { data } = this.pen.getImageData(0, 0, kSize, kSize);
    return Uint8Array.from({ length: kSize * kSize }, (_, at) => data[4 * at]);
  }

  base64(): string {
    return btoa(String.fromCharCode(...this.pixels()));
  }

  /** Writes a digit with its middle at x, y. */
  stamp(digit: number, x: number, y: number, height = kDigitHeight): void {
    const scale = height / 14;
    this.prepare();
    for (const stroke of kDigits[digit]) {
      this.pen.beginPath();
      for (const [px, py] of stroke) this.pen.lineTo(x + (px - 5) * scale, y + (py - 7) * scale);
      this.pen.stroke();
    }
    this.paint();
  }

  /** Two digits side by side or one above the other, at random. */
  sample(): string {
    const pick = (count: number) => Math.floor(Math.random() * count);
    const near = (at: number) => at + pick(7) - 3;
    const digits = [pick(10), pick(10)];
    const beside = pick(2) === 0;
    this.clear();
    this.stamp(digits[0], near(beside ? 17 : 32), near(beside ? 32 : 17));
    this.stamp(digits[1], near(beside ? 47 : 32), near(beside ? 32 : 47));
    return `${kDigitNames[digits[0]]} ${beside ? 'left of' : 'above'} ${kDigitNames[digits[1]]}`;
  }

  private prepare(): void {
    this.pen.strokeStyle = '#ffffff';
    this.pen.lineWidth = kPen;
    this.pen.lineCap = 'round';
    this.pen.lineJoin = 'round';
  }

  private place(event: PointerEvent): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    return { x: ((event.clientX - box.left) / box.width) * kSize, y: ((event.clientY - box.top) / box.height) * kSize };
  }

  private strokeTo(to: { x: number; y: number }): void {
    const from = this.last ?? to;
    this.prepare();
    this.pen.beginPath();
    this.pen.moveTo(from.x, from.y);
    this.pen.lineTo(to.x, to.y);
    this.pen.stroke();
    this.last = to;
    this.cursor = to;
    this.paint();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 8 : 2;
    const moves: Record<string, [number, number]> = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    const move = moves[event.key];
    if (move) {
      const clamp = (value: number) => Math.max(2, Math.min(kSize - 2, value));
      const to = { x: clamp(this.cursor.x + move[0]), y: clamp(this.cursor.y + move[1]) };
      if (this.down) {
        this.last = this.cursor;
        this.strokeTo(to);
        this.last = undefined;
        this.changed();
      }
      this.cursor = to;
      say(`Pen at ${Math.round(to.x)} across, ${Math.round(to.y)} down`);
    } else if (event.key === ' ') {
      this.down = !this.down;
      say(this.down ? 'Pen down' : 'Pen up');
    } else if (/^[0-9]$/.test(event.key)) {
      this.stamp(Number(event.key), this.cursor.x, this.cursor.y);
      say(`Wrote ${kDigitNames[Number(event.key)]}`);
      this.changed();
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      this.clear();
      say('Cleared');
      this.changed();
    } else {
      return;
    }
    event.preventDefault();
    this.paint();
  }

  private paint(): void {
    const context = this.canvas.getContext('2d');
    if (!context) return;
    context.imageSmoothingEnabled = false;
    context.drawImage(this.ink, 0, 0, this.canvas.width, this.canvas.height);
    if (document.activeElement !== this.canvas || this.last) return;
    context.strokeStyle = this.down ? '#ffb347' : '#7fb2ef';
    context.lineWidth = 2;
    context.beginPath();
    context.arc(this.cursor.x * kShown, this.cursor.y * kShown, 7, 0, 2 * Math.PI);
    context.stroke();
  }
}
