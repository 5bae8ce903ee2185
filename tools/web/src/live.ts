// Live examples: the server computes, the page draws. A card asks when it is first seen.

import type { AnyMap, Example } from './contract';
import { debounced, el, slider } from './dom';
import { frame } from './figure';
import { formula } from './formula';
import { MapView } from './map_view';
import * as server from './server';
import { shortNumber } from './words';

/** With `given`, the example at the values it was written with; its sliders are still. */
export function liveCard(example: Example, given?: AnyMap): HTMLElement {
  const view = new MapView();
  const status = el('p', { class: 'status', role: 'status' });
  const values: Record<string, number> = {};
  for (const one of example.sliders) values[one.name] = one.value;
  let flight: AbortController | undefined;
  const figure = frame(example.title, example.name, view.element, () => view.saved());

  // What was drawn stays until the next answer is there.
  const ask = () => {
    flight?.abort();
    const mine = new AbortController();
    flight = mine;
    view.element.setAttribute('aria-busy', 'true');
    server.live(example.name, values, mine.signal).then(
      (map) => {
        if (flight !== mine) return;
        view.element.removeAttribute('aria-busy');
        status.className = 'status';
        status.textContent = '';
        view.show(map);
        figure.caption(map.caption);
      },
      (error: Error) => {
        if (flight !== mine) return;
        view.element.removeAttribute('aria-busy');
        status.className = 'status error';
        status.textContent = `That did not work: ${error.message}.`;
      },
    );
  };
  const askSoon = debounced(60, ask);
  const sliders = example.sliders.map((one) => {
    const made = slider(one.label, one, (value) => shortNumber(value, one.step), (value) => {
      values[one.name] = value;
      askSoon();
    });
    made.input.disabled = given !== undefined;
    return made.field;
  });
  const card = el('article', { class: 'card', 'data-example': example.name },
    figure.element, formula(example.formula), el('p', { class: 'note' }, example.about), ...sliders, status);
  const head = figure.element.firstElementChild as HTMLElement;
  head.after(card.children[1], card.children[2]);
  // Titles of neighbours then stand level, however long they are.
  card.append(head.lastElementChild as HTMLElement);
  if (given) {
    view.show(given);
    figure.caption(given.caption);
  } else {
    new IntersectionObserver((entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      ask();
    }, { rootMargin: '200px' }).observe(card);
  }
  return card;
}
