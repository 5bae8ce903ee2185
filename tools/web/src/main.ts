// The page: from its data block where there is one, else from the server.

import '../style/page.css';
import { Draw } from './draw_section';
import { el } from './dom';
import { placeOf, settle } from './link';
import { Listen, soundTask } from './listen';
import { Mechanisms } from './mechanisms';
import { offlineSections, readData, titleOf } from './offline';
import { openMapSection } from './open_map';
import { ClipSection, clipTasks } from './clip_section';
import { PictureSection, pictureTasks } from './picture_section';
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
    const sounds = soundTask(info);
    const pictures = pictureTasks(info);
    const clips = clipTasks(info);
    const tasks = info.tasks.filter((task) => task !== sounds && !pictures.includes(task) && !clips.includes(task) && !task.pictures && task.models.length > 0);
    const first = tasks.length > 0 ? new Try({ ...info, tasks }) : undefined;
    const mechanisms = new Mechanisms();
    const link = (there: boolean, id: string, text: string): [string, string][] => (there ? [[id, text]] : []);
    layout([['#try', 'Look'], ...link(sounds !== undefined, '#listen', 'Listen'), ...link(pictures.length > 0, '#picture', 'Picture'), ...link(clips.length > 0, '#clip', 'Clip'), ['#draw', 'Draw'], ['#mechanisms', 'Mechanisms'], ['#open', 'Open']],
      [first?.element ?? el('section', { id: 'try' }, el('h2', {}, 'Where does it look?'), el('p', { class: 'status empty' }, 'This server has no model that answers.')),
        ...(sounds ? [new Listen(sounds).element] : []), ...(pictures.length > 0 ? [new PictureSection(info, pictures).element] : []),
        ...clips.slice(0, 1).map((task) => new ClipSection(task).element), new Draw().element, mechanisms.element, openMapSection()],
      `attn ${info.version} · everything runs on the machine of the server; nothing is sent elsewhere`);
    const follow = (begin: boolean) => {
      const { section, values } = placeOf(location.hash);
      const here = section === '' || (section === 'try' && [...values].length > 0);
      // A link to a card or a section leaves the answer as it is.
      if (here) first?.apply(values);
      else if (begin) first?.apply(new URLSearchParams());
      if (!here) mechanisms.show(section, values);
      const goal = begin && !here ? document.getElementById(section) : null;
      if (goal) settle(goal);
    };
    window.addEventListener('popstate', () => follow(false));
    follow(true);
  } catch (error) {
    layout([], [el('section', {}, el('p', { class: 'status error', role: 'alert' }, `That did not work: ${(error as Error).message}. `,
      el('button', { type: 'button', onclick: () => void fromServer() }, 'Try again')))], 'attn');
  }
}

function fromData(text: string): void {
  const foot = 'Written by attn explain; this file asks no server';
  try {
    const data = readData(text);
    document.title = titleOf(data);
    layout([], offlineSections(data), foot);
  } catch (error) {
    layout([], [el('section', {}, el('p', { class: 'status error', role: 'alert' }, `The data of this file is damaged: ${(error as Error).message}.`))], foot);
  }
}

const block = document.getElementById('attn-data');
if (block) fromData(block.textContent ?? '');
else if (location.protocol === 'file:') fromData('{}');
else void fromServer();
