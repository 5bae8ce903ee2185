// Draw: a canvas with digits, what models say of it, and where they looked.

import { kSize, Pad } from './canvas';
import type { ImageMap } from './contract';
import { debounced, el, segments } from './dom';
import { frame } from './figure';
import { drawImage, imagePanels } from './figures/image';
import * as server from './server';

/** Not a caption, but one digit, recognised glimpse by glimpse. */
const kGlimpses = 'glimpses';
/** The upper half of a large digit, whose lower half is painted. */
const kPaint = 'paint';

export class Draw {
  readonly element: HTMLElement;
  private readonly pad: Pad;
  private readonly status = el('div', { class: 'status', role: 'status' });
  private readonly text = el('p', { class: 'answer', dir: 'auto', 'aria-live': 'polite' });
  private readonly panels = el('div');
  private readonly result: HTMLElement;
  private attention = 'soft';
  private map: ImageMap | undefined;
  private flight: AbortController | undefined;

  constructor() {
    const soon = debounced(250, () => this.ask());
    this.pad = new Pad(soon);
    const figure = frame('Where each word looked', 'caption', this.panels, () => {
      const map = this.map;
      return map && { map, draw: (look) => drawImage(map, look).node() as SVGSVGElement };
    });
    figure.caption('The brighter a place, the more the word looked at it.');
    this.result = el('div', { class: 'result', hidden: true }, this.text, figure.element);
    this.element = el('section', { id: 'draw', 'aria-labelledby': 'draw-title' },
      el('h2', { id: 'draw-title' }, 'Draw'),
      el('p', { class: 'note' }, 'Write one, two or three digits on the canvas; a small model that reads images says what it sees. Glimpses recognise one digit; the upper half of one that fills the canvas is painted on.'),
      el('div', { class: 'draw' },
        this.pad.element,
        el('div', { class: 'draw-side' },
          segments('Attention', [{ value: 'soft', text: 'soft' }, { value: 'hard', text: 'hard' }, { value: kGlimpses, text: 'glimpses' }, { value: kPaint, text: 'paint on' }], 'soft', (value) => {
            this.attention = value;
            this.ask();
          }),
          el('div', { class: 'row' },
            el('button', { type: 'button', class: 'primary', onclick: () => this.ask() }, 'Describe'),
            el('button', { type: 'button', onclick: () => {
              this.pad.sample();
              this.ask();
            } }, 'Sample'),
            el('button', { type: 'button', onclick: () => {
              this.pad.clear();
              this.result.hidden = true;
              this.tell('', '');
            } }, 'Clear')),
          el('p', { class: 'note' }, 'With keys: arrows move the pen, Space puts it down, 0 to 9 write a digit, Delete clears.'),
          this.status)),
      this.result);
  }

  private tell(kind: string, text: string): void {
    this.status.className = `status ${kind}`;
    this.status.textContent = text;
  }

  private ask(): void {
    this.flight?.abort();
    if (this.pad.empty) {
      this.tell('empty', 'The canvas is empty: draw something, or take a sample.');
      this.result.hidden = true;
      return;
    }
    const flight = new AbortController();
    this.flight = flight;
    this.tell('loading', 'The model is looking…');
    const task = this.attention === kGlimpses ? 'look' : this.attention === kPaint ? 'paint' : 'caption';
    const asked = task !== 'caption'
      ? server.picture(task, { width: kSize, height: kSize, channels: 1, pixels: this.pad.base64() }, flight.signal)
      : server.caption(this.pad.base64(), this.attention, flight.signal);
    asked.then(
      (caption) => {
        if (this.flight !== flight) return;
        this.tell('', '');
        this.map = caption.map;
        this.text.textContent = caption.text || '(no words)';
        this.text.classList.toggle('lines', caption.text.includes('\n'));
        this.panels.replaceChildren(imagePanels(caption.map));
        this.result.hidden = false;
      },
      (error: Error) => {
        if (this.flight !== flight) return;
        const missing = error instanceof server.Refused && error.status === 404;
        this.tell('error', missing ? `This server has no ${task} model.` : `That did not work: ${error.message}.`);
      },
    );
  }
}
