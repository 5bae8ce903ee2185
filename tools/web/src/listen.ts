// Listen: speech from the microphone or from a file becomes words with their times, and a map of
// where in the sound each was heard.

import type { Info, SpokenWord, Task, Transcript } from './contract';
import { choice, el, fillChoice, newId } from './dom';
import { frame } from './figure';
import { MapView } from './map_view';
import { notices } from './notices';
import * as server from './server';
import { base64, decoded, kRate, noMicrophone, play, Recorder, secondsIn, wavFile } from './sound';
import { spokenWords } from './spoken_words';

const kLargestFile = 256 * 1024 * 1024; // that is decoded here

/** The task that reads a sound; undefined: this server has none. */
export function soundTask(info: Info): Task | undefined {
  return info.tasks.find((task) => (task.fields ?? []).includes('sound'));
}

export class Listen {
  readonly element: HTMLElement;
  private readonly status = el('div', { class: 'status', role: 'status' });
  private readonly text = el('p', { class: 'answer', dir: 'auto', 'aria-live': 'polite' });
  private readonly notices = el('div', { class: 'notices', role: 'status' });
  private readonly facts = el('p', { class: 'note facts' });
  private readonly words = el('div');
  private readonly view = new MapView();
  private readonly figure = frame('Where in the sound each word was heard', 'speech', this.view.element, () => this.view.saved());
  private readonly result = el('div', { class: 'result', hidden: true },
    el('div', { class: 'answer-box' }, this.text, this.notices, this.facts), this.words, this.figure.element);
  private readonly models: { field: HTMLElement; select: HTMLSelectElement };
  private readonly record: HTMLButtonElement;
  private readonly level = el('meter', { class: 'level', min: 0, max: 1, 'aria-label': 'How loud it is', hidden: true });
  private readonly seconds: number; // of sound that a request may hold
  private recorder: Recorder | undefined;
  private clock: ReturnType<typeof setInterval> | undefined;
  private samples: Float32Array<ArrayBuffer> | undefined;
  private flight: AbortController | undefined;

  constructor(private readonly task: Task) {
    this.seconds = secondsIn(task.input_bytes || 2 ** 21);
    this.models = choice('Speech model', [], () => {
      if (this.samples) this.ask(this.samples);
    });
    fillChoice(this.models.select, task.models.map(({ name, kind, parameters }) => ({ value: name, text: `${name} · ${kind}, ${(parameters / 1e6).toFixed(0)} M` })));
    this.record = el('button', { type: 'button', class: 'primary record', 'aria-pressed': 'false', onclick: () => void this.toggle() }, 'Record');
    const id = newId('sound');
    const input = el('input', { type: 'file', id, accept: 'audio/*,.wav,.flac,.ogg,.mp3,.m4a', onchange: () => {
      const file = input.files?.[0];
      if (file) void this.open(file);
    } });
    const silent = noMicrophone();
    this.record.disabled = silent !== undefined;
    const form = el('div', { class: 'listen' },
      this.models.field,
      el('div', { class: 'row' }, this.record, this.level),
      el('div', { class: 'field' }, el('label', { for: id }, 'Or a sound file; it may be dropped here'), input));
    form.addEventListener('dragover', (event) => {
      event.preventDefault();
      form.classList.add('over');
    });
    form.addEventListener('dragleave', () => form.classList.remove('over'));
    form.addEventListener('drop', (event) => {
      event.preventDefault();
      form.classList.remove('over');
      const file = event.dataTransfer?.files[0];
      if (file) void this.open(file);
    });
    const missing = task.models.length === 0;
    this.element = el('section', { id: 'listen', 'aria-labelledby': 'listen-title' },
      el('h2', { id: 'listen-title' }, 'Listen'),
      el('p', { class: 'note' }, `Say something in English, up to ${this.seconds} s. Your browser makes it small, your server writes it down, and nobody else gets it.`),
      ...(missing ? [] : [form]),
      ...(silent && !missing ? [el('p', { class: 'note' }, silent)] : []),
      this.status, this.result);
    if (missing) this.tell('empty', `The speech models are not on this server: ${task.missing || 'they were not loaded'}. Or: attn serve --fetch`);
  }

