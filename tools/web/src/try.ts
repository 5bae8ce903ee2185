// Try: a task, a model, a text; the answer, where it looked, and one row of it step by step.

import type { Answer, Info, Piece, Question, Reply, Task } from './contract';
import { choice, debounced, el, fillChoice, newId, segments } from './dom';
import { Explanation, tellingRow } from './explanation';
import { frame } from './figure';
import { formula } from './formula';
import { copied, go, hashOf, readState, type Step, type TryState } from './link';
import { MapView } from './map_view';
import { notices } from './notices';
import { Player } from './player';
import * as server from './server';
import { SteeringPanel } from './steering';
import { StepView, type StepChoice } from './step_view';
import { quoted, score } from './words';

const kBest = 4; // answers that are listed
const kLines = 6; // of the text, before it scrolls
const kFirst = 'translate'; // the task to begin with, where it is served

/** What attention is, said once, where everybody begins. */
export function story(): HTMLElement {
  return el('div', { class: 'story' },
    el('p', {},
      'Every word that the model writes asks a question, its ', el('em', {}, 'query'), ' q; every word that it read answers with a ',
      el('em', {}, 'key'), ' k. How well q and k fit becomes a ', el('em', {}, 'weight'), ', and the weights of one question sum to 1. ',
      'What the written word takes along is the mean of the read words’ ', el('em', {}, 'values'), ' v, by these weights: that is attention.'),
    formula('out = softmax(q k^T / sqrt(d)) v'));
}

export class Try {
  readonly element: HTMLElement;
  private readonly text: HTMLTextAreaElement;
  private readonly tasks: { field: HTMLElement; select: HTMLSelectElement };
  private readonly models: { field: HTMLElement; select: HTMLSelectElement };
  private readonly about = el('p', { class: 'note' });
  private readonly status = el('div', { class: 'status', role: 'status' });
  private readonly linkNote = el('p', { class: 'notice link-note', role: 'status', hidden: true });
  private readonly result = el('div', { class: 'result', hidden: true });
  private readonly spoken = el('p', { class: 'answer', dir: 'auto', 'aria-live': 'polite' });
  private readonly notices = el('div', { class: 'notices', role: 'status' });
  private readonly facts = el('p', { class: 'note facts' });
  private readonly list = el('ol', { class: 'best', 'aria-label': 'Best answers, with their scores' });
  private readonly next = el('input', { type: 'text', dir: 'auto', placeholder: 'Your next turn', 'aria-label': 'Your next turn' });
  private readonly say = el('form', { class: 'row say', hidden: true, onsubmit: (event: Event) => {
    event.preventDefault();
    this.goOn();
  } }, this.next, el('button', { type: 'submit' }, 'Say'));
  private readonly player = new Player();
  private readonly others: HTMLDetailsElement;
  private readonly pieces = el('div', { class: 'pieces', hidden: true });
  private readonly steering: SteeringPanel;
  private readonly explanation: Explanation;
  private readonly explained: HTMLElement; // the drawings of tokens over tokens
  private readonly view = new MapView();
  private readonly picture = frame('What it found', 'map', this.view.element, () => this.view.saved());
  private readonly steps: StepView;
  private task: Task;
  private asked: { task: string; model: string; text: string } | undefined;
  private plain: string | undefined; // the answer without the reader's changes
  private reply: Reply = { answers: [] };
  private chosen = 0; // which answer
  private piece = 0; // which piece of the text
  private head: Partial<Omit<StepChoice, 'row'>> = {};
  private row: number | undefined; // none: the telling one
  private step: Step = 'scores';
  private flight: AbortController | undefined;
  private stepFlight: AbortController | undefined;

