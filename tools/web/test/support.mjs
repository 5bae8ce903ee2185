// A browser for all tests, a page for each; a page that logs an error fails its test.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startMock } from './mock.mjs';

export const web = process.env.ATTN_PAGE_WEB;
export const real = process.env.ATTN_PAGE_URL; // a server that is not the mock
const { chromium } = createRequire(join(web, 'package.json'))('playwright-core');

const browser = await chromium.launch({ executablePath: process.env.ATTN_CHROMIUM, args: ['--no-sandbox'] });
after(() => browser.close());

/** test(name, body(page, server)): `options.view` goes to the browser, `intercept` to the mock. */
export function pageTest(name, body, options = {}) {
  test(name, { timeout: 60_000, skip: options.mockOnly && real ? 'needs the mock' : false }, async () => {
    const server = real
      ? { url: real, seen: undefined, stop: () => undefined }
      : await startMock({ dist: join(web, 'dist'), intercept: options.intercept });
    const context = await browser.newContext({
      viewport: { width: 1200, height: 900 },
      acceptDownloads: true,
      ...options.view,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    const errors = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() !== 'error') return;
      // The browser itself logs an answer of 4xx or 5xx, which some tests want.
      if (options.failing && message.text().startsWith('Failed to load resource')) return;
      errors.push(message.text());
    });
    const outside = [];
    page.on('request', (request) => {
      const url = request.url();
      if (!/^(data|blob|file|about):/.test(url) && !url.startsWith(server.url)) outside.push(url);
    });
    try {
      if (!options.stay) await page.goto(server.url);
      await body(page, server);
      assert.deepEqual(errors, [], 'the console stays empty');
      assert.deepEqual(outside, [], 'nobody else is asked');
    } finally {
      await context.close();
      await server.stop();
    }
  });
}

export const kText = 'A simple program to draw pictures';

/** Types a text, answers it, and gives its tokens. */
export async function ask(page, text = kText) {
  await page.getByLabel('Task', { exact: true }).selectOption('translate');
  await page.getByLabel('Text', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Answer', exact: true }).click();
  await answered(page);
  return {
    rows: await page.locator('#try .rows text').count(),
    columns: await page.locator('#try .columns text').count(),
    text: await page.locator('#try .answer').textContent(),
  };
}

/** Waits until `done(argument)` holds in the page. Playwright's own wait evaluates text in the page,
    which the policy forbids. */
export async function until(page, done, argument) {
  for (let tries = 0; tries < 300; ++tries) {
    if (await page.evaluate(done, argument)) return;
    await page.waitForTimeout(50);
  }
  assert.fail(`never came true: ${done}`);
}

/** Waits until the model has answered. */
export async function answered(page) {
  await until(page, () => {
    const status = document.querySelector('#try > .status');
    const result = document.querySelector('#try .result');
    return status && status.textContent === '' && result && !result.hidden && !result.hasAttribute('aria-busy');
  });
}

/** The bytes of what a click downloads. */
export async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  return { name: download.suggestedFilename(), bytes: Buffer.concat(chunks) };
}

export const noSideways = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
