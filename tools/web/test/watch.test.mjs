// The page of a training, against logs that move.

import assert from 'node:assert/strict';
import { noSideways, pageTest, until } from './support.mjs';

function run(step, more = {}) {
  const steps = Array.from({ length: step / 10 }, (_, i) => 10 * (i + 1));
  return {
    name: 'dates', state: 'running', step, epoch: 1, budget: { steps: 1000 }, left: 90, age: 0.5,
    tokens_per_second: 81009, seconds: 12.5, task: 'pairs', model: 'bahdanau', data: 'dates.tsv',
    losses: { steps, values: steps.map((one) => 3 / (1 + one / 50)) },
    evaluations: [{ step: 100, scores: { CER: 40, exact: 10 } }, { step: 200, scores: { CER: 5, exact: 80 } }, { step: 300, scores: { CER: 7, exact: 75 } }],
    metric: { name: 'CER', lower_is_better: true }, best: { step: 200, value: 5 },
    samples: [{ source: '1 May 2000', answer: '2000-05-01', target: '2000-05-01' }, { source: '<b>2 May</b>', answer: '2000-05-03', target: '2000-05-02' }],
    ...more,
  };
}

const kNone = { losses: { steps: [], values: [] }, evaluations: [], samples: [], metric: undefined, best: undefined };
const watching = (answer) => ({ intercept: (route) => (route === 'GET /api/run' ? [200, { runs: answer() }] : undefined), mockOnly: true, stay: true });

let looks = 0;
pageTest('Progress, curves and answers are shown and renewed without a reload', async (page, server) => {
  looks = 0;
  await page.goto(`${server.url}watch.html`);
  await page.locator('.run-curve').nth(1).waitFor();
  assert.equal(await page.locator('h2').textContent(), 'dates');
  assert.equal(await page.locator('.run-curve .best-label').textContent(), 'best: step 200, 5.00');
  assert.match(await page.locator('.run-curve .axis-title').nth(1).textContent(), /CER.*lower is better/);
  assert.match(await page.locator('.run-facts').textContent(), /1 min 30 s/);
  assert.match(await page.locator('.run-facts').textContent(), /81,009 tokens\/s/);
  assert.equal(await page.locator('.run-samples .right').count(), 1);
  assert.equal(await page.locator('.run-samples .wrong').count(), 1);
  assert.match(await page.locator('.run-samples').textContent(), /<b>2 May<\/b>/, 'texts are no markup');
  const before = await page.locator('.run-curve .curve').first().getAttribute('d');
  await until(page, () => /step 3[1-9]0/.test(document.title));
  assert.notEqual(await page.locator('.run-curve .curve').first().getAttribute('d'), before);
}, watching(() => [run(300 + 10 * Math.min(9, looks++))]));

pageTest('A run that has not begun, one that ended and one that went quiet say so', async (page, server) => {
  await page.goto(`${server.url}watch.html`);
  await page.locator('[data-state=waiting]').waitFor();
  assert.match(await page.locator('[data-state=waiting]').textContent(), /Not begun yet/);
  assert.match(await page.locator('[data-state=ended]').textContent(), /got no better/);
  assert.match(await page.locator('[data-state=quiet]').textContent(), /No news for 5 min 00 s/);
  assert.match(await page.locator('[data-state=unreadable]').textContent(), /cannot be read/);
}, watching(() => [
  { name: 'later', state: 'waiting', step: 0, epoch: 0, budget: {}, tokens_per_second: 0, seconds: 0, ...kNone },
  run(300, { state: 'ended', end: 'no_better', left: undefined }),
  run(300, { state: 'quiet', age: 300 }),
  { name: 'broken', state: 'unreadable', error: 'its log or its training.json cannot be read' },
]));

pageTest('Without --watch the page says how to begin', async (page, server) => {
  await page.goto(`${server.url}watch.html`);
  await page.getByText('attn serve --watch RUN').waitFor();
}, watching(() => []));

pageTest('It fits a phone, light and dark', async (page, server) => {
  await page.goto(`${server.url}watch.html`);
  await page.locator('.run-curve').nth(1).waitFor();
  assert.ok(await noSideways(page));
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.getByRole('radio', { name: 'Dark' }).check();
  assert.notEqual(await paper(), light);
}, { ...watching(() => [run(300)]), view: { viewport: { width: 390, height: 844 } } });