  constructor(private readonly info: Info) {
    this.task = info.tasks.find((task) => task.name === kFirst) ?? info.tasks[0];
    this.tasks = choice('Task', info.tasks.map((task) => ({ value: task.name, text: task.name })), (name) => {
      this.chooseTask(name);
      this.text.value = this.task.example;
      this.fit();
      this.ask();
    });
    this.models = choice('Model', [], () => this.ask());
    const id = newId('text');
    this.text = el('textarea', { id, rows: 1, title: 'Enter answers, Shift and Enter begin a line', dir: 'auto', spellcheck: 'false', onkeydown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.ask();
    } });
    this.text.addEventListener('input', () => this.fit());
    const form = el('form', { class: 'ask', onsubmit: (event: Event) => {
      event.preventDefault();
      this.ask();
    } },
      this.tasks.field,
      this.models.field,
      el('div', { class: 'field words' }, el('label', { for: id }, 'Text'), this.text),
      el('button', { type: 'submit', class: 'primary' }, 'Answer'),
      el('div', { class: 'row under' },
        this.about,
        el('button', { type: 'button', class: 'small', onclick: () => {
          this.text.value = this.task.example;
          this.ask();
        } }, 'Example'),
        el('button', { type: 'button', class: 'small copy', onclick: () => void this.copyLink() }, 'Copy link')));
    const askSoon = debounced(180, () => this.askAgain());
    this.steering = new SteeringPanel((soon) => {
      this.showChanges();
      this.note(soon ? 'replace' : 'push');
      if (soon) askSoon();
      else this.askAgain();
    });
    this.steps = new StepView((wanted) => {
      this.head = { part: wanted.part, layer: wanted.layer, head: wanted.head };
      this.row = wanted.row;
      this.note('push');
      this.showRow();
    }, (step) => {
      this.step = step;
      this.note('replace');
    });
    this.others = el('details', { class: 'others' }, el('summary', {}, 'Other answers'), this.list);
    this.others.addEventListener('toggle', () => {
      if (this.others.open && this.shownAnswers().length < 2) this.askAgain();
    });
    this.explanation = new Explanation({
      force: (row, column) => this.steering.toggleForced(row, column),
      forbid: (column) => this.steering.toggleForbidden(column),
      choose: (row) => {
        if (this.head.part === 'encoder') this.head = {};
        this.row = row;
        this.note('push');
        this.showRow();
      },
      wantHeads: () => this.askAgain(),
      openHead: ({ part, layer, head }) => {
        if ((part === 'encoder') !== (this.head.part === 'encoder')) this.row = undefined;
        this.head = { part, layer, head };
        this.note('push');
        this.showRow();
      },
    }, this.steering.element, this.others, this.steps.element);
    this.explained = el('div', { class: 'explained' }, this.pieces, this.explanation.element);
    this.result.append(
      el('div', { class: 'answer-box' }, this.spoken, this.player.element, this.notices, this.facts, this.say),
      this.picture.element,
      this.explained);
    this.picture.element.hidden = true;
    this.element = el('section', { id: 'try', 'aria-labelledby': 'try-title' },
      el('h2', { id: 'try-title' }, 'Where does it look?'), story(), form, this.linkNote, this.status, this.result);
    this.chooseTask(this.task.name);
  }

  /** What a link says: asked again, from the beginning. Without a text, the task's example. */
  apply(values: URLSearchParams): void {
    const { state, wrong } = readState(values);
    const task = this.info.tasks.find((one) => one.name === state.task);
    if (state.task !== undefined && !task) wrong.push(`task=${state.task}`);
    this.chooseTask((task ?? this.info.tasks.find((one) => one.name === kFirst) ?? this.info.tasks[0]).name);
    if (state.model !== undefined) {
      if (this.task.models.some((one) => one.name === state.model)) this.models.select.value = state.model;
      else wrong.push(`model=${state.model}`);
    }
    this.text.value = state.text ?? this.task.example;
    this.fit();
    this.steering.set(state);
    this.plain = undefined;
    this.chosen = (state.best ?? 1) - 1;
    this.piece = (state.piece ?? 1) - 1;
    this.head = {
      ...(state.part === undefined ? {} : { part: state.part }),
      ...(state.layer === undefined ? {} : { layer: state.layer }),
      ...(state.head === undefined ? {} : { head: state.head }),
    };
    this.row = state.row === undefined ? undefined : state.row - 1;
    this.step = state.step ?? 'scores';
    this.others.open = this.chosen > 0;
    this.warn(wrong);
    if (this.text.value.trim() === '') return;
    this.asked = { task: this.task.name, model: this.models.select.value, text: this.text.value.trim() };
    this.askAgain();
  }

  private warn(wrong: string[]): void {
    this.linkNote.hidden = wrong.length === 0;
    this.linkNote.textContent = wrong.length === 0 ? '' : `This link says what cannot be used here, and it was left out: ${wrong.join(', ')}.`;
  }

  private chooseTask(name: string): void {
    this.task = this.info.tasks.find((task) => task.name === name) ?? this.task;
    this.tasks.select.value = this.task.name;
    const { about, metric, models, example } = this.task;
    this.about.textContent = `${about.charAt(0).toUpperCase()}${about.slice(1)}${metric ? `. Judged by ${metric}.` : ''}`.replace('..', '.');
    fillChoice(this.models.select, models.map(({ name: model, kind, parameters }) => ({
      value: model,
      text: parameters > 0 ? `${model} · ${kind}, ${(parameters / 1e6).toFixed(1)} M` : `${model} · ${kind}`,
    })));
    this.text.placeholder = example;
    this.text.maxLength = this.info.limits?.text_bytes ?? 100_000;
  }

  /** As high as the text is, within reason. */
  private fit(): void {
    this.text.rows = 1;
    const { lineHeight, paddingTop, paddingBottom } = getComputedStyle(this.text);
    const lines = (this.text.scrollHeight - parseFloat(paddingTop) - parseFloat(paddingBottom)) / parseFloat(lineHeight);
    this.text.rows = Math.max(1, Math.min(kLines, Math.round(lines) || 1));
  }

  /** All that the reader chose. */
  private state(): TryState {
    const { task, model, text } = this.asked ?? { task: this.task.name, model: this.models.select.value, text: this.text.value.trim() };
    const first = this.info.tasks.find((one) => one.name === task)?.models[0]?.name;
    return {
      task,
      ...(model && model !== first ? { model } : {}),
      ...(text ? { text } : {}),
      ...(this.chosen > 0 ? { best: this.chosen + 1 } : {}),
      ...(this.piece > 0 ? { piece: this.piece + 1 } : {}),
      ...this.steering.asked(),
      ...this.head,
      ...(this.row === undefined ? {} : { row: this.row + 1 }),
      ...(this.step === 'scores' ? {} : { step: this.step }),
    };
  }

  private note(how: 'push' | 'replace'): void {
    go(hashOf(this.state()), how);
  }

  private async copyLink(): Promise<void> {
    this.tell('', await copied(hashOf(this.state())));
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
    this.piece = 0;
    this.row = undefined;
    if (this.asked?.task !== this.task.name || this.asked.model !== this.models.select.value) this.head = {};
    this.warn([]);
    this.asked = { task: this.task.name, model: this.models.select.value, text };
    this.note('push');
    this.askAgain();
  }

  /** In a dialogue: the reply is what was said, and the reader's next turn follows. */
  private goOn(): void {
    const turn = this.next.value.trim();
    if (!turn || !this.asked || !this.reply.text) return;
    this.text.value = [this.asked.text, this.reply.text, turn].join('\n');
    this.next.value = '';
    this.fit();
    this.ask();
  }

  private askAgain(): void {
    if (!this.asked) return;
    this.flight?.abort();
    const flight = new AbortController();
    this.flight = flight;
    const { task, model, text } = this.asked;
    const best = Math.min(Math.max(kBest, this.chosen + 1), this.info.limits?.beam ?? kBest);
    const question: Question = {
      task,
      text,
      ...(model ? { model } : {}),
      ...(this.others.open ? { best } : {}),
      ...this.steering.asked(),
      ...(this.explanation.headsOpen ? { heads: true } : {}),
    };
    this.tell('loading', 'The model is answering…');
    this.result.setAttribute('aria-busy', 'true');
    server.answer(question, flight.signal).then(
      (reply) => {
        if (this.flight !== flight) return;
        this.result.removeAttribute('aria-busy');
        this.picture.element.hidden = !reply.map;
        this.explained.hidden = reply.map !== undefined;
        if (reply.answers.length === 0 && reply.map) {
          this.showPicture(reply);
          return;
        }
        if (reply.answers.length === 0) {
          this.result.hidden = true;
          this.tell('empty', 'The model has no answer to this.');
          return;
        }
        this.reply = reply;
        if (this.piece >= this.pieceList().length) this.piece = 0;
        if (this.chosen >= this.shownAnswers().length) this.chosen = 0;
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

  /** An answer that is no tokens over tokens, as its text and its own picture. */
  private showPicture(reply: Reply): void {
    this.reply = reply;
    this.tell('', '');
    this.result.hidden = false;
    this.spoken.textContent = reply.text ?? '';
    this.spoken.classList.remove('steered');
    this.spoken.classList.toggle('lines', /[\t\n]/.test(reply.text ?? ''));
    this.player.show(reply);
    this.notices.replaceChildren(...notices(reply));
    const facts = (reply.table?.rows ?? []).map((row) => row.join(' '));
    if (reply.milliseconds !== undefined) facts.push(`${reply.milliseconds.toFixed(0)} ms`);
    this.facts.textContent = facts.join(' · ');
    this.say.hidden = !this.info.tasks.find((one) => one.name === this.asked?.task)?.turns;
    if (!reply.map) return;
    this.picture.caption(reply.map.caption);
    this.view.show(reply.map);
  }

  /** Several only where the text was answered in pieces. */
  private pieceList(): Piece[] {
    const { pieces = [] } = this.reply;
    return pieces.length > 1 ? pieces : [];
  }

  private shownAnswers(): Answer[] {
    return this.pieceList()[this.piece]?.answers ?? this.reply.answers;
  }

  private showChanges(): void {
    const before = this.pieceList().slice(0, this.piece);
    const offset = before.reduce((sum, piece) => sum + (piece.answers[0]?.source_tokens.length ?? 0), 0);
    this.steering.show({ offset, tokens: this.shownAnswers()[this.chosen]?.source_tokens ?? [] });
  }

  private showAnswer(milliseconds?: number): void {
    this.result.hidden = false;
    this.say.hidden = true;
    this.player.show({ answers: [] });
    const pieces = this.pieceList();
    const answer = this.shownAnswers()[this.chosen];
    const read = pieces[this.piece]?.source ?? this.asked?.text ?? '';
    this.spoken.textContent = (pieces.length > 0 ? this.reply.answers[0].text : answer.text) || '(an empty text)';
    this.spoken.classList.toggle('steered', this.steering.active);
    this.spoken.classList.remove('lines');
    this.notices.replaceChildren(...notices({ ...this.reply, cut: this.reply.cut ?? answer.cut ?? false }));
    const facts = [`log P ${score((pieces.length > 0 ? this.reply.answers[0] : answer).log_probability)}`];
    if (milliseconds !== undefined) facts.push(`${milliseconds.toFixed(0)} ms`);
    if (!answer.finished) facts.push('the answer was cut at the longest length');
    if (this.steering.active && this.plain !== undefined) {
      facts.push(this.plain === this.reply.answers[0].text ? 'the same without your changes' : `without your changes: ${quoted(this.plain)}`);
    }
    this.facts.textContent = facts.join(' · ');
    this.showPieces(pieces);
    this.showList();
    this.showChanges();
    this.explanation.show(answer, `${this.asked?.task}: ${quoted(read)}`, this.steering.here());
    this.showRow();
  }

  private showPieces(pieces: Piece[]): void {
    this.pieces.hidden = pieces.length === 0;
    if (pieces.length === 0) return;
    const focused = this.pieces.contains(document.activeElement);
    const { source, cut, answers } = pieces[this.piece];
    this.pieces.replaceChildren(
      el('p', { class: 'note' }, `The text was answered in ${pieces.length} pieces; one is drawn at a time.`),
      segments('Piece', pieces.map((_, index) => ({ value: String(index), text: String(index + 1) })), String(this.piece), (value) => {
        this.piece = Number(value);
        this.chosen = 0;
        this.row = undefined;
        this.note('push');
        this.showAnswer();
      }),
      el('p', { class: 'piece', dir: 'auto' }, source, ' → ', el('em', {}, answers[this.chosen]?.text ?? ''), cut ? ' (too long, and cut)' : ''));
    if (focused) this.pieces.querySelector<HTMLElement>('input:checked')?.focus();
  }

  private showList(): void {
    const answers = this.shownAnswers();
    const focused = this.list.contains(document.activeElement);
    this.list.hidden = answers.length < 2;
    this.list.replaceChildren(...answers.map((answer, index) =>
      el('li', {}, el('button', {
        type: 'button',
        'aria-pressed': String(index === this.chosen),
        onclick: () => {
          this.chosen = index;
          this.row = undefined;
          this.note('push');
          this.showAnswer();
        },
      }, el('span', { dir: 'auto' }, answer.text || '(an empty text)'), el('span', { class: 'score' }, score(answer.score))))));
    if (focused) this.list.querySelectorAll('button')[this.chosen]?.focus();
  }

  /** Lights the row and asks for its numbers. */
  private showRow(): void {
    const answer = this.shownAnswers()[this.chosen];
    if (!answer || !this.asked) return;
    const inEncoder = this.head.part === 'encoder';
    const rows = inEncoder ? answer.source_tokens.length : answer.target_tokens.length;
    const row = Math.min(this.row ?? (inEncoder ? 0 : tellingRow(answer)), rows - 1);
    this.explanation.light(inEncoder ? undefined : row);
    this.askSteps(answer, row, this.head);
  }

  private askSteps(answer: Answer, row: number, head: Partial<Omit<StepChoice, 'row'>>): void {
    this.stepFlight?.abort();
    const flight = new AbortController();
    this.stepFlight = flight;
    const { task, model } = this.asked as { task: string; model: string };
    this.steps.busy(true);
    server.step({
      task,
      ...(model ? { model } : {}),
      source_tokens: answer.source_tokens,
      target_tokens: answer.target_tokens,
      ...head,
      row,
      ...this.steering.askedHere(),
    }, flight.signal).then(
      (reply) => {
        if (this.stepFlight !== flight) return;
        this.steps.busy(false);
        this.steps.show(reply, this.step);
      },
      (error: Error) => {
        if (this.stepFlight !== flight) return;
        this.steps.busy(false);
        const refused = error instanceof server.Refused && error.status === 400;
        if (refused && Object.keys(head).length > 0) {
          // A link may name a head that this model does not have.
          this.warn([`the head (${error.message})`]);
          this.head = {};
          this.showRow();
          return;
        }
        if (error instanceof server.Refused && error.status === 404) this.steps.none('This server cannot step through a row.');
        else if (refused) this.steps.none(`There is no row to step through: ${error.message}.`);
        else this.steps.tell('error', `That did not work: ${error.message}.`);
      },
    );
  }

  private tell(kind: string, text: string): void {
    this.status.className = `status ${kind}`;
    this.status.replaceChildren(text);
    if (kind === 'error' && this.asked) {
      this.status.append(' ', el('button', { type: 'button', class: 'small', onclick: () => this.askAgain() }, 'Try again'));
    }
  }
}
