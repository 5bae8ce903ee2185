import assert from 'node:assert/strict';
import { pageTest, saved } from './support.mjs';

pageTest('A sample is described, with a picture for each word', async (page) => {
  await page.getByRole('button', { name: 'Sample', exact: true }).click();
  await page.locator('#draw .answer').waitFor();
  const words = (await page.locator('#draw .answer').textContent()).split(' ');
  assert.equal(await page.locator('.panels li').count(), words.length);
  const { bytes } = await saved(page, page.getByRole('button', { name: 'Save caption as JSON' }));
  const map = JSON.parse(bytes);
  assert.equal(map.kind, 'image');
  assert.equal(map.steps.length, words.length);
  assert.equal(Buffer.from(map.pixels, 'base64').length, 64 * 64);
  const png = await saved(page, page.getByRole('button', { name: 'Save caption as PNG' }));
  assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
});

const sent = (server) => server.seen.filter(({ route }) => route === 'POST /api/caption').map(({ body }) => Buffer.from(body.pixels, 'base64'));

pageTest('A pointer draws where it goes', async (page, server) => {
  const box = await page.locator('.pad').boundingBox();
  await page.locator('.pad').scrollIntoViewIfNeeded();
  const now = await page.locator('.pad').boundingBox();
  await page.mouse.move(now.x + 0.25 * box.width, now.y + 0.25 * box.height);
  await page.mouse.down();
  await page.mouse.move(now.x + 0.25 * box.width, now.y + 0.75 * box.height, { steps: 8 });
  await page.mouse.up();
  await page.locator('#draw .answer').waitFor();
  const [pixels] = sent(server);
  assert.ok(pixels[32 * 64 + 16] > 200, 'ink on the line');
  assert.equal(pixels[32 * 64 + 48], 0, 'none beside it');
}, { mockOnly: true });

pageTest('Keys draw, write digits and clear', async (page, server) => {
  await page.locator('.pad').focus();
  await page.keyboard.press('7');
  await page.locator('#draw .answer').waitFor();
  const digit = sent(server).at(-1);
  assert.ok(digit.some((byte) => byte > 200));
  await page.keyboard.press('Delete');
  await page.locator('#draw .status.empty').waitFor();
  await page.keyboard.press(' ');
  for (let i = 0; i < 5; ++i) await page.keyboard.press('ArrowRight');
  await page.locator('#draw .answer').waitFor();
  const line = sent(server).at(-1);
  assert.ok(line[32 * 64 + 38] > 200 && line[32 * 64 + 24] === 0);
}, { mockOnly: true });

pageTest('Glimpses tell a digit and their path', async (page, server) => {
  await page.locator('#draw').getByRole('radio', { name: 'glimpses', exact: true }).check();
  await page.locator('.pad').focus();
  await page.keyboard.press('7');
  await page.locator('#draw .answer').waitFor();
  assert.equal(await page.locator('#draw .answer').textContent(), '7');
  const { picture } = server.seen.filter(({ route }) => route === 'POST /api/look').at(-1).body;
  assert.equal(Buffer.from(picture.pixels, 'base64').length, 64 * 64);
  assert.match(await page.locator('.panels li').first().getAttribute('title'), /^the path: 32, 32 to /);
  const { bytes } = await saved(page, page.getByRole('button', { name: 'Save caption as JSON' }));
  assert.equal(JSON.parse(bytes).steps[0].path.length, 2);
}, { mockOnly: true });

pageTest('A server without a caption model says so', async (page) => {
  await page.getByRole('button', { name: 'Sample', exact: true }).click();
  await page.locator('#draw .status.error').waitFor();
  assert.match(await page.locator('#draw .status').textContent(), /no caption model/);
}, { mockOnly: true, failing: true, intercept: (route) => route === 'POST /api/caption' && [404, { error: 'no caption model' }] });
