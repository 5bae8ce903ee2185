import assert from 'node:assert/strict';
import { pageTest, real, saved } from './support.mjs';

pageTest('Each live example is drawn with its formula', async (page) => {
  const cards = page.locator('.card');
  await cards.first().waitFor();
  const count = await cards.count();
  assert.ok(count >= 3);
  for (let index = 0; index < count; ++index) {
    await cards.nth(index).scrollIntoViewIfNeeded();
    await cards.nth(index).locator('svg').first().waitFor();
    assert.ok((await cards.nth(index).locator('.formula').textContent()).length > 3);
    assert.ok(await cards.nth(index).locator('.status').evaluate((one) => one.textContent === ''));
  }
});

pageTest('A slider draws anew, and the last drawing stays meanwhile', async (page, server) => {
  const drawn = page.locator('.card').filter({ has: page.locator('.cells') }).first();
  await page.locator('.card').nth(1).scrollIntoViewIfNeeded();
  const card = page.locator(`[data-example="${await drawn.getAttribute('data-example')}"]`);
  await card.locator('.cells rect').first().waitFor();
  const look = () => card.locator('.cells rect').evaluateAll((all) => all.map((one) => one.getAttribute('fill')).join());
  const before = await look();
  const slider = card.locator('input[type=range]').first();
  const most = await slider.getAttribute('max');
  const least = await slider.getAttribute('min');
  await slider.fill((await slider.inputValue()) === most ? least : most);
  assert.ok((await card.locator('.cells rect').count()) > 0, 'the drawing stays');
  for (let tries = 0; tries < 100 && (await look()) === before; ++tries) await page.waitForTimeout(50);
  assert.notEqual(await look(), before);
  if (server.seen) assert.ok(server.seen.some(({ route }) => route === 'POST /api/live'));
});

pageTest('Moving a slider quickly asks few times and ends at the last value', async (page, server) => {
  const card = page.locator('[data-example=temperature]');
  await card.scrollIntoViewIfNeeded();
  await card.locator('.cells rect').first().waitFor();
  const before = server.seen.length;
  const slider = card.locator('input');
  await slider.focus();
  for (let i = 0; i < 20; ++i) await page.keyboard.press('ArrowRight');
  await page.waitForTimeout(400);
  const asked = server.seen.slice(before).filter(({ body }) => body.name === 'temperature');
  assert.ok(asked.length >= 1 && asked.length <= 10, String(asked.length));
  assert.equal(asked.at(-1).body.values.temperature, 3);
  assert.match(await card.locator('figcaption').textContent(), /3/);
}, { mockOnly: true });

pageTest('A curve has its points, its line and its weights', async (page) => {
  const card = page.locator('.card').filter({ has: page.locator('svg .line') }).first();
  const all = page.locator('.card');
  await all.first().waitFor();
  for (let index = 0; index < (await all.count()); ++index) {
    await all.nth(index).scrollIntoViewIfNeeded();
    await all.nth(index).locator('svg').first().waitFor();
  }
  const { bytes } = await saved(page, card.getByRole('button', { name: /as JSON/ }));
  const map = JSON.parse(bytes);
  assert.equal(map.kind, 'curve');
  assert.equal(await card.locator('.point').count(), map.points.length);
  assert.equal(await card.locator('.line').count(), map.lines.length);
});

pageTest('Each mechanism has a picture of its own numbers, and its family leads to it', async (page) => {
  await page.locator('.mechanism').first().waitFor();
  const seen = await page.evaluate(() => [...document.querySelectorAll('.mechanism')].map((one) => {
    const canvas = one.querySelector('canvas.picture');
    const { data } = canvas?.getContext('2d').getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
    const colours = new Set();
    for (let at = 0; at < data.length; at += 4) colours.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
    return { name: one.dataset.name, about: canvas?.getAttribute('aria-label') ?? '', colours: colours.size };
  }));
  for (const { name, about, colours } of seen) {
    assert.match(about, /^(Its weights on its own example|It gives no weights; drawn is its output)/, name);
    assert.ok(colours >= 2, `${name} is drawn in ${colours} colour`);
  }
  const families = await page.locator('.contents .family').allTextContents();
  assert.deepEqual(families, [...new Set(families)]);
  assert.equal(await page.locator('.contents a:not(.family)').count(), seen.length);
});

pageTest('Live cards say that their vectors are invented', async (page) => {
  assert.match(await page.locator('#mechanisms .invented').textContent(), /vectors in these examples are invented/);
});

pageTest('The list of mechanisms is searched', async (page) => {
  const search = page.getByLabel('Search', { exact: true });
  await search.waitFor();
  const all = await page.locator('.mechanism').count();
  assert.ok(all >= (real ? 40 : 5));
  await search.fill('alibi');
  const few = await page.locator('.mechanism').count();
  assert.ok(few >= 1 && few < all);
  // By a key: the cards above are drawn as they come into view, and a click would aim at a line that moves.
  await page.locator('.mechanism summary').first().press('Enter');
  await page.locator('.mechanism[open] .formula').first().waitFor();
  await search.fill('no such thing at all');
  assert.match(await page.locator('.search .note').textContent(), /Nothing/);
});
