import assert from 'node:assert/strict';
import { answered, ask, noSideways, pageTest, saved, until } from './support.mjs';

// The page's own words about a map, made again from the numbers of the exported JSON.
async function numbers(page) {
  const { bytes } = await saved(page, page.locator('#try').getByRole('button', { name: 'Save alignment as JSON' }));
  return JSON.parse(bytes.toString());
}

const most = (row) => row.indexOf(Math.max(...row));

pageTest('Pointing at a written token shows where it looked', async (page) => {
  await ask(page);
  const map = await numbers(page);
  await page.locator('.written .token').nth(0).hover();
  const name = await page.locator('.read .token text').nth(most(map.weights[0])).textContent();
  const told = await page.locator('.pairs .readout').textContent();
  assert.ok(told.includes(`looked at “${name}” ${Math.round(100 * Math.max(...map.weights[0]))}`), told);
  // Curves of other rows fade, those of this row do not.
  assert.equal(await page.locator('.curves path[data-row="0"][opacity]').count(), 0);
  const others = await page.locator('.curves path:not([data-row="0"])').count();
  assert.equal(await page.locator('.curves path:not([data-row="0"])[opacity]').count(), others);
});

pageTest('Pointing at a read token shows who looked at it', async (page) => {
  await ask(page);
  const map = await numbers(page);
  const seen = map.weights.map((row) => row[1]);
  await page.locator('.read .token').nth(1).hover();
  const name = await page.locator('.written .token text').nth(most(seen)).textContent();
  assert.ok((await page.locator('.pairs .readout').textContent()).includes(`was looked at by “${name}”`));
  // Nobody points: the row that was lit at first is lit again.
  await page.locator('#try .facts').hover();
  const lit = Number(await page.locator('.written .token:has(rect[stroke])').getAttribute('data-row'));
  const written = await page.locator('.written .token text').nth(lit).textContent();
  assert.ok((await page.locator('.pairs .readout').textContent()).startsWith(`“${written}” looked at`));
});

pageTest('Keys alone: ask, walk the matrix, forbid, force, reset', async (page) => {
  await page.keyboard.press('Tab'); // the link to the content
  for (let i = 0; i < 30; ++i) {
    if (await page.evaluate(() => document.activeElement?.tagName === 'TEXTAREA')) break;
    await page.keyboard.press('Tab');
  }
  await answered(page);
  await page.keyboard.press('Control+A');
  await page.keyboard.type('A simple program to draw pictures');
  const before = await page.locator('#try .answer').textContent();
  await page.keyboard.press('Enter');
  await until(page, (text) => document.querySelector('#try .answer')?.textContent !== text, before);
  await answered(page);
  const plain = await page.locator('#try .answer').textContent();
  const reach = async (selector) => {
    for (let i = 0; i < 40; ++i) {
      await page.keyboard.press('Tab');
      if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
    }
    assert.fail(`${selector} cannot be reached with Tab`);
  };
  await reach('.read .token');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-column')), '1');
  assert.match(await page.locator('.pairs .readout').textContent(), /was looked at by/);
  await page.keyboard.press('Enter');
  await page.locator('.chip.forbid').waitFor();
  await page.locator('#try .marks .forbidden').waitFor({ state: 'attached' });
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-column')), '1', 'the place is kept');
  await reach('.matrix .stage');
  // The first key enters at the row that is lit.
  const readout = () => page.locator('.matrix .readout').first().textContent();
  await page.keyboard.press('ArrowDown');
  const lit = Number((await readout()).match(/\(row (\d+)\)/)[1]);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.match(await readout(), new RegExp(`\\(row ${lit - 1}\\) looked at .*\\(column 3\\): `));
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, 'solid', 'the focus is seen');
  await page.keyboard.press('Enter');
  await page.locator('.chip.force').waitFor();
  for (let i = 0; i < 40; ++i) {
    await page.keyboard.press('Shift+Tab');
    if (await page.evaluate(() => document.activeElement?.matches('.reset'))) break;
  }
  await page.keyboard.press('Enter');
  await page.locator('.chip').first().waitFor({ state: 'detached' });
  await until(page, (text) => document.querySelector('#try .answer')?.textContent === text, plain);
});

pageTest('A phone’s width has no sideways scrolling, before and after an answer', async (page) => {
  assert.ok(await noSideways(page));
  await ask(page);
  await page.locator('summary', { hasText: 'Layers and heads' }).click();
  await page.locator('.thumb').first().waitFor();
  await page.locator('.card').last().scrollIntoViewIfNeeded();
  await until(page, () => document.querySelectorAll('.card svg').length > 0);
  assert.ok(await noSideways(page));
  await page.locator('.mechanism summary').first().click();
  assert.ok(await noSideways(page));
}, { view: { viewport: { width: 390, height: 844 } } });

pageTest('A long text without spaces stays inside a phone’s width', async (page) => {
  await page.getByLabel('Text', { exact: true }).fill('x'.repeat(300));
  await page.getByLabel('Text', { exact: true }).press('Enter');
  await page.locator('#try .matrix .stage > *').first().waitFor();
  assert.ok(await noSideways(page));
}, { view: { viewport: { width: 390, height: 844 } }, mockOnly: true });

const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

pageTest('Colours follow the system and the switch', async (page) => {
  // Looked at until it holds: a busy machine paints late.
  const comes = async (holds) => {
    for (let i = 0; i < 200 && !(await holds()); ++i) await page.waitForTimeout(50);
    return holds();
  };
  const dark = await paper(page);
  await ask(page);
  const cell = page.locator('#try .cells rect').first();
  const fill = await cell.getAttribute('fill');
  await page.getByRole('radio', { name: 'Light' }).check();
  assert.ok(await comes(async () => (await paper(page)) !== dark), 'the paper changes');
  assert.ok(await comes(async () => (await cell.getAttribute('fill')) !== fill), 'cells change');
  await page.reload();
  assert.ok(await comes(async () => (await paper(page)) !== dark), 'the choice is remembered');
}, { view: { colorScheme: 'dark' } });

let toldInfo;
const silence = new Promise((resolve) => (toldInfo = resolve));
pageTest('Colours are right before the server has answered', async (page) => {
  const waiting = await paper(page);
  toldInfo();
  await page.getByRole('radio', { name: 'Dark' }).check();
  assert.equal(await paper(page), waiting);
}, { mockOnly: true, view: { colorScheme: 'dark' }, intercept: async (route) => void (route === 'GET /api/info' && (await silence)) });

pageTest('Text has contrast enough in both themes', async (page) => {
  await ask(page);
  for (const theme of ['Light', 'Dark']) {
    await page.getByRole('radio', { name: theme }).check();
    const low = await page.evaluate(() => {
      const light = (colour) => {
        const [r, g, b] = colour.match(/[\d.]+/g).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const back = light(getComputedStyle(document.body).backgroundColor);
      return [...document.querySelectorAll('.note, figcaption, label, .readout, .answer, .status, h2')].filter((one) => {
        // Words on the accent colour are of the switch, which has its own pair of colours.
        if (one.closest('.segments')) return false;
        const ink = light(getComputedStyle(one).color);
        return (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05) < 4.5;
      }).map((one) => one.textContent);
    });
    assert.deepEqual(low, [], theme);
  }
});

pageTest('Nothing moves for those who want it still', async (page) => {
  const smooth = await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior);
  assert.equal(smooth, 'auto');
}, { view: { reducedMotion: 'reduce' } });
