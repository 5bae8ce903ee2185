// Words with the times that they were said at.

import type { SpokenWord } from './contract';
import { el } from './dom';

const stamp = (seconds: number) => seconds.toFixed(2);

/** A list; where `play` is given each word is a button that lets one hear it. */
export function spokenWords(words: SpokenWord[], play?: (word: SpokenWord) => void): HTMLElement {
  return el('ol', { class: 'spoken', 'aria-label': 'Words with the seconds that they begin and end at' }, ...words.map((word) => {
    const parts = [el('span', { dir: 'auto' }, word.word), el('span', { class: 'time' }, `${stamp(word.begin)}–${stamp(word.end)} s`)];
    return el('li', {}, ...(play
      ? [el('button', { type: 'button', title: `Hear “${word.word}”`, onclick: () => play(word) }, ...parts)]
      : parts));
  }));
}
