// Clip: pictures of the reader's own, or a GIF, and what a task says is done in them. The browser
// makes them few and small; the server gets pixels, no files.

import type { Info, Task } from './contract';
import { el } from './dom';
import { frame } from './figure';
import { MapView } from './map_view';
import { notices } from './notices';
import { base64 } from './picture_section';
import * as server from './server';

const kFrames = 8; // the net sees so many
const kSide = 72;
const kMostFiles = 2000;

interface Decoder {
  tracks: { ready: Promise<void>; selectedTrack: { frameCount: number } | null };
  decode: (options: { frameIndex: number }) => Promise<{ image: CanvasImageSource & { displayWidth: number; displayHeight: number; close: () => void } }>;
}

/** The tasks that read frames. */
export function clipTasks(info: Info): Task[] {
  return info.tasks.filter((task) => task.models.length > 0 && (task.fields ?? []).includes('frames'));
}

/** Eight of so many, as evenly as there are. */
function chosen(count: number): number[] {
  return Array.from({ length: Math.min(kFrames, count) }, (_, index) => Math.floor((index * count) / Math.min(kFrames, count)));
}

function pixelsOf(image: CanvasImageSource, wide: number, high: number): { width: number; height: number; channels: 3; pixels: string } {
  const scale = Math.min(1, kSide / Math.max(wide, high));
  const width = Math.max(1, Math.round(wide * scale));
  const height = Math.max(1, Math.round(high * scale));
  const canvas = el('canvas', { width, height });
  const context = canvas.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
  context.fillStyle = '#ffffff'; // what is transparent lies over white
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, width, height);
  const { data } = context.getImageData(0, 0, width, height);
  const pixels = new Uint8Array(3 * width * height);
  for (let at = 0; at < width * height; ++at) pixels.set(data.subarray(4 * at, 4 * at + 3), 3 * at);
  return { width, height, channels: 3, pixels: base64(pixels) };
}

/** The frames of a GIF, where this browser can take them apart; else its first one. */
async function framesOf(file: File): Promise<ReturnType<typeof pixelsOf>[]> {
  const Film = (globalThis as { ImageDecoder?: new (from: { data: ArrayBuffer; type: string }) => Decoder }).ImageDecoder;
  if (file.type === 'image/gif' && Film) {
    const film = new Film({ data: await file.arrayBuffer(), type: file.type });
    await film.tracks.ready;
    const all = [];
    for (const frameIndex of chosen(film.tracks.selectedTrack?.frameCount ?? 1)) {
      const { image } = await film.decode({ frameIndex });
      all.push(pixelsOf(image, image.displayWidth, image.displayHeight));
      image.close();
    }
    return all;
  }
  const image = await createImageBitmap(file);
  const one = pixelsOf(image, image.width, image.height);
  image.close();
  return [one];
}

export class ClipSection {
  readonly element: HTMLElement;
  private readonly status = el('div', { class: 'status', role: 'status' });
  private readonly text = el('p', { class: 'answer', 'aria-live': 'polite' });
  private readonly likely = el('p', { class: 'note facts' });
  private readonly notices = el('div', { class: 'notices', role: 'status' });
  private readonly view = new MapView();
  private readonly figure = frame('Where it looked', 'clip', this.view.element, () => this.view.saved());
  private readonly result = el('div', { class: 'result', hidden: true }, this.text, this.likely, this.notices, this.figure.element);
  private flight: AbortController | undefined;

  constructor(private readonly task: Task) {
    const file = el('input', { type: 'file', accept: 'image/*', multiple: true, 'aria-label': 'A clip of yours', onchange: () => {
      void this.take(Array.from(file.files ?? []));
    } });
    this.element = el('section', { id: 'clip', 'aria-labelledby': 'clip-title' },
      el('h2', { id: 'clip-title' }, 'Clip'),
      el('p', { class: 'note' }, `${task.about.charAt(0).toUpperCase()}${task.about.slice(1)}. Choose a GIF, or several pictures, which are frames in the order of their names.`),
      file, this.status, this.result);
  }

  private tell(kind: string, text: string): void {
    this.status.className = `status ${kind}`;
    this.status.textContent = text;
  }

  private async take(files: File[]): Promise<void> {
    if (files.length === 0) return;
    if (files.length > kMostFiles) {
      this.tell('error', `${files.length} files were chosen; at most ${kMostFiles} are frames of a clip.`);
      return;
    }
    this.flight?.abort();
    const flight = new AbortController();
    this.flight = flight;
    this.tell('loading', 'The model is watching…');
    try {
      const order = [...files].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
      const frames = [];
      for (const at of order.length === 1 ? [0] : chosen(order.length)) {
        try {
          frames.push(...(await framesOf(order[at])));
        } catch {
          throw new Error(`${order[at].name} is no picture that this browser can read`);
        }
      }
      const reply = await server.answer({ task: this.task.name, model: this.task.models[0].name, frames }, flight.signal);
      if (this.flight !== flight) return;
      this.tell('', '');
      this.text.textContent = reply.text ?? '';
      this.likely.textContent = (reply.output?.labels ?? []).slice(0, 5).map(({ name, score }) => `${name} ${Math.round(100 * score)} %`).join(' · ');
      this.notices.replaceChildren(...notices(reply));
      this.figure.element.hidden = !reply.map;
      this.result.hidden = false;
      if (reply.map) {
        this.figure.caption(reply.map.caption);
        this.view.show(reply.map);
      }
    } catch (error) {
      if (this.flight === flight) this.tell('error', `That did not work: ${(error as Error).message}.`.replace('..', '.'));
    }
  }
}
