import assert from 'node:assert/strict';
import { answered, ask, pageTest, saved, until } from './support.mjs';

const map = async (page) => JSON.parse((await saved(page, page.getByRole('button', { name: 'Save alignment as JSON' }))).bytes);
const lastQuestion = (server) => server.seen?.filter(({ route }) => route === 'POST /api/answer').at(-1).body;

pageTest('A forbidden token gets no weight, is marked, and comes back', async (page, server) => {
  const { text } = await ask(page);
  const token = page.locator('.read .token').nth(1);
  await token.click();
  await page.locator('#try .marks .forbidden').waitFor({ state: 'attached' });
  await answered(page);
  const { weights } = await map(page);
  assert.ok(weights.every((row) => row[1] < 1e-6), 'nobody looks there');
  assert.equal(await page.locator('.read .token').nth(1).getAttribute('aria-pressed'), 'true');
  assert.equal(await page.locator('.read .token text').nth(1).getAttribute('text-decoration'), 'line-through');
  assert.ok(await page.locator('#try .answer.steered').isVisible());
  if (server.seen) assert.deepEqual(lastQuestion(server).forbid, [1]);
  await page.locator('.read .token').nth(1).click();
  await page.locator('.chip').waitFor({ state: 'detached' });
  await answered(page);
  assert.equal(await page.locator('#try .answer').textContent(), text);
});

pageTest('A forced cell holds all the weight of its step, and changes the answer', async (page, server) => {
  const { text } = await ask(page);
  await page.locator('#try .cells rect[data-row="1"][data-column="0"]').click();
  await page.locator('#try .marks .forced').waitFor({ state: 'attached' });
  await answered(page);
  const { weights } = await map(page);
  assert.ok(weights[1][0] > 0.99, String(weights[1]));
  assert.match(await page.locator('.chip.force').textContent(), /step 2 → /);
  if (server.seen) {
    assert.deepEqual(lastQuestion(server).force, [{ step: 1, position: 0 }]);
    assert.notEqual(await page.locator('#try .answer').textContent(), text);
    assert.ok((await page.locator('#try .facts').textContent()).includes(`“${text}”`), 'what it was is told');
  }
  await page.getByRole('button', { name: 'Reset' }).click();
  await page.locator('.chip').waitFor({ state: 'detached' });
  await answered(page);
  assert.equal(await page.locator('#try .answer').textContent(), text);
});

pageTest('Temperature makes attention more even', async (page, server) => {
  await ask(page);
  const sharp = (await map(page)).weights[0];
  const slider = page.getByLabel('Attention temperature');
  await slider.fill('1');
  await until(page, () => !document.querySelector('.reset').hidden);
  await page.waitForTimeout(300);
  await answered(page);
  const even = (await map(page)).weights[0];
  assert.ok(Math.max(...even) < Math.max(...sharp), `${Math.max(...even)} < ${Math.max(...sharp)}`);
  if (server.seen) assert.ok(Math.abs(lastQuestion(server).attention_temperature - 10) < 1e-9);
  await page.getByRole('button', { name: 'Reset' }).click();
  assert.equal(await slider.inputValue(), '0');
});

pageTest('A new text begins without changes', async (page, server) => {
  await ask(page);
  await page.locator('.read .token').nth(0).click();
  await page.locator('.chip.forbid').waitFor();
  await ask(page, 'a fast web server');
  assert.equal(await page.locator('.chip').count(), 0);
  if (server.seen) assert.equal(lastQuestion(server).forbid, undefined);
});
