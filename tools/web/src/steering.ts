// What the reader changes before the model answers again: temperature, forbidden and forced.

import type { Question } from './contract';
import { el, slider } from './dom';
import type { Steering } from './looking';
import { labels, quoted } from './words';

export interface Force {
  step: number;
  position: number;
}

/** The part of a text that is seen: how many tokens lie before it, and its own. */
export interface Seen {
  offset: number;
  tokens: string[];
}

/** Positions count over the whole text; views of a piece count from its beginning. */
export class SteeringPanel {
  readonly element: HTMLElement;
  private forbidden: number[] = [];
  private forced: Force[] = [];
  private temperature = 1;
  private seen: Seen = { offset: 0, tokens: [] };
  private readonly chips = el('ul', { class: 'chips', 'aria-label': 'Your changes' });
  private readonly reset: HTMLButtonElement;
  private readonly heat;

  constructor(private readonly changed: (soon: boolean) => void) {
    // The slider is even in the logarithm: 0.1 to 10, with 1 in the middle.
    this.heat = slider('Attention temperature', { min: -1, max: 1, step: 0.05, value: 0 }, (value) => {
      const temperature = 10 ** value;
      return `${temperature.toFixed(temperature < 1 ? 2 : 1)}${value === 0 ? ', as trained' : ''}`;
    }, (value) => {
      this.temperature = value === 0 ? 1 : 10 ** value;
      this.changed(true);
    });
    this.heat.field.title = 'Scores are divided by it: below 1 attention is sharper, above 1 more even';
    this.reset = el('button', { type: 'button', class: 'reset', onclick: () => {
      this.clear();
      this.changed(false);
    } }, 'Reset');
    this.element = el('div', { class: 'steering' }, this.heat.field,
      el('div', { class: 'changes' }, this.chips, this.reset));
    this.show({ offset: 0, tokens: [] });
  }

  get active(): boolean {
    return this.temperature !== 1 || this.forbidden.length > 0 || this.forced.length > 0;
  }

  clear(): void {
    this.set({});
  }

  /** What a link says. */
  set({ attention_temperature: temperature = 1, forbid = [], force = [] }: Pick<Question, 'attention_temperature' | 'forbid' | 'force'>): void {
    this.temperature = temperature;
    this.heat.input.value = String(Math.log10(temperature));
    this.heat.refresh();
    this.forbidden = [...forbid];
    this.forced = [...force];
    this.show(this.seen);
  }

  toggleForbidden(column: number): void {
    const at = column + this.seen.offset;
    if (this.forbidden.includes(at)) {
      this.forbidden = this.forbidden.filter((one) => one !== at);
    } else {
      this.forbidden.push(at);
      // A step cannot be forced to look where nobody may.
      this.forced = this.forced.filter((one) => one.position !== at);
    }
    this.changed(false);
  }

  toggleForced(row: number, column: number): void {
    const position = column + this.seen.offset;
    const before = this.forced.find((one) => one.step === row && this.inside(one.position));
    this.forced = this.forced.filter((one) => one !== before);
    if (before?.position !== position) {
      this.forced.push({ step: row, position });
      this.forbidden = this.forbidden.filter((one) => one !== position);
    }
    this.changed(false);
  }

  asked(): Pick<Question, 'attention_temperature' | 'forbid' | 'force'> {
    return {
      ...(this.temperature === 1 ? {} : { attention_temperature: this.temperature }),
      ...(this.forbidden.length === 0 ? {} : { forbid: [...this.forbidden].sort((a, b) => a - b) }),
      ...(this.forced.length === 0 ? {} : { force: this.forced.map((one) => ({ ...one })) }),
    };
  }

  /** The same for the piece that is seen alone. */
  askedHere(): Pick<Question, 'attention_temperature' | 'forbid' | 'force'> {
    const { forbidden, forced } = this.here();
    return {
      ...(this.temperature === 1 ? {} : { attention_temperature: this.temperature }),
      ...(forbidden.size === 0 ? {} : { forbid: [...forbidden].sort((a, b) => a - b) }),
      ...(forced.size === 0 ? {} : { force: [...forced].map(([step, position]) => ({ step, position })) }),
    };
  }

  /** As the drawings of the piece take it. */
  here(): Steering {
    const { offset } = this.seen;
    return {
      forbidden: new Set(this.forbidden.filter((at) => this.inside(at)).map((at) => at - offset)),
      forced: new Map(this.forced.filter((one) => this.inside(one.position)).map((one) => [one.step, one.position - offset])),
    };
  }

  private inside(position: number): boolean {
    return position >= this.seen.offset && position < this.seen.offset + this.seen.tokens.length;
  }

  /** The list of changes, with the names that the tokens of the piece give to positions. */
  show(seen: Seen): void {
    this.seen = seen;
    const read = labels(seen.tokens);
    const name = (position: number) => quoted(read[position - seen.offset] ?? String(position + 1));
    const chip = (kind: string, text: string, undo: () => void) =>
      el('li', { class: `chip ${kind}` }, text,
        el('button', { type: 'button', 'aria-label': `Undo: ${text}`, onclick: undo }, '×'));
    this.chips.replaceChildren(
      ...this.forbidden.map((at) => chip('forbid', `not ${name(at)}`, () => this.toggleForbidden(at - seen.offset))),
      ...this.forced.map(({ step, position }) =>
        chip('force', `step ${step + 1} → ${name(position)}`, () => this.toggleForced(step, position - seen.offset))),
    );
    this.reset.hidden = !this.active;
  }
}