  private tell(kind: string, text: string): void {
    this.status.className = `status ${kind}`;
    this.status.textContent = text;
  }

  private refuse(error: unknown): void {
    this.tell('error', `That did not work: ${(error as Error).message}.`.replace('..', '.'));
  }

  private async toggle(): Promise<void> {
    if (this.recorder) await this.stop();
    else await this.start();
  }

  private async start(): Promise<void> {
    this.flight?.abort();
    const recorder = new Recorder();
    this.recorder = recorder;
    this.tell('loading', 'Waiting for the microphone…');
    try {
      await recorder.start((loudness) => (this.level.value = loudness));
    } catch (error) {
      this.recorder = undefined;
      this.refuse(error);
      return;
    }
    this.record.textContent = 'Stop';
    this.record.setAttribute('aria-pressed', 'true');
    this.level.hidden = false;
    const begin = Date.now();
    const told = () => {
      const seconds = Math.floor((Date.now() - begin) / 1000);
      this.tell('loading', `Recording: ${seconds} s of ${this.seconds}`);
      if (seconds >= this.seconds) void this.stop();
    };
    told();
    this.clock = setInterval(told, 250);
  }

  private async stop(): Promise<void> {
    const recorder = this.recorder;
    if (!recorder) return;
    this.recorder = undefined;
    clearInterval(this.clock);
    this.record.textContent = 'Record';
    this.record.setAttribute('aria-pressed', 'false');
    this.level.hidden = true;
    this.tell('loading', 'The recording is being read…');
    try {
      this.take(await decoded(await recorder.stop()));
    } catch (error) {
      this.refuse(error);
    }
  }

  private async open(file: File): Promise<void> {
    this.flight?.abort();
    this.tell('loading', `${file.name} is being read…`);
    try {
      if (file.size > kLargestFile) throw new Error(`${file.name} is larger than 256 MiB; attn ${this.task.name} FILE reads it`);
      this.take(await decoded(await file.arrayBuffer()));
    } catch (error) {
      this.refuse(error);
    }
  }

  private take(samples: Float32Array<ArrayBuffer>): void {
    if (samples.length === 0) throw new Error('there is no sound in it');
    this.samples = samples;
    this.ask(samples);
  }

  private ask(samples: Float32Array<ArrayBuffer>): void {
    this.flight?.abort();
    const flight = new AbortController();
    this.flight = flight;
    const heard = samples.subarray(0, this.seconds * kRate);
    this.tell('loading', 'The model is listening…');
    this.result.setAttribute('aria-busy', 'true');
    server.transcribe(this.task.name, base64(wavFile(heard)), this.models.select.value, flight.signal).then(
      (transcript) => {
        if (this.flight !== flight) return;
        this.result.removeAttribute('aria-busy');
        this.tell('', '');
        this.show(transcript, samples);
      },
      (error: Error) => {
        if (this.flight !== flight) return;
        this.result.removeAttribute('aria-busy');
        this.refuse(error);
      },
    );
  }

  private show(transcript: Transcript, samples: Float32Array<ArrayBuffer>): void {
    const notes = [...transcript.notes];
    const seconds = samples.length / kRate;
    if (seconds > this.seconds) notes.push(`The sound lasts ${seconds.toFixed(0)} s; its first ${this.seconds} s were sent. attn ${this.task.name} FILE reads all of it.`);
    this.text.textContent = transcript.text || '(no words)';
    this.notices.replaceChildren(...notices({ notes }));
    this.facts.textContent = [`${transcript.words.length} words`, `${transcript.seconds.toFixed(1)} s of sound`,
      ...(transcript.milliseconds === undefined ? [] : [`${transcript.milliseconds.toFixed(0)} ms`])].join(' · ');
    this.words.replaceChildren(spokenWords(transcript.words, (word: SpokenWord) => play(samples, word.begin, word.end)));
    this.result.hidden = false;
    this.figure.element.hidden = transcript.map.words.length === 0;
    this.figure.caption(transcript.map.caption);
    this.view.show(transcript.map);
  }
}
