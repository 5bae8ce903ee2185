// Any figure as SVG, PNG or JSON. Files are drawn anew for paper, whatever the screen's colours.

import { kLight } from './colour';
import type { AnyMap } from './contract';
import { el, say } from './dom';
import type { Look } from './figures/draw';
import { painted, written } from './paint';
import { textWidth } from './words';

export interface Saved {
  map: AnyMap;
  caption?: string; // where the drawing says something else than the map
  draw: (look: Look) => SVGSVGElement;
}

const kPaper: Look = { palette: kLight, width: 900 };
const kMargin = 24;
const kNarrowest = 460; // so that captions read well

function download(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  el('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  say(`Saved ${name}`);
}

// The drawing on paper, with its title above and its caption below.
function sheet({ map, caption = map.caption, draw }: Saved): SVGSVGElement {
  const inner = draw(kPaper);
  const width = Math.max(Number(inner.getAttribute('width')), kNarrowest, textWidth(map.title, 17));
  const height = Number(inner.getAttribute('height'));
  const make = <K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number>) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    return made;
  };
  const lines = wrapped(caption, Math.max(40, Math.floor(width / 6.4)));
  const total = { width: width + 2 * kMargin, height: height + 3 * kMargin + 24 + 16 * lines.length };
  const svg = make('svg', {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${total.width} ${total.height}`,
    ...total,
    'font-family': inner.getAttribute('font-family') ?? 'sans-serif',
    'font-size': 13,
  });
  svg.append(make('rect', { width: total.width, height: total.height, fill: kLight.paper }));
  const title = make('text', { x: kMargin, y: kMargin + 12, 'font-size': 16, 'font-weight': 600, fill: kLight.ink });
  title.textContent = map.title;
  const body = make('g', { transform: `translate(${kMargin} ${kMargin + 32})` });
  body.append(...inner.childNodes);
  svg.append(title, body);
  lines.forEach((line, index) => {
    const text = make('text', { x: kMargin, y: kMargin + 32 + height + 22 + 16 * index, 'font-size': 12, fill: kLight.faint });
    text.textContent = line;
    svg.append(text);
  });
  return svg;
}

function wrapped(text: string, letters: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line && line.length + word.length + 1 > letters) {
      lines.push(line);
      line = word;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  return line ? [...lines, line] : lines;
}

/** Three buttons that save what `current` gives; nothing happens while there is nothing. */
export function saveButtons(name: string, current: () => Saved | undefined): HTMLElement {
  const button = (kind: string, make: (saved: Saved) => void) =>
    el('button', {
      type: 'button',
      class: 'small',
      'aria-label': `Save ${name} as ${kind}`,
      'data-save': kind.toLowerCase(),
      onclick: () => {
        const saved = current();
        if (saved) make(saved);
      },
    }, kind);
  return el('div', { class: 'save', role: 'group', 'aria-label': `Save ${name}` },
    button('SVG', (saved) => {
      download(`attn-${name}.svg`, new Blob([written(sheet(saved))], { type: 'image/svg+xml' }));
    }),
    button('PNG', (saved) => {
      painted(sheet(saved), kLight.paper, 2).toBlob((blob) => {
        if (blob) download(`attn-${name}.png`, blob);
        else say('The picture is too large to save as PNG');
      }, 'image/png');
    }),
    button('JSON', (saved) =>
      download(`attn-${name}.json`, new Blob([JSON.stringify(saved.map)], { type: 'application/json' }))),
  );
}
