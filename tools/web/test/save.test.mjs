import assert from 'node:assert/strict';
import { ask, pageTest, saved } from './support.mjs';

const button = (page, kind, name = 'alignment') => page.locator('#try').getByRole('button', { name: `Save ${name} as ${kind}` });

// The colour at the middle of a cell of the exported PNG, found by its place in the exported SVG.
async function parse(page, svg) {
  return page.evaluate((text) => {
    const made = new DOMParser().parseFromString(text, 'image/svg+xml');
    if (made.querySelector('parsererror')) return undefined;
    const root = made.documentElement;
    const shift = made.querySelector('g[transform]').getAttribute('transform').match(/[\d.]+/g).map(Number);
    return {
      width: Number(root.getAttribute('width')),
      height: Number(root.getAttribute('height')),
      texts: [...made.querySelectorAll('text')].map((one) => one.textContent),
      cells: [...made.querySelectorAll('.cells rect')].map((one) => ({
        row: Number(one.dataset.row),
        column: Number(one.dataset.column),
        x: Number(one.getAttribute('x')) + shift[0],
        y: Number(one.getAttribute('y')) + shift[1],
        side: Number(one.getAttribute('width')),
        fill: one.getAttribute('fill'),
      })),
    };
  }, svg.toString());
}

pageTest('JSON is a map with the numbers of the picture', async (page) => {
  const { rows, columns } = await ask(page);
  const { name, bytes } = await saved(page, button(page, 'JSON'));
  assert.equal(name, 'attn-alignment.json');
  const map = JSON.parse(bytes);
  assert.equal(map.attn_map, 1);
  assert.equal(map.kind, 'alignment');
  assert.ok(map.title && map.caption && map.row_title && map.column_title);
  assert.equal(map.rows.length, rows);
  assert.equal(map.columns.length, columns);
  assert.equal(map.rows.at(-1), '</s>');
  for (const row of map.weights) {
    assert.equal(row.length, columns);
    assert.ok(Math.abs(row.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-2);
  }
});

pageTest('SVG has the right cells, and PNG has their colours', async (page) => {
  const { rows, columns } = await ask(page);
  const map = JSON.parse((await saved(page, button(page, 'JSON'))).bytes);
  const svg = await parse(page, (await saved(page, button(page, 'SVG'))).bytes);
  assert.equal(svg.cells.length, rows * columns);
  assert.ok(svg.texts.some((text) => text === map.title));
  // Larger weights are darker on paper, without exception.
  const lightness = (fill) => parseInt(fill.slice(1, 3), 16) + parseInt(fill.slice(3, 5), 16) + parseInt(fill.slice(5, 7), 16);
  const sorted = svg.cells.map((cell) => [map.weights[cell.row][cell.column], lightness(cell.fill)]).sort((a, b) => a[0] - b[0]);
  sorted.reduce((before, now) => (assert.ok(now[1] <= before[1] + 1, `${before} ${now}`), now));
  const { x, y } = svg.cells.find((cell) => cell.row === 0 && cell.column === 0);
  for (const cell of svg.cells) {
    const pitch = svg.cells.find((one) => one.row === 0 && one.column === 1).x - x;
    assert.ok(Math.abs(cell.x - x - cell.column * pitch) < 0.2 && Math.abs(cell.y - y - cell.row * pitch) < 0.2);
  }
  const png = await saved(page, button(page, 'PNG'));
  assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
  assert.equal(png.bytes.readUInt32BE(16), Math.ceil(2 * svg.width));
  assert.equal(png.bytes.readUInt32BE(20), Math.ceil(2 * svg.height));
  const colours = await page.evaluate(async ({ base64, cells }) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    // Near the corner, where no number is written.
    return cells.map((cell) => [...context.getImageData(Math.round(2 * (cell.x + 4)), Math.round(2 * (cell.y + 4)), 1, 1).data.slice(0, 3)]);
  }, { base64: png.bytes.toString('base64'), cells: svg.cells });
  svg.cells.forEach((cell, index) => {
    const wanted = [1, 3, 5].map((at) => parseInt(cell.fill.slice(at, at + 2), 16));
    colours[index].forEach((value, c) => assert.ok(Math.abs(value - wanted[c]) <= 2, `${cell.row},${cell.column}`));
  });
});

pageTest('A file is drawn for paper when the screen is dark', async (page) => {
  await ask(page);
  const svg = (await saved(page, button(page, 'SVG'))).bytes.toString();
  assert.ok(svg.includes('fill="#fdfcf9"') && !svg.includes('#15171b'));
  assert.ok(!/style=|class="spot"|currentColor/.test(svg), 'it needs no style sheet');
}, { view: { colorScheme: 'dark' } });

pageTest('Tokens joined by curves are saved too', async (page) => {
  const { rows, columns } = await ask(page);
  const svg = (await saved(page, button(page, 'SVG', 'tokens'))).bytes.toString();
  assert.equal(svg.match(/class="token"/g).length, rows + columns);
});
