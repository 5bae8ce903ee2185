import assert from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import { pageTest, noSideways, saved } from './support.mjs';

// A PNG of one colour.
function png(width, height, colour) {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const made = Buffer.alloc(body.length + 8);
    made.writeUInt32BE(data.length, 0);
    body.copy(made, 4);
    made.writeUInt32BE(checksum(body), body.length + 4);
    return made;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.concat(new Array(width).fill(Buffer.from(colour)))]);
  const rows = Buffer.concat(new Array(height).fill(row));
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; ++bit) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

const choose = (page, name, buffer) => page.getByLabel('A picture of yours').setInputFiles({ name, mimeType: 'image/png', buffer });
const asked = (server) => server.seen.filter(({ route, body }) => route === 'POST /api/answer' && body.picture).map(({ body }) => body);

pageTest('A picture is made small, asked about, and drawn with where it was looked at', async (page, server) => {
  await page.getByLabel('Question', { exact: true }).fill('what color is it?');
  await choose(page, 'sea.png', png(1000, 500, [10, 20, 200]));
  await page.locator('#picture .answer').waitFor();
  assert.equal(await page.locator('#picture .answer').textContent(), 'blue');
  assert.match(await page.locator('#picture .facts').textContent(), /^blue \d+ %/);
  assert.equal(await page.locator('#picture .panels li').count(), 3);
  const [body] = asked(server);
  assert.equal(body.question, 'what color is it?');
  assert.equal(body.picture.width, 2 * body.picture.height);
  const pixels = Buffer.from(body.picture.pixels, 'base64');
  assert.equal(pixels.length, body.picture.width * body.picture.height * 3);
  assert.deepEqual([...pixels.subarray(0, 3)], [10, 20, 200]);
  assert.ok(JSON.stringify(body).length < 262_144, 'it fits into a request');
  const { bytes } = await saved(page, page.getByRole('button', { name: 'Save picture as JSON' }));
  assert.equal(JSON.parse(bytes).kind, 'image');
  await page.getByLabel('Question', { exact: true }).fill('and now?');
  await page.locator('#picture').getByRole('button', { name: 'Look', exact: true }).click();
  await page.waitForTimeout(300);
  assert.equal(asked(server).at(-1).question, 'and now?');
}, { mockOnly: true });

pageTest('What is no picture is told, and so is a question that is missing', async (page, server) => {
  await page.locator('#picture').getByRole('button', { name: 'Look', exact: true }).click();
  assert.match(await page.locator('#picture .status').textContent(), /Choose a picture/);
  await choose(page, 'notes.png', Buffer.from('this is a text'));
  await page.locator('#picture .status.error').waitFor();
  assert.match(await page.locator('#picture .status').textContent(), /notes\.png is no picture/);
  await page.getByLabel('Question', { exact: true }).fill(' ');
  await choose(page, 'a.png', png(4, 4, [255, 0, 0]));
  await page.locator('#picture .status.empty').waitFor();
  assert.match(await page.locator('#picture .status').textContent(), /Type a question/);
  assert.equal(asked(server).length, 0);
}, { mockOnly: true });

pageTest('A picture section fits a narrow screen', async (page) => {
  await choose(page, 'wide.png', png(600, 20, [0, 200, 0]));
  await page.locator('#picture .answer').waitFor();
  assert.ok(await noSideways(page));
}, { mockOnly: true, view: { viewport: { width: 390, height: 800 } } });
