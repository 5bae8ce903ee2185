// Mechanisms: live examples, and the list of everything the library has.

import type { Mechanism } from './contract';
import { el, newId } from './dom';
import { formula } from './formula';
import { liveCard } from './live';
import * as server from './server';

function entry(one: Mechanism): HTMLElement {
  const fact = (name: string, value: string | undefined) =>
    value ? [el('dt', {}, name), el('dd', {}, value)] : [];
  return el('details', { class: 'mechanism' },
    el('summary', {}, el('span', { class: 'name' }, one.title), el('code', {}, one.name)),
    formula(one.formula),
    el('dl', {}, ...fact('Made of', one.made_of), ...fact('Paper', one.paper), ...fact('Options', one.options), ...fact('Header', one.header)),
    ...(one.snippet ? [el('pre', { tabindex: 0, 'aria-label': `Code of ${one.title}` }, el('code', {}, one.snippet))] : []));
}

function searchable(all: Mechanism[]): HTMLElement {
  const id = newId('search');
  const count = el('p', { class: 'note', role: 'status' });
  const list = el('div', { class: 'mechanism-list' });
  const rows = all.map((one) => ({
    haystack: [one.name, one.title, one.family, one.formula, one.made_of, one.paper].join(' ').toLowerCase(),
    family: one.family,
    element: entry(one),
  }));
  const input = el('input', { type: 'search', id, autocomplete: 'off', placeholder: 'ALiBi, window, Bahdanau…' });
  const filter = () => {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => wanted.every((word) => row.haystack.includes(word)));
    list.replaceChildren();
    let family = '';
    for (const row of found) {
      if (row.family !== family) {
        family = row.family;
        list.append(el('h4', {}, family));
      }
      list.append(row.element);
    }
    count.textContent = found.length === 0 ? 'Nothing is called that.' : `${found.length} of ${rows.length} mechanisms`;
  };
  rows.sort((a, b) => a.family.localeCompare(b.family));
  input.addEventListener('input', filter);
  filter();
  return el('div', { class: 'search' }, el('div', { class: 'field' }, el('label', { for: id }, 'Search'), input), count, list);
}

export function mechanismsSection(): HTMLElement {
  const cards = el('div', { class: 'cards' });
  const list = el('div', {}, el('p', { class: 'status loading', role: 'status' }, 'Loading…'));
  const failed = (error: Error) => el('p', { class: 'status error', role: 'status' }, `That did not work: ${error.message}.`);
  server.liveExamples().then(
    (examples) => cards.replaceChildren(...examples.map((example) => liveCard(example))),
    (error: Error) => cards.replaceChildren(failed(error)),
  );
  server.mechanisms().then(
    (all) => list.replaceChildren(searchable(all)),
    (error: Error) => list.replaceChildren(failed(error)),
  );
  return el('section', { id: 'mechanisms', 'aria-labelledby': 'mechanisms-title' },
    el('h2', { id: 'mechanisms-title' }, 'Mechanisms'),
    el('p', { class: 'note' }, 'Each formula on a small example, computed by the library while you move its sliders.'),
    cards,
    el('h3', { id: 'all-mechanisms' }, 'All mechanisms'),
    list);
}
