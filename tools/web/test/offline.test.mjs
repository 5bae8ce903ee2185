import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { pageTest, saved, web } from './support.mjs';

const data = JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'data/answers.json'), 'utf8'));
const text = 'A simple program to draw pictures';

// As the program writes it: no character in the block can end the block.
function block(value) {
  const json = JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `<script id="attn-data" type="application/json">${json}</script>`;
}

async function open(page, value) {
  const folder = mkdtempSync(join(tmpdir(), 'attn-page-'));
  const template = readFileSync(join(web, 'dist/offline.html'), 'utf8');
  assert.equal(template.split('<!--attn-data-->').length, 2, 'one place for the data');
  const path = join(folder, 'page.html');
  writeFileSync(path, template.replace('<!--attn-data-->', () => (value === undefined ? '' : block(value))));
  await page.goto(pathToFileURL(path).href);
  rmSync(folder, { recursive: true });
}

const live = {
  example: { name: 'softmax', title: 'Softmax', formula: 'w = softmax(s)', about: 'About.', kind: 'matrix', sliders: [{ name: 't', label: 'T', min: 0, max: 1, step: 0.1, value: 0.5 }] },
  map: { attn_map: 1, kind: 'alignment', title: 'Softmax', caption: 'Given.', rows: ['a'], columns: ['b', 'c'], row_title: 'q', column_title: 'k', weights: [[0.25, 0.75]] },
};

pageTest('One file from file: shows its answer, its drawings and its examples', async (page) => {
  await open(page, { task: 'translate', model: 'shipped', text, answers: data.translate[text], live: [live] });
  const [first] = data.translate[text];
  assert.equal(await page.locator('#try .answer').textContent(), first.text);
  assert.equal(await page.locator('#try .cells rect').count(), first.weights.length * first.weights[0].length);
  assert.ok(await page.locator('.heads-box').isHidden(), 'no heads were written');
  assert.equal(await page.title(), `translate: ${text} · attn`);
  assert.match(await page.locator('#try').textContent(), /The model that ships with attn for translate read:/);
  assert.equal(await page.locator('.written .token:has(rect[stroke])').count(), 1, 'one word is lit');
  assert.match(await page.locator('#try').textContent(), /computed by a server: attn serve/);
  assert.equal(await page.locator('.story math').count() > 0, true);
  await page.locator('.written .token').first().hover();
  assert.match(await page.locator('.pairs .readout').textContent(), /looked at/);
  await page.locator('.best button').nth(1).click();
  assert.equal(await page.locator('#try .answer').textContent(), data.translate[text][1].text);
  assert.equal(await page.locator('.card .cells rect').count(), 2);
  assert.ok(await page.locator('.card input').isDisabled());
  const map = JSON.parse((await saved(page, page.getByRole('button', { name: 'Save alignment as JSON' }))).bytes);
  assert.deepEqual(map.weights, data.translate[text][1].weights);
}, { stay: true });

pageTest('Heads in the file can be opened', async (page) => {
  const answers = [{ ...data.translate[text][0], heads: [{ part: 'cross', layer: 1, head: 1, weights: data.translate[text][0].weights }] }];
  await open(page, { task: 'translate', model: 'shipped', text, answers });
  await page.locator('summary', { hasText: 'Layers and heads' }).click();
  await page.locator('.thumb').click();
  assert.ok((await page.locator('.single .cells rect').count()) > 0);
}, { stay: true });

pageTest('An answer that is no tokens over tokens is drawn as its own picture', async (page) => {
  const figure = { attn_map: 1, kind: 'arcs', title: '', caption: 'Arcs.', words: ['They', 'sat'], arcs: [{ head: 2, dependent: 1, label: 'nsubj' }, { head: 0, dependent: 2, label: 'root' }] };
  await open(page, { task: 'parse', model: 'shipped', text: 'They sat', figure });
  assert.equal(await page.locator('#figure .arc').count(), 2);
  assert.match(await page.locator('#figure').textContent(), /The model that ships with attn for parse read:/);
}, { stay: true });

pageTest('Text in the file cannot become markup', async (page) => {
  const hostile = '</script><img src=x onerror="window.hurt=1">';
  await open(page, { task: 'translate', model: 'm', text: hostile, answers: [{ ...data.translate[text][0], text: hostile }] });
  assert.equal(await page.locator('#try .answer').textContent(), hostile);
  assert.equal(await page.locator('blockquote').textContent(), hostile);
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  assert.equal(await page.locator('img').count(), 0);
}, { stay: true });

pageTest('A damaged or empty file says so', async (page) => {
  await open(page, { answers: [{ text: 'x' }] });
  assert.match(await page.locator('.status.error').textContent(), /answers\[0\]\.source_tokens/);
  await open(page, undefined);
  assert.match(await page.locator('.status').textContent(), /no answer/);
}, { stay: true });
