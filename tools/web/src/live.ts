// Live examples: the server computes, the page draws. A card asks when it is first seen.

import type { AnyMap, Example } from './contract';
import { debounced, el, slider } from './dom';
import { frame } from './figure';
import { formula } from './formula';
import { copied, go, placeOf, settle } from './link';
import { MapView } from './map_view';
import * as server from './server';
import { shortNumber } from './words';

export class LiveCard {
  readonly element: HTMLElement;
  readonly name: string;
  private readonly view = new MapView();
  private readonly status = el('p', { class: 'status', role: 'status' });
  private readonly values: Record<string, number> = {};
  private readonly sliders: ReturnType<typeof slider>[] = [];
  private readonly figure;
  private flight: AbortController | undefined;

  /** With `given`, the example at the values it was written with; its sliders are still. */
  constructor(private readonly example: Example, given?: AnyMap) {
    this.name = example.name;
    for (const one of example.sliders) this.values[one.name] = one.value;
    this.figure = frame(example.title, example.name, this.view.element, () => this.view.saved());
    const askSoon = debounced(60, () => this.ask());
    this.sliders = example.sliders.map((one) => {
      const made = slider(one.label, one, (value) => shortNumber(value, one.step), (value) => {
        this.values[one.name] = value;
        // One step back leads out of the card, however often its sliders moved.
        go(this.hash(), placeOf(location.hash).section === `live-${this.name}` ? 'replace' : 'push');
        askSoon();
      });
      made.input.disabled = given !== undefined;
      return made;
    });
    this.element = el('article', { class: 'card', id: `live-${example.name}`, 'data-example': example.name },
      this.figure.element, formula(example.formula), el('p', { class: 'note' }, example.about), ...this.sliders.map((one) => one.field), this.status);
    const head = this.figure.element.firstElementChild as HTMLElement;
    head.after(this.element.children[1], this.element.children[2]);
    // Titles of neighbours then stand level, however long they are.
    const buttons = head.lastElementChild as HTMLElement;
    this.element.append(buttons);
    if (given) {
      this.view.show(given);
      this.figure.caption(given.caption);
      return;
    }
    buttons.append(el('button', { type: 'button', class: 'small', onclick: () => void copied(this.hash()).then((text) => this.tell('', text)) }, 'Link'));
    new IntersectionObserver((entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      this.ask();
    }, { rootMargin: '200px' }).observe(this.element);
  }

  /** What a link says; values that a slider does not have are left where they are, and told. */
  apply(values: URLSearchParams): void {
    const wrong: string[] = [];
    for (const name of values.keys()) if (!this.example.sliders.some((one) => one.name === name)) wrong.push(name);
    this.example.sliders.forEach((one, index) => {
      const text = values.get(one.name);
      if (text === null) return;
      const value = Number(text);
      if (text.trim() === '' || !(value >= one.min && value <= one.max)) {
        wrong.push(`${one.name}=${text}`);
        return;
      }
      this.values[one.name] = value;
      this.sliders[index].input.value = String(value);
      this.sliders[index].refresh();
    });
    settle(this.element);
    this.ask(wrong.length > 0 ? `This link says what cannot be used here: ${wrong.join(', ')}.` : '');
  }

  private hash(): string {
    return `#live-${this.name}?${new URLSearchParams(Object.entries(this.values).map(([name, value]) => [name, String(value)]))}`;
  }

  private tell(kind: '' | 'error', text: string): void {
    this.status.className = `status ${kind}`;
    this.status.textContent = text;
  }

  // What was drawn stays until the next answer is there.
  private ask(note = ''): void {
    this.flight?.abort();
    const mine = new AbortController();
    this.flight = mine;
    this.view.element.setAttribute('aria-busy', 'true');
    server.live(this.name, this.values, mine.signal).then(
      (map) => {
        if (this.flight !== mine) return;
        this.view.element.removeAttribute('aria-busy');
        this.tell('', note);
        this.view.show(map);
        this.figure.caption(map.caption);
      },
      (error: Error) => {
        if (this.flight !== mine) return;
        this.view.element.removeAttribute('aria-busy');
        this.tell('error', `That did not work: ${error.message}.`);
      },
    );
  }
}
