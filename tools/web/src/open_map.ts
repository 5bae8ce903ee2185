// A map from a file, as --map FILE.json or a JSON button wrote it. It never leaves the page.

import { checkedMap } from './check';
import { el, newId } from './dom';
import { frame } from './figure';
import { MapView } from './map_view';

const kLargestFile = 256 * 1024 * 1024;

export function openMapSection(): HTMLElement {
  const id = newId('map');
  const view = new MapView();
  const status = el('p', { class: 'status', role: 'status' });
  const figure = frame('Map', 'map', view.element, () => view.saved());
  figure.element.hidden = true;
  const title = figure.element.querySelector('h3') as HTMLElement;
  const input = el('input', { type: 'file', id, accept: '.json,application/json', onchange: () => {
    const file = input.files?.[0];
    if (file) void open(file);
  } });
  const open = async (file: File) => {
    try {
      if (file.size > kLargestFile) throw new Error('the file is larger than 256 MiB');
      const map = checkedMap(JSON.parse(await file.text()));
      status.className = 'status';
      status.textContent = '';
      figure.element.hidden = false;
      title.textContent = map.title || file.name;
      figure.caption(map.caption);
      view.show(map);
    } catch (error) {
      figure.element.hidden = true;
      status.className = 'status error';
      status.textContent = `This is not a map that can be drawn: ${(error as Error).message}.`;
    }
  };
  return el('section', { id: 'open', 'aria-labelledby': 'open-title' },
    el('h2', { id: 'open-title' }, 'Open a map'),
    el('div', { class: 'field' }, el('label', { for: id }, 'A JSON file that --map wrote or that was saved here'), input),
    status, figure.element);
}
