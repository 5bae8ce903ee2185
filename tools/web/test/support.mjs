// A browser for all tests, a page for each; a page that logs an error fails its test.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startMock } from './mock.mjs';

export const web = process.env.ATTN_PAGE_WEB;
export const real = process.env.ATTN_PAGE_URL; // a server that is not the mock
const { chromium } = createRequire(join(web, 'package.json'))('playwright-core');

/** A WAV file of a tone, 16 bits, as many channels as wanted. */
export function toneFile({ seconds, hertz = 440, rate = 48_000, channels = 1 }) {
  const frames = Math.round(seconds * rate);
  const file = Buffer.alloc(44 + 2 * frames * channels);
  file.write('RIFF', 0);
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(channels, 22);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(2 * rate * channels, 28);
  file.writeUInt16LE(2 * channels, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36);
  file.writeUInt32LE(file.length - 44, 40);
  for (let at = 0; at < frames; ++at) {
    for (let c = 0; c < channels; ++c) file.writeInt16LE(Math.round(12_000 * Math.sin((2 * Math.PI * hertz * at) / rate)), 44 + 2 * (at * channels + c));
  }
  return file;
}

// The browser's microphone hears this file, again and again. ATTN_PAGE_MICROPHONE names another.
export const kHertz = 440;
const scratch = mkdtempSync(join(tmpdir(), 'attn-page-'));
const microphone = process.env.ATTN_PAGE_MICROPHONE ?? join(scratch, 'microphone.wav');
if (!process.env.ATTN_PAGE_MICROPHONE) writeFileSync(microphone, toneFile({ seconds: 4, hertz: kHertz }));

const browser = await chromium.launch({
  executablePath: process.env.ATTN_CHROMIUM,
  args: ['--no-sandbox', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', `--use-file-for-fake-audio-capture=${microphone}`],
});
after(async () => {
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
});

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
    if (options.before) await context.addInitScript(options.before);
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
