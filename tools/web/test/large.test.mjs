import assert from 'node:assert/strict';
import { pageTest, saved, until } from './support.mjs';

const kSide = 2000;

function band() {
  const rows = Array.from({ length: kSide }, (_, index) => `w${index}`);
  const weights = rows.map((_, r) => {
    const row = new Array(kSide).fill(0);
    for (let c = Math.max(0, r - 2); c <= Math.min(kSide - 1, r + 2); ++c) row[c] = c === r ? 0.6 : 0.1;
    return row;
  });
  return { attn_map: 1, kind: 'alignment', title: 'A band', caption: 'A band.', rows, columns: rows, row_title: 'written', column_title: 'read', weights };
}

const open = (page, map) =>
  page.getByLabel(/A JSON file/).setInputFiles({ name: 'map.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(map)) });

pageTest('Two thousand by two thousand opens on a canvas, zooms, and tells its cells', async (page) => {
  await open(page, band());
  const canvas = page.locator('#open canvas.large');
  await canvas.waitFor();
  assert.equal(await page.locator('#open .cells').count(), 0);
  const dark = () => canvas.evaluate((one) => {
    const { data } = one.getContext('2d').getImageData(0, 0, one.width, one.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 0 && data[at] < 120) count += 1;
    return count;
  });
  await page.waitForTimeout(100);
  const before = await dark();
  assert.ok(before > 500, 'the band is seen');
  await page.locator('#open .stage').focus();
  for (let i = 0; i < 4; ++i) await page.keyboard.press('+');
  await page.waitForTimeout(100);
  assert.ok((await dark()) > before, 'the band is wider');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('PageDown');
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('#open .readout').textContent(), /“w10” \(row 11\) looked at “w1” \(column 2\): 0/);
  await page.keyboard.press('End');
  assert.match(await page.locator('#open .readout').textContent(), /\(column 2000\)/);
  await page.keyboard.press('0');
  await page.waitForTimeout(100);
  assert.equal(await page.locator('#open .readout').textContent().then((text) => text.length > 0), true);
});

pageTest('Its drawing is pooled when saved, its numbers are not', async (page) => {
  await open(page, band());
  await page.locator('#open canvas.large').waitFor();
  const svg = (await saved(page, page.getByRole('button', { name: 'Save map as SVG' }))).bytes.toString();
  assert.ok(svg.match(/data-column/g).length <= 200 * 200 + 200);
  assert.match(svg, /largest of 10 × 10/);
  const map = JSON.parse((await saved(page, page.getByRole('button', { name: 'Save map as JSON' }))).bytes);
  assert.equal(map.weights.length, kSide);
});

pageTest('A file that is no map is refused in words', async (page) => {
  const bad = [[{ attn_map: 1, kind: 'alignment', rows: ['a'], columns: ['b'], weights: [[1, 2]] }, /row 0: expected 1 numbers/], [{}, /attn_map/], [{ attn_map: 1, kind: 'bars' }, /attn map/]];
  for (const [map, words] of bad) {
    await open(page, map);
    await page.locator('#open .status.error').waitFor();
    await until(page, (text) => new RegExp(text).test(document.querySelector('#open .status').textContent), words.source);
  }
});

pageTest('Empty and tiny maps draw', async (page) => {
  const one = { ...band(), rows: ['a'], columns: ['b'], weights: [[1]] };
  await open(page, one);
  await page.locator('#open .cells rect').waitFor();
  await open(page, { ...one, rows: [], columns: [], weights: [] });
  await until(page, () => document.querySelectorAll('#open .cells rect').length === 0);
});
