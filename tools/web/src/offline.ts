// The page that `attn explain` writes: the answer and its drawings, from the data block.

import { checkedMap, checkedReply, checkedSpoken, isRecord, WrongData } from './check';
import type { Offline } from './contract';
import { el, segments } from './dom';
import { Explanation, tellingRow } from './explanation';
import { frame } from './figure';
import { LiveCard } from './live';
import { MapView } from './map_view';
import { kInvented } from './mechanisms';
import { notices } from './notices';
import { story } from './try';
import { spokenWords } from './spoken_words';
import { quoted, score } from './words';

export function readData(text: string): Offline {
  const data: unknown = JSON.parse(text);
  if (!isRecord(data)) throw new WrongData('attn-data: expected an object');
  checkedReply({ ...data, answers: data.answers ?? [] });
  return { answers: [], ...(data as object) } as unknown as Offline;
}

export function titleOf(data: Offline): string {
  const text = data.text ?? '';
  return data.answers.length > 0 ? `${data.task}: ${text.length > 60 ? `${text.slice(0, 60)}…` : text} · attn` : 'attn';
}

/** A name tells who made a model; the one that ships needs none. */
function reader(data: Offline): string {
  const shipped = !data.model || data.model === 'shipped';
  if (data.words) return `The model ${shipped ? `of ${data.task}` : data.model} heard:`;
  return shipped ? `The model that ships with attn for ${data.task} read:` : `The model ${data.model} read:`;
}

export function offlineSections(data: Offline): HTMLElement[] {
  const sections: HTMLElement[] = [];
  if (data.answers.length > 0) {
    const pieces = data.pieces && data.pieces.length > 1 ? data.pieces : undefined;
    let piece = 0;
    const answers = () => pieces?.[piece].answers ?? data.answers;
    const explanation = new Explanation({});
    const spoken = el('p', { class: 'answer', dir: 'auto' });
    const list = el('ol', { class: 'best' });
    const part = el('p', { class: 'piece', dir: 'auto', hidden: !pieces });
    const show = (index: number) => {
      const answer = answers()[index];
      spoken.textContent = (pieces ? data.answers[0].text : answer.text) || '(an empty text)';
      part.textContent = pieces ? `${pieces[piece].source} → ${answer.text}` : '';
      list.querySelectorAll('button').forEach((button, at) => button.setAttribute('aria-pressed', String(at === index)));
      explanation.show(answer, `${data.task}: ${quoted(pieces?.[piece].source ?? data.text)}`);
      explanation.light(tellingRow(answer));
      if (!answer.heads) explanation.hideHeads();
    };
    const fill = () => {
      list.hidden = answers().length < 2;
      list.replaceChildren(...answers().map((answer, index) =>
        el('li', {}, el('button', { type: 'button', onclick: () => show(index) },
          el('span', { dir: 'auto' }, answer.text || '(an empty text)'), el('span', { class: 'score' }, score(Number(answer.score ?? 0)))))));
      show(0);
    };
    const picker = pieces ? [
      el('p', { class: 'note' }, `The text was answered in ${pieces.length} pieces; one is drawn at a time.`),
      segments('Piece', pieces.map((_, index) => ({ value: String(index), text: String(index + 1) })), '0', (value) => {
        piece = Number(value);
        fill();
      })] : [];
    sections.push(el('section', { id: 'try', 'aria-labelledby': 'try-title' },
      el('h2', { id: 'try-title' }, data.task),
      story(),
      el('p', { class: 'note' }, reader(data)),
      el('blockquote', { dir: 'auto' }, data.text),
      el('div', { class: 'result' }, el('div', { class: 'answer-box' }, spoken, ...notices(data), list), ...picker, part, explanation.element),
      el('p', { class: 'note' }, 'The numbers of one row, from its scores to its sum, are computed by a server: attn serve shows them for any text.')));
    queueMicrotask(fill);
  }
  // Tokens over tokens are drawn above.
  if (data.figure && (data.answers.length === 0 || data.figure.kind !== 'alignment')) {
    const map = checkedMap(data.figure);
    const view = new MapView();
    const figure = frame('What it found', 'map', view.element, () => view.saved());
    figure.caption(map.caption);
    sections.push(el('section', { id: 'figure', 'aria-labelledby': 'figure-title' },
      el('h2', { id: 'figure-title' }, data.task),
      el('p', { class: 'note' }, reader(data)),
      el('blockquote', { dir: 'auto' }, data.text),
      ...notices(data), ...(data.words ? [spokenWords(checkedSpoken(data.words))] : []), figure.element));
    queueMicrotask(() => view.show(map));
  }
  const live = data.live ?? [];
  if (live.length > 0) {
    sections.push(el('section', { id: 'mechanisms', 'aria-labelledby': 'mechanisms-title' },
      el('h2', { id: 'mechanisms-title' }, 'Mechanisms'),
      el('p', { class: 'note' }, 'Each at the values it was written with; sliders move where a server computes: attn serve.'),
      el('p', { class: 'note invented' }, kInvented),
      el('div', { class: 'cards' }, ...live.map(({ example, map }) => new LiveCard(example, checkedMap(map)).element))));
  }
  if (sections.length === 0) sections.push(el('section', {}, el('p', { class: 'status empty' }, 'This file holds no answer.')));
  return sections;
}
