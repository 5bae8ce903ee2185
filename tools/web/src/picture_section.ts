// Picture: one of the reader's own, dropped or chosen, and what a task says of it. The browser
// reads the file and makes it small; the server gets pixels, no file.

import type { Info, Question, Task } from './contract';
import { choice, el, fillChoice, newId } from './dom';
import { frame } from './figure';
import { MapView } from './map_view';
import { notices } from './notices';
import * as server from './server';

const kMostSide = 256; // models read less
const kMostBytes = 64 * 2 ** 20; // of a file
const kRest = 4096; // bytes of a request beside its pixels

/** The tasks that read a picture. */
export function pictureTasks(info: Info): Task[] {
  return info.tasks.filter((task) => task.models.length > 0 && (task.fields ?? []).includes('picture'));
}

/** The longest side that fits into a request, three bytes a pixel in base64. */
export function longestSide(bodyBytes: number): number {
  return Math.max(16, Math.min(kMostSide, Math.floor(Math.sqrt(((bodyBytes - kRest) * 3) / 4 / 3))));
}

export function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

export class PictureSection {
  readonly element: HTMLElement;
  private readonly side: number;
  private readonly canvas = el('canvas', { width: 16, height: 16, role: 'img', 'aria-label': 'Your picture; drop another one here' });
  private readonly file: HTMLInputElement;
  private readonly tasks: { field: HTMLElement; select: HTMLSelectElement };
  private readonly models: { field: HTMLElement; select: HTMLSelectElement };
  private readonly question: HTMLInputElement;
  private readonly questionField: HTMLElement;
  private readonly status = el('div', { class: 'status', role: 'status' });
  private readonly text = el('p', { class: 'answer', dir: 'auto', 'aria-live': 'polite' });
  private readonly likely = el('p', { class: 'note facts' });
  private readonly notices = el('div', { class: 'notices', role: 'status' });
  private readonly view = new MapView();
  private readonly figure = frame('Where it looked', 'picture', this.view.element, () => this.view.saved());
  private readonly result: HTMLElement;
  private task: Task;
  private picture: Question['picture'];
  private flight: AbortController | undefined;

  constructor(info: Info, private readonly known: Task[]) {
    this.task = known[0];
    this.side = longestSide(info.limits?.body_bytes ?? 256 << 10);
    this.tasks = choice('What to do', known.map((task) => ({ value: task.name, text: task.name })), (name) => {
      this.choose(name);
      this.ask();
    });
    this.models = choice('Its model', [], () => this.ask());
    const id = newId('question');
    this.question = el('input', { id, type: 'text', dir: 'auto' });
    this.questionField = el('div', { class: 'field words' }, el('label', { for: id }, 'Question'), this.question);
    this.file = el('input', { type: 'file', accept: 'image/*', 'aria-label': 'A picture of yours', onchange: () => {
      const file = this.file.files?.[0];
      if (file) void this.take(file);
    } });
    this.canvas.hidden = true;
    const drop = el('div', { class: 'drop' }, this.canvas, this.file,
      el('p', { class: 'note' }, `Drop a picture here or choose a file. It is made at most ${this.side} pixels wide and high in this browser, and only its pixels are sent to your server.`));
    drop.addEventListener('dragover', (event) => event.preventDefault());
    drop.addEventListener('drop', (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void this.take(file);
    });
    this.result = el('div', { class: 'result', hidden: true }, this.text, this.likely, this.notices, this.figure.element);
    this.element = el('section', { id: 'picture', 'aria-labelledby': 'picture-title' },
      el('h2', { id: 'picture-title' }, 'Picture'),
      el('div', { class: 'draw' }, drop,
        el('form', { class: 'draw-side', onsubmit: (event: Event) => {
          event.preventDefault();
          this.ask();
        } },
          this.tasks.field, this.models.field, this.questionField,
          el('button', { type: 'submit', class: 'primary' }, 'Look'), this.status)),
      this.result);
    this.choose(this.task.name);
  }

  private choose(name: string): void {
    this.task = this.known.find((task) => task.name === name) ?? this.task;
    fillChoice(this.models.select, this.task.models.map((model) => ({ value: model.name, text: `${model.name} · ${model.kind}` })));
    this.questionField.hidden = !(this.task.fields ?? []).includes('question');
    this.question.value = this.task.example;
    this.result.hidden = true;
  }

  private tell(kind: string, text: string): void {
    this.status.className = `status ${kind}`;
    this.status.textContent = text;
  }

  private async take(file: File): Promise<void> {
    if (file.size > kMostBytes) {
      this.tell('error', `${file.name} has ${Math.ceil(file.size / 2 ** 20)} MiB; at most ${kMostBytes / 2 ** 20} MiB are read.`);
      return;
    }
    let image: ImageBitmap;
    try {
      image = await createImageBitmap(file);
    } catch {
      this.tell('error', `${file.name} is no picture that this browser can read.`);
      return;
    }
    const scale = Math.min(1, this.side / Math.max(image.width, image.height));
    const width = Math.max(1, Math.round(image.width * scale));
    const height = Math.max(1, Math.round(image.height * scale));
    this.canvas.width = width;
    this.canvas.height = height;
    this.canvas.hidden = false;
    const context = this.canvas.getContext('2d', { willReadFrequently: true });
    if (!context) return;
    context.fillStyle = '#ffffff'; // what is transparent lies over white
    context.fillRect(0, 0, width, height);
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
    image.close();
    const { data } = context.getImageData(0, 0, width, height);
    const pixels = new Uint8Array(3 * width * height);
    for (let at = 0; at < width * height; ++at) pixels.set(data.subarray(4 * at, 4 * at + 3), 3 * at);
    this.picture = { width, height, channels: 3, pixels: base64(pixels) };
    this.ask();
  }

  private ask(): void {
    this.flight?.abort();
    if (!this.picture) {
      this.tell('empty', 'Choose a picture first.');
      return;
    }
    const question = this.question.value.trim();
    if (!this.questionField.hidden && question === '') {
      this.tell('empty', 'Type a question.');
      return;
    }
    const flight = new AbortController();
    this.flight = flight;
    this.tell('loading', 'The model is looking…');
    server.answer({
      task: this.task.name,
      model: this.models.select.value,
      picture: this.picture,
      ...(this.questionField.hidden ? {} : { question }),
    }, flight.signal).then(
      (reply) => {
        if (this.flight !== flight) return;
        this.tell('', '');
        this.text.textContent = reply.text || '(no words)';
        this.likely.textContent = (reply.output?.labels ?? []).slice(0, 5).map(({ name, score }) => `${name} ${Math.round(100 * score)} %`).join(' · ');
        this.notices.replaceChildren(...notices(reply));
        this.figure.element.hidden = !reply.map;
        if (reply.map) {
          this.figure.caption(reply.map.caption);
          this.view.show(reply.map);
        }
        this.result.hidden = false;
      },
      (error: Error) => {
        if (this.flight !== flight) return;
        this.tell('error', `That did not work: ${error.message}.`.replace('..', '.'));
      },
    );
  }
}
