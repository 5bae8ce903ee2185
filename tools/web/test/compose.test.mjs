// What was composed is shown with its piano roll, and can be played.

import assert from 'node:assert/strict';
import { pageTest, until } from './support.mjs';

const roll = {
  attn_map: 1, kind: 'diagram', title: 'what the last notes looked at', caption: 'Notes over time.',
  parts: [{ x: 46, y: 34, width: 21, height: 8, label: '', detail: '', role: 'plain' }, { x: 68, y: 43, width: 21, height: 8, label: '', detail: '', role: 'score' }],
  arrows: [{ through: [[78, 47], [67, 30], [56, 38]], label: '', role: 'score', weight: 1 }],
  notes: [{ x: 46, y: 18, text: '1', anchor: 'left', role: 'plain', strong: false }],
  grids: [{ x: 46, y: 80, cell_width: 22, cell_height: 15, rows: ['G4'], columns: ['1', ''], weights: [[0.7, 0.1]], numbers: false }],
};
const reply = {
  text: 'X:1\nT:Chorale\nK:C\n[CG] |]\n', notes: [], map: roll, numbers: { tempo: [80] },
  output: { columns: ['begin', 'length', 'pitch', 'name'], rows: [[0, 1, 60, 'C4'], [0, 1, 67, 'G4']] },
};

pageTest('A piece is shown with its roll and played', async (page) => {
  await page.getByRole('button', { name: 'Answer', exact: true }).click();
  await until(page, () => document.querySelectorAll('#try .arrow').length === 1);
  assert.equal(await page.locator('#try .part').count(), 2);
  assert.equal(await page.locator('#try .cell').count(), 2);
  assert.match(await page.locator('#try .answer').textContent(), /T:Chorale/);
  const play = page.locator('#try button.play');
  assert.equal(await play.textContent(), 'Play');
  await play.click();
  assert.equal(await play.textContent(), 'Stop');
  await play.click();
  assert.equal(await play.textContent(), 'Play');
}, { mockOnly: true, intercept: (route) => route.startsWith('POST /api/') && [200, reply] });

const open = (page, map) =>
  page.getByLabel(/A JSON file/).setInputFiles({ name: 'map.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(map)) });

pageTest('A diagram off its sheet is refused in words', async (page) => {
  await open(page, roll);
  await until(page, () => document.querySelectorAll('#open .arrow').length === 1);
  await open(page, { ...roll, parts: [{ ...roll.parts[0], x: -5 }] });
  await until(page, () => /parts\[0\]\.x: expected a number/.test(document.querySelector('#open .status').textContent));
});
