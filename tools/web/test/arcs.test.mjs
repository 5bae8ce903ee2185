// A tree over a sentence opens, in a row or, where it is long, word below word.

import assert from 'node:assert/strict';
import { pageTest, saved, until } from './support.mjs';

const tree = (words, arcs) => ({ attn_map: 1, kind: 'arcs', title: 'A tree', caption: 'Arcs point at what depends.', words, tags: words.map(() => 'NOUN'), arcs });
const small = tree(['The', 'cat', 'sat', '.'], [
  { head: 2, dependent: 1, label: 'det', weight: 0.9 }, { head: 3, dependent: 2, label: 'nsubj', weight: 0.3 },
  { head: 0, dependent: 3, label: 'root', weight: 1 }, { head: 3, dependent: 4, label: 'punct' }]);

const open = (page, map) =>
  page.getByLabel(/A JSON file/).setInputFiles({ name: 'map.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(map)) });
const shape = (page) => page.locator('#open .map > svg').evaluate((svg) => [Number(svg.getAttribute('width')), Number(svg.getAttribute('height'))]);

pageTest('A tree is drawn with its labels and tags, and saved', async (page) => {
  await open(page, small);
  await until(page, () => document.querySelectorAll('#open .arc').length === 4);
  const text = await page.locator('#open .map > svg').textContent();
  for (const part of ['cat', 'nsubj', 'root', 'NOUN', '30 %']) assert.ok(text.includes(part), part);
  assert.equal(await page.locator('#open .arc[stroke-dasharray]').count(), 1);
  const svg = (await saved(page, page.getByRole('button', { name: 'Save map as SVG' }))).bytes.toString();
  assert.match(svg, /nsubj/);
});

pageTest('A long sentence stands word below word', async (page) => {
  const words = Array.from({ length: 60 }, (_, index) => `word${index}`);
  await open(page, tree(words, words.map((_, index) => ({ head: Math.floor((index + 1) / 2), dependent: index + 1, label: 'nmod' }))));
  await until(page, () => document.querySelectorAll('#open .word').length === 60);
  const [width, height] = await shape(page);
  assert.ok(width <= 760 && height > 60 * 15, `${width} x ${height}`);
});

pageTest('Arcs that join no words are refused in words', async (page) => {
  await open(page, { ...small, arcs: [{ head: 9, dependent: 1 }] });
  await until(page, () => /arcs\[0\]: expected a head and a dependent/.test(document.querySelector('#open .status').textContent));
});

const reply = { text: '1\tThe\t_\tDET\n2\tcat\t_\tNOUN', notes: ['a guess'], map: small };
pageTest('An answer that is a tree is shown where others are', async (page) => {
  await page.getByRole('button', { name: 'Answer', exact: true }).click();
  await until(page, () => document.querySelectorAll('#try .arc').length === 4);
  assert.match(await page.locator('#try .answer').textContent(), /cat/);
  assert.match(await page.locator('#try .notices').textContent(), /a guess/);
  assert.ok(await page.locator('#try .explanation').isHidden());
}, { mockOnly: true, intercept: (route) => route.startsWith('POST /api/') && [200, reply] });
