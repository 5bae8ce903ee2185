// What the reader changes before the model answers again: temperature, forbidden and forced.

import type { Answer, Question } from './contract';
import { el, slider } from './dom';
import type { Steering } from './looking';
import { labels, quoted } from './words';

export class SteeringPanel implements Steering {
  readonly element: HTMLElement;
  readonly forbidden = new Set<number>();
  readonly forced = new Map<number, number>();
  temperature = 1;
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
    this.show(undefined);
  }

  get active(): boolean {
    return this.temperature !== 1 || this.forbidden.size > 0 || this.forced.size > 0;
  }

  clear(): void {
    this.temperature = 1;
    this.heat.input.value = '0';
    this.heat.refresh();
    this.forbidden.clear();
    this.forced.clear();
    this.show(undefined);
  }

  toggleForbidden(column: number): void {
    if (!this.forbidden.delete(column)) {
      this.forbidden.add(column);
      // A step cannot be forced to look where nobody may.
      for (const [row, at] of this.forced) if (at === column) this.forced.delete(row);
    }
    this.changed(false);
  }

  toggleForced(row: number, column: number): void {
    if (this.forced.get(row) === column) {
      this.forced.delete(row);
    } else {
      this.forced.set(row, column);
      this.forbidden.delete(column);
    }
    this.changed(false);
  }

  asked(): Pick<Question, 'temperature' | 'forbid' | 'force'> {
    return {
      ...(this.temperature === 1 ? {} : { temperature: this.temperature }),
      ...(this.forbidden.size === 0 ? {} : { forbid: [...this.forbidden].sort((a, b) => a - b) }),
      ...(this.forced.size === 0 ? {} : { force: [...this.forced].map(([step, position]) => ({ step, position })) }),
    };
  }

  /** The list of changes, with the names that `answer` gives to positions. */
  show(answer: Answer | undefined): void {
    const read = labels(answer?.source_tokens ?? []);
    const chip = (kind: string, text: string, undo: () => void) =>
      el('li', { class: `chip ${kind}` }, text,
        el('button', { type: 'button', 'aria-label': `Undo: ${text}`, onclick: undo }, '×'));
    this.chips.replaceChildren(
      ...[...this.forbidden].map((column) => chip('forbid', `not ${quoted(read[column] ?? String(column + 1))}`, () => this.toggleForbidden(column))),
      ...[...this.forced].map(([row, column]) =>
        chip('force', `step ${row + 1} → ${quoted(read[column] ?? String(column + 1))}`, () => this.toggleForced(row, column))),
    );
    this.reset.hidden = !this.active;
  }
}
