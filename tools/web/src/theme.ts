// Light or dark: the system's choice, or the reader's.

import { kDark, kLight, type Palette } from './colour';
import { segments } from './dom';

type Choice = 'auto' | 'light' | 'dark';

const kKey = 'attn-theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
let choice: Choice = remembered();

// Storage may be refused, as it is for pages from file: in some browsers.
function remembered(): Choice {
  try {
    const found = localStorage.getItem(kKey);
    return found === 'light' || found === 'dark' ? found : 'auto';
  } catch {
    return 'auto';
  }
}

function isDark(): boolean {
  return choice === 'dark' || (choice === 'auto' && system.matches);
}

export function palette(): Palette {
  return isDark() ? kDark : kLight;
}

function apply(): void {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

/** Calls `listener` when the colours change, until the returned function is called. */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// At once, not when the switch is drawn: a server may take its time, and a page that is light until
// then dazzles.
system.addEventListener('change', apply);
apply();

export function themeSwitch(): HTMLElement {
  const options: { value: Choice; text: string }[] = [
    { value: 'auto', text: 'Auto' },
    { value: 'light', text: 'Light' },
    { value: 'dark', text: 'Dark' },
  ];
  return segments('Colours', options, choice, (value) => {
    choice = value;
    try {
      localStorage.setItem(kKey, value);
    } catch {
      // Then it holds until the page is closed.
    }
    apply();
  });
}
