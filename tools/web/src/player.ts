// Notes become sound in the browser: a Play button for what was composed. The page may load
// nothing but what is served, so nothing is loaded: tones are made here.

import type { Reply } from './contract';
import { el } from './dom';

const kLoudness = 0.16;
const kSwell = 0.012; // seconds
const kFade = 0.08;

interface Tone {
  begin: number; // seconds
  length: number;
  hertz: number;
}

/** The notes of an answer's output, in seconds; undefined where it is none. */
export function tonesOf(reply: Reply): Tone[] | undefined {
  const { columns, rows } = reply.output ?? {};
  if (!columns || !rows) return undefined;
  const [begin, length, pitch] = ['begin', 'length', 'pitch'].map((name) => columns.indexOf(name));
  if (begin < 0 || length < 0 || pitch < 0) return undefined;
  const second = (reply.numbers?.tempo?.[0] ?? 100) / 60; // quarters
  return rows.map((row) => ({
    begin: Number(row[begin]) / second,
    length: Number(row[length]) / second,
    hertz: 440 * 2 ** ((Number(row[pitch]) - 69) / 12),
  })).filter((tone) => [tone.begin, tone.length, tone.hertz].every(Number.isFinite));
}

export class Player {
  readonly element = el('button', { type: 'button', class: 'small play', hidden: true, onclick: () => this.toggle() }, 'Play');
  private tones: Tone[] = [];
  private context: AudioContext | undefined;

  show(reply: Reply): void {
    this.stop();
    this.tones = tonesOf(reply) ?? [];
    this.element.hidden = this.tones.length === 0;
  }

  private toggle(): void {
    if (this.context) this.stop();
    else this.play();
  }

  private stop(): void {
    void this.context?.close();
    this.context = undefined;
    this.element.textContent = 'Play';
  }

  private play(): void {
    const context = new AudioContext();
    this.context = context;
    this.element.textContent = 'Stop';
    const harmonics = Float32Array.from({ length: 9 }, (_, h) => (h === 0 ? 0 : h ** -1.5));
    const wave = context.createPeriodicWave(new Float32Array(9), harmonics);
    const from = context.currentTime + 0.1;
    let end = from;
    for (const tone of this.tones) {
      const begin = from + tone.begin;
      const gone = begin + tone.length + kFade;
      end = Math.max(end, gone);
      const loud = context.createGain();
      loud.gain.setValueAtTime(0, begin);
      loud.gain.linearRampToValueAtTime(kLoudness, begin + kSwell);
      loud.gain.setTargetAtTime(0, begin + kSwell, 0.9);
      loud.gain.setTargetAtTime(0, begin + tone.length, kFade / 4);
      const voice = context.createOscillator();
      voice.setPeriodicWave(wave);
      voice.frequency.value = tone.hertz;
      voice.connect(loud).connect(context.destination);
      voice.start(begin);
      voice.stop(gone);
    }
    window.setTimeout(() => {
      if (this.context === context) this.stop();
    }, 1000 * (end - context.currentTime + 0.2));
  }
}
