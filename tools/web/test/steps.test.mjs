// One row of one head, step by step.

import assert from 'node:assert/strict';
import { answered, ask, noSideways, pageTest, until } from './support.mjs';

const number = (text) => Number(text.replace('−', '-').replace('∞', 'Infinity'));
const cells = (page, index) => page.locator('.numbers tbody tr').evaluateAll((rows, at) => rows.map((row) => row.children[at].textContent), index);
const turn = async (page, name) => {
  await page.locator('.stages').getByRole('radio', { name }).check();
  await until(page, (step) => document.querySelector('.step-body')?.dataset.step === step, name.toLowerCase());
};
const open = async (page) => {
  await ask(page);
  await page.locator('.numbers tbody tr').first().waitFor();
};

pageTest('The lit word’s row is stepped through: scores, mask, softmax, sum', async (page) => {
  await open(page);
  const columns = await page.locator('#try .columns text').count();
  assert.equal(await page.locator('.numbers tbody tr').count(), columns);
  const scores = (await cells(page, 2)).map(number);
  assert.ok(scores.every(Number.isFinite), String(scores));
  assert.equal(await page.locator('.numbers .strip').count(), columns);
  assert.match(await page.locator('.told').textContent(), / · .*= /);
  await turn(page, 'Mask');
  assert.deepEqual((await cells(page, 1)).map(number), scores);
  await turn(page, 'Softmax');
  const weights = (await cells(page, 3)).map(number);
  assert.ok(Math.abs(weights.reduce((sum, one) => sum + one, 0) - 1) < 0.01, String(weights));
  // What is shown hangs together: exp(s) over its sum, to the digits that are seen.
  const sum = scores.reduce((all, one) => all + Math.exp(one), 0);
  scores.forEach((one, j) => assert.ok(Math.abs(Math.exp(one) / sum - weights[j]) < 0.02, `${one} → ${weights[j]}`));
  await turn(page, 'Sum');
  const first = (await cells(page, 3)).map((text) => number(text.trim().split(/\s+/)[0]));
  const out = number((await page.locator('.numbers tfoot td').last().textContent()).trim().split(/\s+/)[0]);
  const pooled = weights.reduce((all, weight, j) => all + weight * first[j], 0);
  assert.ok(Math.abs(pooled - out) < 0.02 * Math.max(1, ...first.map(Math.abs)), `${pooled} and ${out}`);
});

pageTest('Any part, layer, head and row can be had, and another word is lit', async (page, server) => {
  await open(page);
  await page.getByLabel('Row: the word that looks').selectOption('0');
  await until(page, () => document.querySelector('.written .token[data-row="0"] rect')?.hasAttribute('stroke'));
  await page.locator('.steps').getByLabel('Part').selectOption('decoder');
  await until(page, () => document.querySelector('.numbers tbody th')?.textContent === '‹start›');
  await turn(page, 'Mask');
  const masked = await page.locator('.numbers tr.masked').count();
  assert.equal(masked, (await page.locator('.numbers tbody tr').count()) - 1, 'the first row sees the beginning alone');
  await page.locator('.steps').getByLabel('Head').selectOption('2');
  await page.locator('.steps').getByLabel('Part').selectOption('encoder');
  await until(page, () => document.querySelector('.numbers tr.masked') === null);
  if (server.seen) {
    const { part, head, row } = server.seen.filter(({ route }) => route === 'POST /api/step').at(-1).body;
    assert.deepEqual({ part, head, row }, { part: 'encoder', head: 2, row: 0 });
  }
});

pageTest('A written word that is chosen is stepped through; what is forbidden is masked', async (page) => {
  await open(page);
  await page.locator('.written .token').nth(1).click();
  await until(page, () => document.querySelector('.pickers select')?.value === '1');
  await page.locator('.read .token').nth(0).click();
  await answered(page);
  await turn(page, 'Mask');
  await until(page, () => document.querySelector('.numbers tr[data-key="0"]')?.classList.contains('masked'));
  assert.equal(await page.locator('.numbers tr[data-key="0"] td').last().textContent(), '−∞');
  await turn(page, 'Softmax');
  assert.equal(await page.locator('.numbers tr[data-key="0"] td').last().textContent(), '0.000');
});

