// Try: a task, a model, a text; the answer and where it looked.

import type { Answer, Info, Question, Task } from './contract';
import { choice, debounced, el, fillChoice, newId } from './dom';
import { Explanation } from './explanation';
import * as server from './server';
import { SteeringPanel } from './steering';
import { quoted, score } from './words';

const kBest = 4; // answers that are listed

export class Try {
  readonly element: HTMLElement;
  private readonly text: HTMLTextAreaElement;
  private readonly models: { field: HTMLElement; select: HTMLSelectElement };
  private readonly about = el('p', { class: 'note' });
  private readonly status = el('div', { class: 'status', role: 'status' });
  private readonly result = el('div', { class: 'result', hidden: true });
  private readonly spoken = el('p', { class: 'answer', dir: 'auto', 'aria-live': 'polite' });
  private readonly facts = el('p', { class: 'note facts' });
  private readonly list = el('ol', { class: 'best', 'aria-label': 'Best answers, with their scores' });
  private readonly steering: SteeringPanel;
  private readonly explanation: Explanation;
  private task: Task;
  private asked: { task: string; model: string; text: string } | undefined;
  private plain: string | undefined; // the answer without the reader's changes
  private answers: Answer[] = [];
  private chosen = 0;
  private flight: AbortController | undefined;

  constructor(private readonly info: Info) {
    this.task = info.tasks[0];
    const tasks = choice('Task', info.tasks.map((task) => ({ value: task.name, text: task.name })), (name) => {
      this.task = info.tasks.find((task) => task.name === name) ?? this.task;
      this.chooseTask();
    });
    this.models = choice('Model', [], () => void 0);
    const id = newId('text');
    this.text = el('textarea', { id, rows: 2, dir: 'auto', spellcheck: 'false', onkeydown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.ask();
    } });
    const form = el('form', { class: 'ask', onsubmit: (event: Event) => {
      event.preventDefault();
      this.ask();
    } },
      el('div', { class: 'row' }, tasks.field, this.models.field),
      this.about,
      el('div', { class: 'field' }, el('label', { for: id }, 'Text'), this.text),
      el('div', { class: 'row' },
        el('button', { type: 'submit', class: 'primary' }, 'Answer'),
        el('button', { type: 'button', onclick: () => {
          this.text.value = this.task.example;
          this.ask();
        } }, 'Example'),
        el('span', { class: 'note keys' }, 'Enter answers, Shift and Enter begin a line')));
    const askSoon = debounced(180, () => this.askAgain());
    this.steering = new SteeringPanel((soon) => {
      this.steering.show(this.answers[this.chosen]);
      if (soon) askSoon();
      else this.askAgain();
    });
    this.explanation = new Explanation({
      force: (row, column) => this.steering.toggleForced(row, column),
      forbid: (column) => this.steering.toggleForbidden(column),
    }, () => this.askAgain());
    this.result.append(
      el('div', { class: 'answer-box' }, this.spoken, this.facts, this.list),
      this.steering.element,
      this.explanation.element);
    this.element = el('section', { id: 'try', 'aria-labelledby': 'try-title' },
      el('h2', { id: 'try-title' }, 'Try'), form, this.status, this.result);
    this.chooseTask();
  }

  private chooseTask(): void {
    const { about, metric, models, example } = this.task;
    this.about.textContent = `${about.charAt(0).toUpperCase()}${about.slice(1)}${metric ? `. Judged by ${metric}.` : ''}`.replace('..', '.');
    fillChoice(this.models.select, models.map(({ name, kind, parameters }) => ({
      value: name,
      text: parameters > 0 ? `${name} · ${kind}, ${(parameters / 1e6).toFixed(1)} M` : `${name} · ${kind}`,
    })));
    this.text.placeholder = example;
    this.text.maxLength = this.info.limits?.text_bytes ?? 100_000;
  }

  private ask(): void {
    const text = this.text.value.trim();
    if (!text) {
      this.tell('empty', 'Type a text first, or take the example.');
      this.text.focus();
      return;
    }
    this.steering.clear();
    this.plain = undefined;
    this.chosen = 0;
    this.asked = { task: this.task.name, model: this.models.select.value, text };
    this.askAgain();
  }

  private askAgain(): void {
    if (!this.asked) return;
    this.flight?.abort();
    const flight = new AbortController();
    this.flight = flight;
    const { task, model, text } = this.asked;
    const best = Math.min(kBest, this.info.limits?.beam ?? kBest);
    const question: Question = {
      task,
      text,
      ...(model ? { model } : {}),
      beam: best,
      best,
      ...this.steering.asked(),
      ...(this.explanation.headsOpen ? { heads: true } : {}),
    };
    this.tell('loading', 'The model is answering…');
    this.result.setAttribute('aria-busy', 'true');
    server.answer(question, flight.signal).then(
      (reply) => {
        if (this.flight !== flight) return;
        this.result.removeAttribute('aria-busy');
        this.answers = reply.answers;
        if (this.chosen >= reply.answers.length) this.chosen = 0;
        if (reply.answers.length === 0) {
          this.result.hidden = true;
          this.tell('empty', 'The model has no answer to this.');
          return;
        }
        if (!this.steering.active) this.plain = reply.answers[0].text;
        this.tell('', '');
        this.showAnswer(reply.milliseconds);
      },
      (error: Error) => {
        if (this.flight !== flight) return;
        this.result.removeAttribute('aria-busy');
        this.tell('error', `That did not work: ${error.message}.`.replace('..', '.'));
      },
    );
  }

  private showAnswer(milliseconds?: number): void {
    this.result.hidden = false;
    const answer = this.answers[this.chosen];
    const title = `${this.asked?.task}: ${quoted(this.asked?.text ?? '')}`;
    this.spoken.textContent = answer.text || '(an empty text)';
    this.spoken.classList.toggle('steered', this.steering.active);
    const facts = [`log P ${score(answer.log_probability)}`];
    if (milliseconds !== undefined) facts.push(`${milliseconds.toFixed(0)} ms`);
    if (!answer.finished) facts.push('cut at the longest length');
    if (this.steering.active && this.plain !== undefined) {
      facts.push(this.plain === this.answers[0].text ? 'the same without your changes' : `without your changes: ${quoted(this.plain)}`);
    }
    this.facts.textContent = facts.join(' · ');
    this.showList();
    this.steering.show(answer);
    this.explanation.show(answer, title, this.steering);
  }

  private showList(): void {
    this.list.hidden = this.answers.length < 2;
    const focused = this.list.contains(document.activeElement);
    this.list.replaceChildren(...this.answers.map((answer, index) =>
      el('li', {}, el('button', {
        type: 'button',
        'aria-pressed': String(index === this.chosen),
        onclick: () => {
          this.chosen = index;
          this.showAnswer();
        },
      }, el('span', { dir: 'auto' }, answer.text || '(an empty text)'), el('span', { class: 'score' }, score(answer.score))))));
    if (focused) this.list.querySelectorAll('button')[this.chosen]?.focus();
  }

  private tell(kind: string, text: string): void {
    this.status.className = `status ${kind}`;
    this.status.replaceChildren(text);
    if (kind === 'error' && this.asked) {
      this.status.append(' ', el('button', { type: 'button', class: 'small', onclick: () => this.askAgain() }, 'Try again'));
    }
  }
}
