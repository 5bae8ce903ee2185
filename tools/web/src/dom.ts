// Elements from plain values. Text is only ever set as text, so nothing that a user or a model
// wrote can become markup.

type Value = string | number | boolean | undefined | ((event: never) => void);
type Child = Node | string | undefined;

/** el('p', {class: 'note', onclick: f}, 'text', child); false and undefined leave an attribute out. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') made.addEventListener(name.slice(2), value as EventListener);
    else made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

let lastId = 0;

/** An id that no other element of the page has. */
export function newId(stem: string): string {
  lastId += 1;
  return `${stem}-${lastId}`;
}

/** A select with its label above. */
export function choice(
  label: string,
  options: { value: string; text: string }[],
  changed: (value: string) => void,
): { field: HTMLElement; select: HTMLSelectElement } {
  const id = newId('choice');
  const select = el('select', { id, onchange: () => changed(select.value) });
  fillChoice(select, options);
  return { field: el('div', { class: 'field' }, el('label', { for: id }, label), select), select };
}

export function fillChoice(
  select: HTMLSelectElement,
  options: { value: string; text: string }[],
): void {
  select.replaceChildren(...options.map((o) => el('option', { value: o.value }, o.text)));
}

/** A slider with its label and its value in words. */
export function slider(
  label: string,
  range: { min: number; max: number; step: number; value: number },
  show: (value: number) => string,
  changed: (value: number) => void,
): { field: HTMLElement; input: HTMLInputElement; refresh: () => void } {
  const id = newId('slider');
  const output = el('output', { for: id });
  const input = el('input', { type: 'range', id, min: range.min, max: range.max, step: range.step });
  input.value = String(range.value);
  const refresh = () => {
    output.textContent = show(input.valueAsNumber);
    input.setAttribute('aria-valuetext', show(input.valueAsNumber));
  };
  input.addEventListener('input', () => {
    refresh();
    changed(input.valueAsNumber);
  });
  refresh();
  const field = el('div', { class: 'field slider' }, el('label', { for: id }, label), output, input);
  return { field, input, refresh };
}

/** Radio buttons that look like one row of words. */
export function segments<T extends string>(
  label: string,
  options: { value: T; text: string }[],
  chosen: T,
  changed: (value: T) => void,
): HTMLElement {
  const name = newId('segments');
  const group = el('div', { class: 'segments', role: 'radiogroup', 'aria-label': label });
  for (const option of options) {
    const input = el('input', {
      type: 'radio',
      name,
      value: option.value,
      onchange: () => changed(option.value),
    });
    input.checked = option.value === chosen;
    group.append(el('label', {}, input, el('span', {}, option.text)));
  }
  return group;
}

/** Calls `work` once the calls have stopped for `wait` milliseconds. */
export function debounced(wait: number, work: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, wait);
  };
}

const speaker = el('div', { class: 'hidden', role: 'status', 'aria-live': 'polite' });

/** Tells a screen reader, without moving the focus. */
export function say(text: string): void {
  if (!speaker.isConnected) document.body.append(speaker);
  speaker.textContent = text;
}
