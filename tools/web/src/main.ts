// The page: from its data block where there is one, else from the server.

import '../style/page.css';
import { Draw } from './draw_section';
import { el } from './dom';
import { mechanismsSection } from './mechanisms';
import { offlineSections, readData } from './offline';
import { openMapSection } from './open_map';
import * as server from './server';
import { themeSwitch } from './theme';
import { Try } from './try';

function layout(links: [string, string][], sections: HTMLElement[], foot: string): void {
  const nav = el('nav', { 'aria-label': 'Sections' }, ...links.map(([href, text]) => el('a', { href }, text)));
  document.getElementById('page')?.replaceChildren(
    el('a', { class: 'skip', href: '#main' }, 'To the content'),
    el('header', {}, el('h1', {}, 'attn'), nav, themeSwitch()),
    el('main', { id: 'main', tabindex: -1 }, ...sections),
    el('footer', {}, foot));
}

async function fromServer(): Promise<void> {
  try {
    const info = await server.info();
    const tasks = info.tasks.filter((task) => task.name !== 'caption' && task.models.length > 0);
    const first = tasks.length > 0
      ? new Try({ ...info, tasks }).element
      : el('section', { id: 'try' }, el('h2', {}, 'Try'), el('p', { class: 'status empty' }, 'This server has no model that answers.'));
    layout([['#try', 'Try'], ['#draw', 'Draw'], ['#mechanisms', 'Mechanisms'], ['#open', 'Open']],
      [first, new Draw().element, mechanismsSection(), openMapSection()],
      `attn ${info.version} · everything runs on the machine of the server; nothing is sent elsewhere`);
  } catch (error) {
    layout([], [el('section', {}, el('p', { class: 'status error', role: 'alert' }, `That did not work: ${(error as Error).message}. `,
      el('button', { type: 'button', onclick: () => void fromServer() }, 'Try again')))], 'attn');
  }
}

function fromData(text: string): void {
  const foot = 'Written by attn explain; this file asks no server';
  try {
    layout([], offlineSections(readData(text)), foot);
  } catch (error) {
    layout([], [el('section', {}, el('p', { class: 'status error', role: 'alert' }, `The data of this file is damaged: ${(error as Error).message}.`))], foot);
  }
}

const block = document.getElementById('attn-data');
if (block) fromData(block.textContent ?? '');
else if (location.protocol === 'file:') fromData('{}');
else void fromServer();
