// The page that `attn explain` writes: the answer and its drawings, from the data block.

import { checkedAnswers, checkedMap, isRecord, WrongData } from './check';
import type { Offline } from './contract';
import { el } from './dom';
import { Explanation } from './explanation';
import { liveCard } from './live';
import { quoted, score } from './words';

export function readData(text: string): Offline {
  const data: unknown = JSON.parse(text);
  if (!isRecord(data)) throw new WrongData('attn-data: expected an object');
  checkedAnswers(data.answers ?? []);
  return { answers: [], ...(data as object) } as unknown as Offline;
}

export function offlineSections(data: Offline): HTMLElement[] {
  const sections: HTMLElement[] = [];
  if (data.answers.length > 0) {
    const explanation = new Explanation({});
    const spoken = el('p', { class: 'answer', dir: 'auto' });
    const list = el('ol', { class: 'best', hidden: data.answers.length < 2 });
    const show = (index: number) => {
      const answer = data.answers[index];
      spoken.textContent = answer.text || '(an empty text)';
      list.querySelectorAll('button').forEach((button, at) => button.setAttribute('aria-pressed', String(at === index)));
      explanation.show(answer, `${data.task}: ${quoted(data.text)}`);
      if (!answer.heads) explanation.hideHeads();
    };
    list.append(...data.answers.map((answer, index) =>
      el('li', {}, el('button', { type: 'button', onclick: () => show(index) },
        el('span', { dir: 'auto' }, answer.text || '(an empty text)'), el('span', { class: 'score' }, score(Number(answer.score ?? 0)))))));
    sections.push(el('section', { id: 'try', 'aria-labelledby': 'try-title' },
      el('h2', { id: 'try-title' }, data.task),
      el('p', { class: 'note' }, `${data.model ? `${data.model} read ` : 'The model read '}`),
      el('blockquote', { dir: 'auto' }, data.text),
      el('div', { class: 'result' }, el('div', { class: 'answer-box' }, spoken, list), explanation.element)));
    queueMicrotask(() => show(0));
  }
  const live = data.live ?? [];
  if (live.length > 0) {
    sections.push(el('section', { id: 'mechanisms', 'aria-labelledby': 'mechanisms-title' },
      el('h2', { id: 'mechanisms-title' }, 'Mechanisms'),
      el('p', { class: 'note' }, 'Each at the values it was written with; sliders move where a server computes: attn serve.'),
      el('div', { class: 'cards' }, ...live.map(({ example, map }) => liveCard(example, checkedMap(map))))));
  }
  if (sections.length === 0) sections.push(el('section', {}, el('p', { class: 'status empty' }, 'This file holds no answer.')));
  return sections;
}
