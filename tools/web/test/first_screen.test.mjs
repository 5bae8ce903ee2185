// What a reader sees before doing anything.

import assert from 'node:assert/strict';
import { answered, kText, noSideways, pageTest, real, until } from './support.mjs';

for (const [width, height, colorScheme] of [[1280, 800, 'light'], [1280, 800, 'dark'], [390, 844, 'light'], [390, 844, 'dark']]) {
  pageTest(`It opens on an answered example with one word lit: ${width} pixels, ${colorScheme}`, async (page) => {
    await answered(page);
    assert.equal(await page.getByLabel('Task', { exact: true }).inputValue(), 'translate');
    const text = await page.getByLabel('Text', { exact: true }).inputValue();
    assert.ok(text.length > 10, text);
    assert.ok((await page.locator('#try .answer').textContent()).length > 0);
    // One written word is lit, with its curve, inside the first screen.
    const lit = page.locator('.written .token:has(rect[stroke])');
    assert.equal(await lit.count(), 1);
    const row = await lit.getAttribute('data-row');
    assert.ok((await page.locator(`.curves path[data-row="${row}"]:not([opacity])`).count()) >= 1);
    assert.equal(await page.locator(`.curves path:not([data-row="${row}"]):not([opacity])`).count(), 0);
    const box = await lit.boundingBox();
    assert.ok(box.y + box.height <= height, `the lit word ends at ${box.y + box.height}`);
    assert.match(await page.locator('.pairs .readout').textContent(), /looked at/);
    assert.ok(await noSideways(page));
  }, { view: { viewport: { width, height }, colorScheme } });
}

pageTest('It says what q, k, v and the weights are, in three sentences, and sets the formula', async (page) => {
  const story = await page.locator('.story p').textContent();
  for (const word of ['query', 'key', 'value', 'weight']) assert.match(story, new RegExp(word));
  assert.equal(story.match(/[.!?](\s|$)/g).length, 3);
  assert.equal(await page.locator('.story math mfrac msqrt').count(), 1);
});

pageTest('The alternatives do not push the drawing out of the first screen', async (page) => {
  await answered(page);
  const box = await page.locator('.written .token').last().boundingBox();
  assert.ok(box.y + box.height <= 800, String(box.y));
}, { view: { viewport: { width: 1280, height: 800 } } });

pageTest('The task’s own search is asked: no beam of the page’s', async (page, server) => {
  await answered(page);
  const asked = server.seen.filter(({ route }) => route === 'POST /api/answer');
  assert.equal(asked.length, 1);
  assert.deepEqual(Object.keys(asked[0].body).sort(), ['model', 'task', 'text']);
}, { mockOnly: true });

pageTest('What a server says of an answer is shown', async (page) => {
  await answered(page);
  const told = await page.locator('.notices .notice').allTextContents();
  assert.deepEqual(told, ['It was longer than 96 tokens.', 'Do not trust it.']);
}, { mockOnly: true, intercept: (route) => route === 'POST /api/answer' && [200, { ...kOne, notes: ['It was longer than 96 tokens.', 'Do not trust it.'], unfamiliar: true, cut: true }] });

pageTest('Flags alone are put into words', async (page) => {
  await answered(page);
  const told = (await page.locator('.notices .notice').allTextContents()).join(' ');
  assert.match(told, /unlike what the model has learnt/);
  assert.match(told, /longer than the model reads/);
}, { mockOnly: true, intercept: (route) => route === 'POST /api/answer' && [200, { ...kOne, unfamiliar: true, cut: true }] });

const piece = (source, text) => ({ source, cut: false, answers: [{ text, score: 0, log_probability: 0, finished: true, source_tokens: [`▁${source}`, '</s>'], target_tokens: [`▁${text}`, '</s>'], weights: [[1, 0], [0, 1]] }] });
const kOne = { answers: piece('one', 'uno').answers };

pageTest('A text in pieces is drawn a piece at a time, and steered by places of the whole', async (page, server) => {
  await answered(page);
  assert.equal(await page.locator('#try .answer').textContent(), 'uno due');
  assert.equal(await page.locator('.read .token').count(), 2);
  assert.equal(await page.locator('.read .token text').first().textContent(), 'one');
  await page.getByRole('radiogroup', { name: 'Piece' }).getByRole('radio', { name: '2' }).check();
  await until(page, () => document.querySelector('.read .token text')?.textContent === 'two');
  assert.match(await page.locator('.piece').textContent(), /two → due/);
  await page.locator('.read .token').first().click();
  await page.locator('.chip.forbid').waitFor();
  await until(page, () => document.querySelector('#try .marks .forbidden'));
  assert.deepEqual(server.seen.filter(({ route }) => route === 'POST /api/answer').at(-1).body.forbid, [2], 'the end of the first piece counts');
  await page.waitForTimeout(200);
  assert.deepEqual(server.seen.filter(({ route }) => route === 'POST /api/step').at(-1).body.forbid, [0], 'of the piece alone');
}, {
  mockOnly: true,
  intercept: (route) => route === 'POST /api/answer' && [200, {
    answers: [{ text: 'uno due', score: 0, log_probability: 0, finished: true, source_tokens: ['▁one', '</s>', '▁two', '</s>'], target_tokens: ['▁uno', '</s>', '▁due', '</s>'],
      weights: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]] }],
    pieces: [piece('one', 'uno'), piece('two', 'due')], cut: false, unfamiliar: false, notes: [],
  }],
});

pageTest('Marks are explained, and bytes are joined into their character', async (page) => {
  await answered(page);
  const labels = await page.locator('.read .token text').allTextContents();
  assert.deepEqual(labels, ['The', '␣', 'ع 1/2', 'ع 2/2', '·s', '<0xFF>', '‹end›']);
  const told = await page.locator('.marks-told').textContent();
  for (const words of ['␣a space', 'ع 1/2one byte of a character', '·sgoes on with the word', '‹end›the end']) assert.ok(told.includes(words), told);
}, {
  mockOnly: true,
  intercept: (route) => route === 'POST /api/answer' && [200, { answers: [{ text: 'x', score: 0, log_probability: 0, finished: true,
    source_tokens: ['▁The', '▁', '<0xD8>', '<0xB9>', 's', '<0xFF>', '</s>'], target_tokens: ['▁x'], weights: [[1, 0, 0, 0, 0, 0, 0]] }] }],
});

pageTest('Slanted labels neither touch nor are cut off on a phone', async (page) => {
  if (!real) {
    await page.getByLabel('Text', { exact: true }).fill(kText);
    await page.getByLabel('Text', { exact: true }).press('Enter');
  }
  await answered(page);
  const seen = await page.evaluate(() => {
    const svg = document.querySelector('#try .matrix svg');
    const labels = [...svg.querySelectorAll('.columns text')];
    const right = svg.getBoundingClientRect().right;
    const pitch = Number(svg.querySelector('.cells rect[data-column="1"]').getAttribute('x')) - Number(svg.querySelector('.cells rect[data-column="0"]').getAttribute('x'));
    return {
      slanted: labels.some((one) => one.getAttribute('transform').includes('rotate')),
      beyond: labels.filter((one) => one.getBoundingClientRect().right > right + 0.5).map((one) => one.textContent),
      // Lines at 45 degrees are as far apart as their columns times the root of a half.
      size: Number(labels[0].getAttribute('font-size')),
      room: pitch * Math.SQRT1_2,
    };
  });
  assert.ok(seen.slanted);
  assert.deepEqual(seen.beyond, []);
  assert.ok(seen.size < seen.room, `${seen.size} of ${seen.room}`);
}, { view: { viewport: { width: 390, height: 844 } } });