pageTest('A head that is opened is the one stepped through', async (page, server) => {
  await open(page);
  await page.locator('summary', { hasText: 'Layers and heads' }).click();
  await page.locator('.thumb').nth(2).click();
  await until(page, () => document.querySelectorAll('.pickers select')[3]?.value === '3');
});

pageTest('Keys alone walk through the steps and the rows', async (page) => {
  await open(page);
  await page.locator('.stages input:checked').focus();
  await page.keyboard.press('ArrowRight');
  await until(page, () => document.querySelector('.step-body').dataset.step === 'mask');
  assert.equal(await page.evaluate(() => document.activeElement?.value), 'mask', 'the place is kept');
  await page.getByRole('button', { name: 'Next step' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await until(page, () => document.querySelector('.step-body').dataset.step === 'sum');
  const before = Number(await page.getByLabel('Row: the word that looks').inputValue());
  await page.getByRole('button', { name: 'The next row' }).focus();
  await page.keyboard.press('Enter');
  await until(page, (row) => Number(document.querySelector('.pickers select').value) === row, before + 1);
});

pageTest('Every step reads on a phone', async (page) => {
  await open(page);
  for (const name of ['Mask', 'Softmax', 'Sum', 'Scores']) {
    await turn(page, name);
    assert.ok(await noSideways(page), name);
    const cut = await page.evaluate(() => {
      const right = document.querySelector('.steps').getBoundingClientRect().right;
      return [...document.querySelectorAll('.numbers td')].filter((one) => one.getBoundingClientRect().right > right).length;
    });
    assert.equal(cut, 0, name);
  }
}, { view: { viewport: { width: 390, height: 844 } } });

pageTest('A model without rows to step through says so', async (page) => {
  await answered(page);
  await until(page, () => /no row to step through/.test(document.querySelector('.steps .status')?.textContent ?? ''));
  assert.ok(await page.locator('.pickers').isHidden());
}, { mockOnly: true, failing: true, intercept: (route) => route === 'POST /api/step' && [400, { error: 'the model has no attention that can be stepped through' }] });

pageTest('A score that is no product is shown without q and k', async (page) => {
  await answered(page);
  await page.locator('.numbers tbody tr').first().waitFor();
  assert.equal(await page.locator('.numbers .strip').count(), 0);
  assert.match(await page.locator('.about').textContent(), /A small network compares/);
  assert.equal(await page.locator('.pickers select:visible').count(), 1, 'one head is no choice');
}, {
  mockOnly: true,
  intercept: (route, body) => route === 'POST /api/step' && [200, { part: 'cross', layer: 1, head: 1, row: body.row, rows: body.target_tokens, columns: body.source_tokens,
    scores: body.source_tokens.map(() => 0), masked: body.source_tokens.map(() => false), largest: 0, exponentials: body.source_tokens.map(() => 1), sum: body.source_tokens.length,
    weights: body.source_tokens.map(() => 1 / body.source_tokens.length), values: body.source_tokens.map(() => [1, 2]), output: [1, 2], heads: [{ part: 'cross', layer: 1, head: 1 }] }],
});

pageTest('Steps of the wrong shape are an error, not a drawing', async (page) => {
  await answered(page);
  await until(page, () => /weights: expected/.test(document.querySelector('.steps .status.error')?.textContent ?? ''));
}, { mockOnly: true, intercept: (route, body) => route === 'POST /api/step' && [200, { part: 'cross', layer: 1, head: 1, row: 0, rows: body.target_tokens, columns: body.source_tokens,
  scores: body.source_tokens.map(() => 0), exponentials: body.source_tokens.map(() => 0), weights: [1] }] });
