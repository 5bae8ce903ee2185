// Speech: what the microphone or a file gives reaches the server as a 16 kHz mono WAV file, and the
// words come back with their times.

import assert from 'node:assert/strict';
import { kHertz, noSideways, pageTest, saved, toneFile, until } from './support.mjs';

const done = (page) => until(page, () => {
  const status = document.querySelector('#listen > .status');
  const result = document.querySelector('#listen .result');
  return status.textContent === '' && !result.hidden && !result.hasAttribute('aria-busy');
});

const sent = (server) => server.seen.filter(({ route }) => route === 'POST /api/transcribe').map(({ body }) => Buffer.from(body.sound, 'base64'));

/** The samples of a WAV file, after a look at its head. */
function samplesOf(wav) {
  assert.equal(wav.toString('latin1', 0, 4) + wav.toString('latin1', 8, 16), 'RIFFWAVEfmt ');
  assert.deepEqual([wav.readUInt16LE(20), wav.readUInt16LE(22), wav.readUInt32LE(24), wav.readUInt16LE(34)], [1, 1, 16_000, 16]);
  assert.equal(wav.readUInt32LE(40), wav.length - 44);
  return Array.from({ length: (wav.length - 44) / 2 }, (_, at) => wav.readInt16LE(44 + 2 * at) / 32768);
}

/** How much of a frequency there is: Goertzel's sum over the samples. */
function power(samples, hertz) {
  const turn = (2 * Math.PI * hertz) / 16_000;
  const [re, im] = samples.reduce(([a, b], x, at) => [a + x * Math.cos(turn * at), b + x * Math.sin(turn * at)], [0, 0]);
  return (re * re + im * im) / samples.length ** 2;
}

async function record(page, milliseconds) {
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
  await page.waitForTimeout(milliseconds);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await done(page);
}

pageTest('The microphone is recorded, made small and written down', async (page, server) => {
  await record(page, 1500);
  const samples = samplesOf(sent(server)[0]);
  assert.ok(samples.length > 16_000 && samples.length < 5 * 16_000, `${samples.length / 16_000} s`);
  // Its first moments may be silent.
  const later = samples.slice(samples.length / 2);
  for (const other of [200, 300, 600, 880, 1320]) assert.ok(power(later, kHertz) > 20 * power(later, other), `${kHertz} against ${other} Hz`);
  assert.match(await page.locator('#listen .answer').textContent(), /^base1 base2/);
  assert.ok(await page.locator('#listen .level').isHidden());
}, { mockOnly: true });

pageTest('Speech becomes words', async (page) => {
  await record(page, Number(process.env.ATTN_PAGE_SPEAK ?? 3000));
  const words = await page.locator('#listen .spoken li').count();
  assert.ok(words > 0);
  assert.equal((await page.locator('#listen .answer').textContent()).split(' ').length, words);
  const { bytes } = await saved(page, page.getByRole('button', { name: 'Save speech as JSON' }));
  const map = JSON.parse(bytes);
  assert.equal(map.kind, 'speech');
  assert.equal(map.words.length, words);
});

pageTest('A file of any rate and channels is brought to 16 kHz mono', async (page, server) => {
  const input = page.getByLabel(/Or a sound file/);
  await input.setInputFiles({ name: 'two.wav', mimeType: 'audio/wav', buffer: toneFile({ seconds: 2, hertz: 700, rate: 44_100, channels: 2 }) });
  await done(page);
  const samples = samplesOf(sent(server)[0]);
  assert.ok(Math.abs(samples.length - 32_000) <= 16, `${samples.length} samples`);
  assert.ok(power(samples, 700) > 20 * power(samples, 1400));
  assert.ok(Math.abs(Math.max(...samples) - 12_000 / 32_768) < 0.03, 'as loud as it was');
  const words = page.locator('#listen .spoken li');
  assert.equal(await words.count(), 4);
  assert.match(await words.nth(1).textContent(), /base20\.60–0\.90 s/);
  await words.nth(1).getByRole('button').click(); // it is heard, and nothing breaks
  await page.getByLabel('Speech model').selectOption('tiny');
  await until(page, () => /^tiny1 /.test(document.querySelector('#listen .answer').textContent));
  const svg = (await saved(page, page.getByRole('button', { name: 'Save speech as SVG' }))).bytes.toString();
  assert.match(svg, /tiny4/);
  assert.match(svg, /8 kHz/);
  assert.match(svg, /href="data:image\/png/);
}, { mockOnly: true });

pageTest('A file may be dropped', async (page, server) => {
  const bytes = [...toneFile({ seconds: 1, rate: 16_000 })];
  await page.evaluate((all) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(all)], 'dropped.wav', { type: 'audio/wav' }));
    document.querySelector('#listen .listen').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, bytes);
  await done(page);
  assert.equal(samplesOf(sent(server)[0]).length, 16_000);
}, { mockOnly: true });

pageTest('Of a long sound the first part is sent, and that is said', async (page, server) => {
  await page.getByLabel(/Or a sound file/).setInputFiles({ name: 'long.wav', mimeType: 'audio/wav', buffer: toneFile({ seconds: 80, rate: 16_000 }) });
  await done(page);
  assert.equal(samplesOf(sent(server)[0]).length, 65 * 16_000);
  assert.ok(sent(server)[0].length <= 2 << 20);
  assert.match(await page.locator('#listen .notices').textContent(), /lasts 80 s; its first 65 s were sent/);
}, { mockOnly: true });

pageTest('What is no sound is told, and so is what the server refuses', async (page) => {
  const input = page.getByLabel(/Or a sound file/);
  await input.setInputFiles({ name: 'text.wav', mimeType: 'audio/wav', buffer: Buffer.from('no sound') });
  await until(page, () => /cannot read it as a sound/.test(document.querySelector('#listen > .status').textContent));
  await input.setInputFiles({ name: 'a.wav', mimeType: 'audio/wav', buffer: toneFile({ seconds: 1 }) });
  await until(page, () => /there is not enough memory/.test(document.querySelector('#listen > .status').textContent));
}, { mockOnly: true, failing: true, intercept: (route) => route === 'POST /api/transcribe' && [503, { error: 'there is not enough memory for this request now' }] });

pageTest('Who refuses the microphone reads so', async (page) => {
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await until(page, () => /the microphone was not allowed/.test(document.querySelector('#listen > .status').textContent));
  assert.ok(await page.getByRole('button', { name: 'Record', exact: true }).isVisible());
}, { mockOnly: true, before: () => {
  navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
} });

const absent = { version: 'mock', page: true, tasks: [{ name: 'transcribe', about: '', metric: '', example: '', models: [], fields: ['sound'], input_bytes: 2 << 20, missing: 'attn data transcribe fetches them, once: 73 MB' }] };
pageTest('A server without the models says how to get them', async (page) => {
  assert.match(await page.locator('#listen .status').textContent(), /attn data transcribe fetches them, once: 73 MB.*attn serve --fetch/);
  assert.equal(await page.getByRole('button', { name: 'Record', exact: true }).count(), 0);
}, { mockOnly: true, intercept: (route) => route === 'GET /api/info' && [200, absent] });

pageTest('It fits a telephone', async (page) => {
  await page.getByLabel(/Or a sound file/).setInputFiles({ name: 'a.wav', mimeType: 'audio/wav', buffer: toneFile({ seconds: 3 }) });
  await done(page);
  assert.ok(await noSideways(page));
  const box = await page.locator('#listen canvas.speech').boundingBox();
  assert.ok(box.width <= 360, `${box.width}`);
}, { mockOnly: true, view: { viewport: { width: 360, height: 740 } } });
