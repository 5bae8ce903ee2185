// Formulas are plain text; k_j and x^2 become small letters, as elements and never as markup.

import { el } from './dom';

export function formula(text: string): HTMLElement {
  const made = el('p', { class: 'formula' });
  let end = 0;
  for (const found of text.matchAll(/([_^])(\{[^{}]*\}|[A-Za-z0-9]+)/g)) {
    made.append(plain(text.slice(end, found.index)));
    const small = found[2].replace(/^\{|\}$/g, '');
    made.append(el(found[1] === '_' ? 'sub' : 'sup', {}, small));
    end = found.index + found[0].length;
  }
  made.append(plain(text.slice(end)));
  return made;
}

function plain(text: string): string {
  return text.replaceAll(' - ', ' − ').replaceAll('(-', '(−').replaceAll('<=', '≤').replaceAll('>=', '≥');
}
