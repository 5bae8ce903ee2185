// What a reader should know of an answer before trusting it.

import type { Reply } from './contract';
import { el } from './dom';

/** The server's own sentences; where it only raises a flag, the flag's meaning. */
export function notices({ notes = [], unfamiliar, cut }: Pick<Reply, 'notes' | 'unfamiliar' | 'cut'>): HTMLElement[] {
  const told = [...notes];
  if (unfamiliar && notes.length === 0) told.push('This text is unlike what the model has learnt from; the answer may be nonsense.');
  if (cut && !notes.some((note) => /longer|cut/i.test(note))) told.push('The text is longer than the model reads; the rest of it was left out.');
  return told.map((text) => el('p', { class: 'notice' }, text));
}
