// The page of a training: progress, curves and the latest answers, renewed by itself.

import '../style/page.css';
import '../style/watch.css';
import { el } from './dom';
import { duration, news, runs, spent, type Run } from './run';
import { drawRunCurve } from './run_curve';
import { themeSwitch } from './theme';

const kBusy = 2000; // milliseconds between looks while something may change
const kCalm = 10000;

function fact(name: string, value: string | undefined): HTMLElement[] {
  return value === undefined ? [] : [el('div', {}, el('dt', {}, name), el('dd', {}, value))];
}

function facts(run: Run): HTMLElement {
  const { steps, epochs } = run.budget;
  const loss = run.losses.values.at(-1);
  const latest = run.evaluations.at(-1);
  return el('dl', { class: 'run-facts' },
    ...fact('Step', steps ? `${run.step} of ${steps}` : String(run.step)),
    ...fact('Epoch', epochs ? `${Math.min(run.epoch + 1, epochs)} of ${epochs}` : String(run.epoch + 1)),
    ...fact('Time left', run.left === undefined ? undefined : duration(run.left)),
    ...fact('Trained for', duration(run.seconds)),
    ...fact('Speed', run.tokens_per_second > 0 ? `${Math.round(run.tokens_per_second).toLocaleString('en')} tokens/s` : undefined),
    ...fact('Loss', loss?.toFixed(3)),
    ...fact(`${run.metric?.name ?? ''} now`, latest && run.metric ? latest.scores[run.metric.name]?.toFixed(2) : undefined),
    ...fact(`Best ${run.metric?.name ?? ''}`, run.best ? `${run.best.value.toFixed(2)} at step ${run.best.step}` : undefined));
}

function curves(run: Run, width: number): HTMLElement | undefined {
  const box = el('div', { class: 'run-curves' });
  const most = Math.max(run.step, ...run.losses.steps, ...run.evaluations.map((one) => one.step));
  if (run.losses.steps.length > 0) {
    box.append(drawRunCurve({ title: 'loss of training, nats a token', ...run.losses, most, least: 0.1, dots: false }, width));
  }
  if (run.metric && run.best) {
    const { name, lower_is_better: lower } = run.metric;
    const known = run.evaluations.filter((one) => Number.isFinite(one.scores[name]));
    box.append(drawRunCurve({
      title: `${name} of the development part, % (${lower ? 'lower' : 'higher'} is better)`,
      steps: known.map((one) => one.step),
      values: known.map((one) => one.scores[name]),
      most,
      least: 1,
      ...(lower ? { top: 100 } : {}), // an untrained model may write without end
      dots: true,
      best: { ...run.best, label: `best: step ${run.best.step}, ${run.best.value.toFixed(2)}` },
    }, width));
  }
  return box.childElementCount > 0 ? box : undefined;
}

function samples(run: Run): HTMLElement | undefined {
  if (run.samples.length === 0) return undefined;
  const row = (sample: Run['samples'][number]) => {
    const right = sample.answer === sample.target;
    return el('tr', {},
      el('td', { 'data-name': 'Text' }, sample.source),
      el('td', { 'data-name': 'Answer', class: right ? 'right' : 'wrong' }, sample.answer || '(nothing)'),
      el('td', { 'data-name': 'Right' }, right ? '✓ the same' : sample.target));
  };
  return el('table', { class: 'run-samples' },
    el('caption', {}, 'Its latest answers to examples it does not learn from'),
    el('thead', {}, el('tr', {}, ...['Text', 'Answer', 'Right'].map((name) => el('th', { scope: 'col' }, name)))),
    el('tbody', {}, ...run.samples.map(row)));
}

function section(run: Run, width: number): HTMLElement {
  const about = [run.task, run.model, run.data].filter(Boolean).join(' · ');
  const share = run.state === 'unreadable' || run.state === 'waiting' ? undefined : spent(run);
  const known = run.state !== 'unreadable' && run.state !== 'waiting';
  return el('section', { class: 'run', 'data-state': run.state },
    el('h2', {}, run.name),
    about ? el('p', { class: 'note' }, about) : undefined,
    el('p', { class: `run-news${run.state === 'unreadable' || run.state === 'quiet' ? ' warn' : ''}` }, news(run)),
    share === undefined ? undefined : el('progress', { max: 1, value: share.toFixed(4), 'aria-label': 'Share of the budget' }),
    known ? facts(run) : undefined,
    known ? curves(run, width) : undefined,
    known ? samples(run) : undefined);
}

const main = el('main', { id: 'main', tabindex: -1 });
const status = el('p', { class: 'status', role: 'status' });
let latest: Run[] = [];
let drawn = '';

function draw(): void {
  const width = Math.max(260, Math.min(960, main.clientWidth));
  // What did not change stays: a reader may be selecting text in it.
  const now = `${width} ${JSON.stringify(latest.map(({ age, ...rest }) => (rest.state === 'quiet' ? { age, ...rest } : rest)))}`;
  if (now === drawn) return;
  drawn = now;
  const none = el('section', { class: 'run' }, el('h2', {}, 'No training is watched'),
    el('p', {}, 'Start the server with the folder of one: ', el('code', {}, 'attn serve --watch RUN')));
  main.replaceChildren(...(latest.length > 0 ? latest.map((run) => section(run, width)) : [none]));
  const first = latest.find((run) => run.state === 'running');
  document.title = first ? `step ${first.step} · ${first.name}` : 'attn: training';
}

async function look(): Promise<void> {
  let pause = kBusy;
  if (!document.hidden) {
    try {
      latest = await runs();
      status.textContent = '';
      status.classList.remove('error');
      draw();
      if (latest.every((run) => run.state === 'ended')) pause = kCalm;
    } catch {
      status.classList.add('error');
      status.textContent = 'The server cannot be reached; is attn serve still running? Trying again.';
    }
  }
  setTimeout(() => void look(), pause);
}

document.getElementById('page')?.replaceChildren(
  el('a', { class: 'skip', href: '#main' }, 'To the content'),
  el('header', {}, el('h1', {}, 'attn'), el('nav', { 'aria-label': 'Pages' }, el('a', { href: './' }, 'Try the models')), themeSwitch()),
  status,
  main,
  el('footer', {}, 'This page renews itself; it reads the folders the server was started with, and nothing else'));
addEventListener('resize', draw);
void look();
