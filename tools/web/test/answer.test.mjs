import assert from 'node:assert/strict';
import { answered, ask, kText, pageTest, until } from './support.mjs';

pageTest('The page loads with its tasks and models', async (page) => {
  assert.equal(await page.title(), 'attn');
  const tasks = await page.getByLabel('Task', { exact: true }).locator('option').allTextContents();
  assert.ok(tasks.includes('translate') && tasks.includes('pronounce'), String(tasks));
  assert.ok((await page.getByLabel('Model', { exact: true }).locator('option').count()) >= 1);
});

pageTest('A text is answered by the button, with a cell for each pair of tokens', async (page) => {
  const { rows, columns, text } = await ask(page);
  assert.ok(text.length > 0);
  assert.ok(rows > 1 && columns > 1);
  assert.equal(await page.locator('#try .cells rect').count(), rows * columns);
  assert.equal(await page.locator('#try .read .token').count(), columns);
  assert.equal(await page.locator('#try .written .token').count(), rows);
});

pageTest('Enter answers, Shift and Enter begins a line', async (page) => {
  await answered(page);
  const before = await page.locator('#try .answer').textContent();
  const box = page.getByLabel('Text', { exact: true });
  await box.fill('a fast');
  await box.press('Shift+Enter');
  assert.equal(await box.inputValue(), 'a fast\n');
  await answered(page);
  assert.equal(await page.locator('#try .answer').textContent(), before);
  await box.fill(kText);
  await box.press('Enter');
  await until(page, (text) => document.querySelector('#try .answer')?.textContent !== text, before);
});

pageTest('Another task answers with its own example', async (page) => {
  await page.getByLabel('Task', { exact: true }).selectOption('pronounce');
  await page.getByRole('button', { name: 'Example' }).click();
  await answered(page);
  assert.match(await page.locator('#try .answer').textContent(), /^[A-Z ]+$/);
});

pageTest('Nothing typed is told, not asked', async (page, server) => {
  await answered(page);
  const asked = server.seen?.length;
  await page.getByLabel('Text', { exact: true }).fill('  ');
  await page.getByRole('button', { name: 'Answer', exact: true }).click();
  assert.match(await page.locator('#try > .status').textContent(), /Type a text/);
  if (server.seen) assert.equal(server.seen.slice(asked).filter(({ route }) => route === 'POST /api/answer').length, 0);
});

pageTest('Further answers can be chosen', async (page) => {
  await ask(page);
  const list = page.locator('.best button');
  assert.equal(await list.count() > 1 && await list.first().isVisible(), false, 'folded at first');
  await page.locator('summary', { hasText: 'Other answers' }).click();
  await list.nth(1).waitFor();
  const second = await list.nth(1).locator('span').first().textContent();
  await list.nth(1).click();
  assert.equal(await page.locator('#try .answer').textContent(), second);
  assert.equal(await list.nth(1).getAttribute('aria-pressed'), 'true');
});

pageTest('Hostile text is shown as text', async (page) => {
  const hostile = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>';
  await page.getByLabel('Text', { exact: true }).fill(hostile);
  await page.getByLabel('Text', { exact: true }).press('Enter');
  await answered(page);
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  assert.equal(await page.locator('#page img, #page script').count(), 0);
});

pageTest('What a server answers is text as well', async (page) => {
  await ask(page);
  const seen = await page.locator('#try .answer').textContent();
  assert.equal(seen, '<b onclick=hurt()>bold</b>');
  assert.match(await page.locator('#try .rows text').first().textContent(), /^<i>/);
  assert.equal(await page.locator('#page b, #page i').count(), 0);
}, {
  mockOnly: true,
  intercept: (route) => route === 'POST /api/answer' && [200, { answers: [{
    text: '<b onclick=hurt()>bold</b>', score: 0, log_probability: 0, finished: true,
    source_tokens: ['<u>', '</s>'], target_tokens: ['<i>', '</s>'], weights: [[1, 0], [0, 1]],
  }] }],
});

let slow;
pageTest('While the model answers the page says so and keeps the last answer', async (page) => {
  const { text } = await ask(page);
  slow = new Promise((resolve) => setTimeout(resolve, 500));
  await page.getByLabel('Text', { exact: true }).fill('a fast web server');
  await page.getByLabel('Text', { exact: true }).press('Enter');
  assert.match(await page.locator('#try > .status').textContent(), /answering/);
  assert.equal(await page.locator('#try .answer').textContent(), text);
  await answered(page);
  assert.notEqual(await page.locator('#try .answer').textContent(), text);
}, { mockOnly: true, intercept: async (route) => void (route === 'POST /api/answer' && (await slow)) });

let broken = true;
pageTest('An error is told and can be tried again', async (page) => {
  await page.getByLabel('Text', { exact: true }).fill(kText);
  await page.getByLabel('Text', { exact: true }).press('Enter');
  await page.locator('#try > .status.error').waitFor();
  assert.match(await page.locator('#try > .status').textContent(), /too many requests/);
  broken = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await answered(page);
}, { mockOnly: true, failing: true, intercept: (route) => broken && route === 'POST /api/answer' && [429, { error: 'too many requests' }] });

pageTest('An answer of the wrong shape is an error that says where', async (page) => {
  await page.getByLabel('Text', { exact: true }).fill(kText);
  await page.getByLabel('Text', { exact: true }).press('Enter');
  await page.locator('#try > .status.error').waitFor();
  assert.match(await page.locator('#try > .status').textContent(), /answers\[0\]\.weights, row 0: expected 2 numbers/);
}, {
  mockOnly: true,
  intercept: (route) => route === 'POST /api/answer' && [200, { answers: [{ text: 'x', source_tokens: ['a', 'b'], target_tokens: ['c'], weights: [[1]] }] }],
});

pageTest('No answer at all is told', async (page) => {
  await page.getByLabel('Text', { exact: true }).fill(kText);
  await page.getByLabel('Text', { exact: true }).press('Enter');
  await page.locator('#try .status.empty').waitFor();
  assert.match(await page.locator('#try > .status').textContent(), /no answer/);
}, { mockOnly: true, intercept: (route) => route === 'POST /api/answer' && [200, { answers: [] }] });
