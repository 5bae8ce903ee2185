import assert from 'node:assert/strict';
import { answered, pageTest, until } from './support.mjs';

pageTest('A dialogue goes on by the next turn', async (page, server) => {
  await page.getByLabel('Task', { exact: true }).selectOption('chat');
  const text = page.getByLabel('Text', { exact: true });
  await text.fill('A table for two.');
  await text.press('Enter');
  await until(page, () => document.querySelector('#try .answer')?.textContent === 'Turn 1.');
  assert.match(await page.locator('#try .facts').textContent(), /seats two/);
  const next = page.getByLabel('Your next turn', { exact: true });
  await next.press('Enter'); // nothing is said
  await next.fill('At seven.');
  await page.getByRole('button', { name: 'Say', exact: true }).click();
  await until(page, () => document.querySelector('#try .answer')?.textContent === 'Turn 3.');
  assert.equal(await text.inputValue(), 'A table for two.\nTurn 1.\nAt seven.');
  assert.equal(await next.inputValue(), '');
  if (server.seen) assert.equal(server.seen.filter(({ body }) => body?.task === 'chat' && body.text.includes('Turn 1.')).length, 1);
}, { mockOnly: true });

pageTest('A task of texts has no next turn', async (page) => {
  await answered(page);
  assert.equal(await page.getByLabel('Your next turn', { exact: true }).isVisible(), false);
});
