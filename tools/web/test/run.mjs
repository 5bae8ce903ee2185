// The page's tests, in a real browser: node test/run.mjs [--web DIR]. DIR holds node_modules and
// dist; it is tools/web itself unless it is given. ATTN_PAGE_URL names a server to test instead
// of the mock, ATTN_CHROMIUM a browser. Where something is missing it says "page: skipped".

import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const given = process.argv.indexOf('--web');
const web = resolve(given > 0 ? process.argv[given + 1] : join(here, '..'));

function skip(why) {
  console.log(`page: skipped: ${why}`);
  process.exit(0);
}

function browser() {
  const names = process.env.ATTN_CHROMIUM ? [process.env.ATTN_CHROMIUM] : ['chromium', 'chromium-browser', 'google-chrome'];
  const folders = (process.env.PATH ?? '').split(':');
  const paths = names.flatMap((name) => (name.includes('/') ? [name] : folders.map((folder) => join(folder, name))));
  return paths.find((path) => existsSync(path));
}

if (!existsSync(join(web, 'dist', 'offline.html'))) skip(`the page was not built in ${web}`);
if (!existsSync(join(web, 'node_modules', 'playwright-core'))) skip(`playwright-core is not in ${web}/node_modules`);
const chromium = browser();
if (!chromium) skip('chromium is not found (Debian: apt-get install chromium)');

process.env.ATTN_PAGE_WEB = web;
process.env.ATTN_CHROMIUM = chromium;

// Types first: a page that does not check is not worth a browser.
const types = spawnSync(process.execPath, [join(web, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', web], { encoding: 'utf8' });
if (types.status !== 0) {
  console.log(types.stdout);
  process.exit(1);
}
const only = process.env.ATTN_PAGE_ONLY ?? '';
for (const name of readdirSync(here).filter((one) => one.endsWith('.test.mjs') && one.includes(only)).sort()) {
  await import(pathToFileURL(join(here, name)).href);
}
