// embed.mjs DIST OUT: the files under DIST as a C++ source, the table of tools/page/assets.hpp.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';

const kTypes = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};
const kLine = 90; // bytes of a file in a line of source

function files(folder, prefix = '') {
  return readdirSync(join(folder, prefix), { withFileTypes: true })
    .flatMap((one) => (one.isDirectory() ? files(folder, `${prefix}${one.name}/`) : [`${prefix}${one.name}`]))
    .sort();
}

// Octal has at most three digits, so nothing that follows can be taken for a part of it.
function escaped(byte) {
  if (byte === 10) return '\\n';
  if (byte === 34 || byte === 92) return `\\${String.fromCharCode(byte)}`;
  // Two question marks in a row could begin a trigraph.
  if (byte >= 32 && byte < 127 && byte !== 63) return String.fromCharCode(byte);
  return `\\${byte.toString(8).padStart(3, '0')}`;
}

function literal(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += kLine) {
    lines.push(`    "${Array.from(bytes.subarray(at, at + kLine), escaped).join('')}"`);
  }
  return lines.join('\n') || '    ""';
}

const [dist, out] = process.argv.slice(2);
const names = files(dist);
for (const name of ['index.html', 'offline.html']) {
  if (!names.includes(name)) throw new Error(`${dist} has no ${name}`);
}
const contents = names.map((name) => readFileSync(join(dist, name)));
const arrays = contents.map((bytes, index) => `constexpr char kFile${index}[] =\n${literal(bytes)};\n`);
const rows = names.map((name, index) => {
  const type = kTypes[extname(name)] ?? 'application/octet-stream';
  return `    {"${name}", "${type}", {kFile${index}, ${contents[index].length}}},`;
});
writeFileSync(out, `// Made by tools/web/embed.mjs.

#include <array>
#include <span>

#include "tools/page/assets.hpp"

namespace attn::tools {
namespace {

${arrays.join('\n')}
constexpr std::array<Asset, ${names.length}> kAssets{{
${rows.join('\n')}
}};

}  // namespace

std::span<const Asset> page_assets() {
  return kAssets;
}

}  // namespace attn::tools
`);
