// Every state has a link: reload, back and forward, sharing; malformed ones do no harm.

import assert from 'node:assert/strict';
import { answered, ask, kText, pageTest, until } from './support.mjs';

const hash = (page) => page.evaluate(() => location.hash);
const said = (page) => page.locator('#try .answer').textContent();
const shown = (page) => page.evaluate(() => ({
  text: document.querySelector('textarea').value,
  task: document.querySelector('.ask select').value,
  picked: [...document.querySelectorAll('.pickers select')].map((one) => one.value),
  step: document.querySelector('.step-body').dataset.step,
  chips: [...document.querySelectorAll('.chip')].map((one) => one.textContent),
}));
const settled = async (page) => {
  await answered(page);
  await page.locator('.numbers tbody tr').first().waitFor();
  await until(page, () => !document.querySelector('.step-body').hasAttribute('aria-busy'));
};

pageTest('A state is reloaded and shared: text, steering, head, row, step', async (page) => {
  await ask(page);
  await settled(page);
  await page.locator('.read .token').nth(1).click();
  await settled(page);
  await page.locator('.steps').getByLabel('Part').selectOption('decoder');
  await settled(page);
  await page.locator('.steps').getByLabel('Layer').selectOption('1');
  await page.locator('.steps').getByLabel('Head').selectOption('2');
  await settled(page);
  await page.getByLabel('Row: the word that looks').selectOption('2');
  await settled(page);
  await page.locator('.stages').getByRole('radio', { name: 'Softmax' }).check();
  await until(page, () => /step=softmax/.test(location.hash));
  const before = { ...(await shown(page)), answer: await said(page) };
  assert.deepEqual(before.picked, ['2', 'decoder', '1', '2']);
  await page.reload();
  await settled(page);
  assert.deepEqual({ ...(await shown(page)), answer: await said(page) }, before);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await settled(other);
  assert.deepEqual({ ...(await shown(other)), answer: await said(other) }, before);
});

pageTest('Back and forward walk through what was asked', async (page) => {
  await settled(page);
  assert.equal(await hash(page), '', 'the first screen needs no hash');
  const first = await said(page);
  await ask(page);
  const second = await said(page);
  assert.match(await hash(page), /^#try\?task=translate&text=A\+simple/);
  await page.locator('.read .token').nth(1).click();
  await page.locator('.chip.forbid').waitFor();
  await answered(page);
  await page.goBack();
  await until(page, () => document.querySelectorAll('.chip').length === 0);
  await answered(page);
  assert.equal(await said(page), second);
  await page.goBack();
  await until(page, (text) => document.querySelector('#try .answer')?.textContent === text, first);
  await page.goForward();
  await until(page, (text) => document.querySelector('#try .answer')?.textContent === text, second);
  assert.equal(await page.getByLabel('Text', { exact: true }).inputValue(), kText);
});

pageTest('Copy link copies the whole state', async (page) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await ask(page);
  await page.locator('#try .copy').click();
  await until(page, () => /copied/.test(document.querySelector('#try > .status').textContent));
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(link, page.url());
  assert.match(link, /#try\?task=translate&text=A\+simple\+program/);
});

for (const name of ['attention_temperature', 'temperature']) pageTest(`A chosen answer and ${name} are in the link`, async (page) => {
  await page.goto(`${page.url()}#try?task=translate&text=${encodeURIComponent(kText)}&best=2&${name}=2`);
  await page.reload();
  await answered(page);
  await until(page, () => document.querySelectorAll('.best button')[1]?.getAttribute('aria-pressed') === 'true');
  assert.ok(Math.abs(Number(await page.getByLabel('Attention temperature').inputValue()) - Math.log10(2)) < 0.03);
});

const kWrong = [
  '#try?text=%E0%A4%A&task=translate',
  '#try?task=nosuchtask&model=none',
  '#try?row=-1&layer=x&head=0&part=middle&step=jump&temperature=hot&forbid=a,b&force=1-2&best=0&zzz=1',
  '#try?part=cross&layer=99&head=77&row=999999',
  '#try?forbid=999',
  '#live-nothing?x=1',
  '#mechanism-nothing',
  '#%E0%A4%A',
  '#<img src=x onerror=alert(1)>',
];
for (const wrong of kWrong) {
  pageTest(`A malformed link does no harm: ${wrong}`, async (page) => {
    await page.goto(`${page.url()}${wrong}`);
    await page.reload();
    await until(page, () => document.querySelector('#try > .status.error') || (!document.querySelector('#try .result')?.hidden && document.querySelector('#try > .status')?.textContent === ''));
    assert.equal(await page.locator('#page img').count(), 0);
    if (wrong.includes('nosuchtask') || wrong.includes('row=-1') || wrong.includes('layer=99')) {
      await until(page, () => document.querySelector('.link-note')?.hidden === false);
      assert.match(await page.locator('.link-note').textContent(), /left out/);
    }
    if (!wrong.includes('forbid=999')) await page.locator('.numbers tbody tr').first().waitFor();
  }, { failing: true });
}

pageTest('A card’s sliders are in the link, and lead back to the answer', async (page) => {
  await ask(page);
  const before = await hash(page);
  const card = page.locator('.card').filter({ has: page.locator('input[type=range]') }).first();
  await card.scrollIntoViewIfNeeded();
  await card.locator('svg').first().waitFor();
  const slider = card.locator('input[type=range]').first();
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  const name = await card.getAttribute('data-example');
  await until(page, (stem) => location.hash.startsWith(stem), `#live-${name}?`);
  const value = await slider.inputValue();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await until(other, ([example, wanted]) => document.querySelector(`#live-${example} input`)?.value === wanted, [name, value]);
  assert.ok(await other.locator(`#live-${name}`).evaluate((one) => one.getBoundingClientRect().top < innerHeight));
  await page.goBack();
  assert.equal(await hash(page), before);
});

pageTest('A mechanism has a link that opens it', async (page) => {
  await page.locator('.mechanism').first().waitFor();
  const name = await page.locator('.mechanism').last().getAttribute('data-name');
  await page.locator('.contents a', { hasText: name.replaceAll('_', ' ') }).last().click();
  assert.equal(await hash(page), `#mechanism-${name}`);
  await page.reload();
  await until(page, (id) => document.getElementById(id)?.open, `mechanism-${name}`);
  await until(page, (id) => {
    const { top, bottom } = document.getElementById(id).getBoundingClientRect();
    return top < innerHeight && bottom > 0;
  }, `mechanism-${name}`);
});
