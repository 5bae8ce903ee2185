// The frame of a figure: heading, drawing, caption, and the buttons that save it.

import { el, newId } from './dom';
import { saveButtons, type Saved } from './save';

export interface Frame {
  element: HTMLElement;
  caption: (text: string) => void;
}

export function frame(title: string, name: string, body: HTMLElement, current: () => Saved | undefined): Frame {
  const id = newId('figure');
  const text = el('figcaption');
  const element = el('figure', { class: 'figure', 'aria-labelledby': id },
    el('div', { class: 'figure-head' }, el('h3', { id }, title), saveButtons(name, current)),
    body,
    text);
  return { element, caption: (words) => (text.textContent = words) };
}

/** Calls `draw` when the width of `element` changes. */
export function onWidth(element: HTMLElement, draw: () => void): void {
  let width = element.clientWidth;
  new ResizeObserver(() => {
    if (element.clientWidth === width || element.clientWidth === 0) return;
    width = element.clientWidth;
    draw();
  }).observe(element);
}
