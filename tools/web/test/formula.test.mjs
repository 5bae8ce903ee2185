// Formulas without a browser: the dialect is read, and all that the registry has can be read.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { pageTest, real, web } from './support.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const source = readFileSync(join(web, 'src/formula_tree.ts'), 'utf8');
const esbuild = createRequire(createRequire(join(web, 'package.json')).resolve('vite'))('esbuild');
const { code } = esbuild.transformSync(source, { loader: 'ts', format: 'esm' });
const folder = mkdtempSync(join(tmpdir(), 'attn-formula-'));
writeFileSync(join(folder, 'formula_tree.mjs'), code);
const { statements, WrongFormula } = await import(pathToFileURL(join(folder, 'formula_tree.mjs')).href);
rmSync(folder, { recursive: true });

const row = (body) => body.map(told).join(' ');
function told(node) {
  switch (node.kind) {
    case 'group': return `${node.open}${row(node.body)}${node.close}`;
    case 'row': return node.body.map(told).join('');
    case 'script': return `${told(node.base)}${node.low ? `_{${row(node.low)}}` : ''}${node.high ? `^{${row(node.high)}}` : ''}`;
    case 'fraction': return `{${row(node.over)} / ${row(node.under)}}`;
    case 'root': return `√{${row(node.body)}}`;
    case 'arrow': return `${node.text}${told(node.base)}`;
    case 'words': return `'${node.text}'`;
    default: return node.text;
  }
}
const read = (text) => statements(text).map(row);

// As the tables of the registry have them, strings that stand behind one another being one.
const families = process.env.ATTN_MECHANISMS ?? join(here, '../../../src/nn/mechanisms');
const registry = readdirSync(families).flatMap((family) => {
  const table = join(families, family, 'register.cpp');
  if (!existsSync(table)) return [];
  return [...readFileSync(table, 'utf8').matchAll(/\.name = "([^"]+)",[^]*?\.formula =\s*((?:"(?:[^"\\]|\\.)*"\s*)+)/g)]
    .map(([, name, texts]) => ({ name, formula: texts.match(/"(?:[^"\\]|\\.)*"/g).map((text) => JSON.parse(text)).join('') }));
});

test('What stands low, high, over and under', () => {
  assert.deepEqual(read('out = softmax(q k^T / sqrt(d)) v'), ['out = softmax({q k^{T} / √{d}}) v']);
  assert.deepEqual(read('w = exp(-(s - p)^2 / (2 sigma^2))'), ['w = exp(− {(s − p)^{2} / 2 σ^{2}})']);
  assert.deepEqual(read('e_ij = r_{t-1}'), ['e_{i j} = r_{t − 1}']);
  assert.deepEqual(read('-1/2 |x|^2'), ['− {1 / 2} | x |^{2}']);
  assert.deepEqual(read('w = exp(x_ij) / sum_{k < len} exp(x_ik)'), ['w = {exp(x_{i j}) / ∑_{k < len} exp(x_{i k})}']);
  assert.deepEqual(read("c = sum_{t' < t} a_t'"), ['c = ∑_{t^{′} < t} a_{t^{′}}']);
  assert.deepEqual(read('10000^(2j/d)'), ['10000^{2 j / d}'], 'in a script a fraction stays in its line');
  assert.deepEqual(read('[->h_j; <-h_j]'), ['[→h_{j} ; ←h_{j}]']);
  assert.deepEqual(read('(u, w) -> (w, u)'), ['(u , w) → (w , u)']);
  assert.deepEqual(read('h* = W1 x'), ['h^{∗} = W_{1} x']);
  assert.deepEqual(read('w = q · k / (√d · T)'), ['w = {q · k / √{d} · T}']);
});

test('Statements end where another begins; words are words', () => {
  assert.deepEqual(read('a = b, c = d; e'), ['a = b ,', 'c = d ;', 'e']);
  assert.deepEqual(read('c = clip(j - i, -m, m)'), ['c = clip(j − i , − m , m)']);
  assert.deepEqual(read('p = softmax(x) over valid, unvisited j'), ["p = softmax(x) 'over' 'valid' , 'unvisited' j"]);
  assert.deepEqual(read('s = sum a x with a = softmax(x)'), ["s = ∑ a x 'with' a = softmax(x)"], 'a is a name here');
  assert.deepEqual(read('w over k a multiple of step'), ["w 'over' k 'a' 'multiple' 'of' step"], 'and an article here');
});

test('What is no formula is refused, with the place', () => {
  for (const text of ['a = (b', 'a = b)', '(a]', 'a_', '^2', '/ d', 'a = €', '', 'sqrt(x']) {
    assert.throws(() => statements(text), WrongFormula, text);
  }
});

test('Every formula of the registry is of the dialect', () => {
  assert.ok(registry.length >= 63, `${registry.length} formulas`);
  for (const { name, formula } of registry) {
    assert.doesNotThrow(() => statements(formula), `${name}: ${formula}`);
    // A script that swallowed nothing, or a bracket that stands alone, would be seen as a sign.
    assert.doesNotMatch(read(formula).join(' '), /[_^](?!\{)|sqrt|\bsum\b(?!')/, name);
  }
});

pageTest('Every mechanism’s formula is set as MathML, none as typed', async (page) => {
  await page.locator('.mechanism').first().waitFor();
  const count = await page.locator('.mechanism').count();
  assert.ok(count >= (real ? 63 : registry.length), `${count} mechanisms`);
  await page.evaluate(() => document.querySelectorAll('.mechanism').forEach((one) => (one.open = true)));
  await page.waitForTimeout(200);
  const set = await page.evaluate(() => [...document.querySelectorAll('.mechanism')].map((one) => ({
    name: one.dataset.name,
    math: one.querySelectorAll('.formula math').length,
    typed: one.querySelectorAll('.formula.typed, merror').length,
    // A box without a size was not drawn.
    drawn: [...one.querySelectorAll('.formula math')].every((math) => math.getBoundingClientRect().width > 0),
  })));
  assert.deepEqual(set.filter(({ math, typed, drawn }) => math === 0 || typed > 0 || !drawn), []);
  assert.deepEqual(await page.locator('.card .formula.typed').count(), 0);
  assert.ok((await page.locator('.card .formula math').count()) > 0);
}, { intercept: (route) => route === 'GET /api/mechanisms' && [200, registry.map(({ name, formula }) => ({ name, formula, title: name, family: 'all', made_of: '', paper: '', header: '', options: '', snippet: '' }))] });
