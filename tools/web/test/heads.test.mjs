import assert from 'node:assert/strict';
import { ask, pageTest, saved } from './support.mjs';

async function open(page) {
  await ask(page);
  await page.locator('summary', { hasText: 'Layers and heads' }).click();
  await page.locator('.thumb').first().waitFor();
}

pageTest('Heads are asked for when they are opened, and chosen by part and layer', async (page, server) => {
  await open(page);
  if (server.seen) {
    const asked = server.seen.filter(({ route }) => route === 'POST /api/answer').map(({ body }) => body.heads === true);
    assert.ok(asked.length >= 2 && asked.slice(0, -1).every((heads) => !heads) && asked.at(-1), String(asked));
  }
  const all = await page.locator('.thumb').count();
  await page.getByRole('radiogroup', { name: 'Layer' }).getByRole('radio', { name: '1' }).check();
  const few = await page.locator('.thumb').count();
  assert.ok(few > 0 && few < all, `${few} of ${all}`);
  await page.getByRole('radiogroup', { name: 'Part' }).getByRole('radio', { name: 'encoder' }).check();
  assert.ok((await page.locator('.thumb').count()) > few, 'all layers again');
  assert.match(await page.locator('.thumb').first().getAttribute('data-head'), /^encoder-1-1$/);
});

pageTest('A small matrix opens, is saved alone, and closes to where one was', async (page) => {
  await open(page);
  const thumb = page.locator('.thumb').nth(1);
  const name = await thumb.getAttribute('data-head');
  await thumb.focus();
  await page.keyboard.press('Enter');
  await page.locator('.single .cells rect').first().waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.className), 'small back');
  const { bytes } = await saved(page, page.getByRole('button', { name: 'Save heads as JSON' }));
  const map = JSON.parse(bytes);
  assert.equal(map.kind, 'alignment');
  assert.equal(await page.locator('.single .cells rect').count(), map.rows.length * map.columns.length);
  await page.locator('.back').focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-head')), name);
});

pageTest('The grid is saved as a map of heads', async (page) => {
  await open(page);
  const { bytes } = await saved(page, page.getByRole('button', { name: 'Save heads as JSON' }));
  const map = JSON.parse(bytes);
  assert.equal(map.kind, 'heads');
  assert.equal(map.maps.length, await page.locator('.thumb').count());
  const svg = await saved(page, page.getByRole('button', { name: 'Save heads as SVG' }));
  assert.match(svg.bytes.toString(), /^<svg .*layer 1/s);
});
