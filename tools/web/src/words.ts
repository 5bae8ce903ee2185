// Tokens and weights as a reader wants them.

export const kFont = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';

const measure = document.createElement('canvas').getContext('2d');
const widths = new Map<string, number>();

export function textWidth(text: string, size: number): number {
  const key = `${size} ${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    if (!measure) return text.length * size * 0.6;
    measure.font = `${size}px ${kFont}`;
    width = measure.measureText(text).width;
    if (widths.size > 20_000) widths.clear();
    widths.set(key, width);
  }
  return width;
}

/** The text, cut with … where it is wider than `limit` pixels. */
export function fitted(text: string, size: number, limit: number): string {
  if (textWidth(text, size) <= limit) return text;
  const letters = Array.from(text);
  let low = 0;
  let high = letters.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(`${letters.slice(0, middle).join('')}…`, size) <= limit) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join('')}…`;
}

const kByte = /^<0x([0-9A-Fa-f]{2})>$/;

/** Bytes that stand in a row make characters: which one each is of, and its place in it. */
function bytesOf(tokens: string[]): Map<number, { letter: string; place: number; of: number }> {
  const all = new Map<number, { letter: string; place: number; of: number }>();
  const byte = (index: number) => {
    const found = kByte.exec(tokens[index] ?? '');
    return found ? parseInt(found[1], 16) : -1;
  };
  for (let at = 0; at < tokens.length; ++at) {
    const first = byte(at);
    const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : first >= 0 ? 1 : 0;
    const bytes = Array.from({ length: size }, (_, index) => byte(at + index));
    if (size === 0 || bytes.some((one) => one < 0)) continue;
    try {
      const letter = new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes));
      if (letter.trim() === '') continue;
      bytes.forEach((_, index) => all.set(at + index, { letter, place: index + 1, of: size }));
      at += size - 1;
    } catch {
      // No character: the bytes stay what they are.
    }
  }
  return all;
}

/** Labels of a sequence: the mark ▁ of a word's beginning goes, a piece that continues a word
    gets a dot, bytes become the character they are of, and the end is a word. Sequences without
    the mark stay as they are. */
export function labels(tokens: string[]): string[] {
  const pieces = tokens.some((token) => token.startsWith('▁'));
  const bytes = bytesOf(tokens);
  return tokens.map((token, index) => {
    const part = bytes.get(index);
    if (part) return part.of === 1 ? part.letter : `${part.letter} ${part.place}/${part.of}`;
    if (token === '</s>') return '‹end›';
    if (token === '<s>') return '‹start›';
    if (!pieces) return token === '' ? '␣' : token;
    if (token === '▁') return '␣';
    if (token.startsWith('▁')) return token.slice(1);
    return token.startsWith('<') ? token : `·${token}`;
  });
}

/** What a token is, for a tooltip. */
export function tokenTitle(token: string): string {
  const byte = kByte.exec(token);
  if (byte) return `the byte ${byte[1].toUpperCase()}`;
  if (token === '</s>') return 'the end of the text';
  if (token === '<s>') return 'the beginning';
  if (token === '<unk>') return 'a letter that the model does not know';
  if (token === '▁' || token === '') return 'a space';
  return token.replaceAll('▁', ' ');
}

/** Which marks stand in these sequences, explained: one entry a mark. */
export function marksIn(...sequences: string[][]): [string, string][] {
  const all = new Map<string, string>();
  for (const tokens of sequences) {
    const names = labels(tokens);
    const pieces = tokens.some((token) => token.startsWith('▁'));
    tokens.forEach((token, index) => {
      const label = names[index];
      if (pieces && label.startsWith('·') && label.length > 1) {
        if (![...all.keys()].some((mark) => mark.startsWith('·'))) all.set(label, 'goes on with the word before it: a rare word is read in pieces');
      } else if (label === '␣') {
        all.set('␣', 'a space');
      } else if (kByte.test(token) && / \d\/\d$/.test(label)) {
        if (![...all.keys()].some((mark) => mark.includes('/'))) all.set(label, 'one byte of a character that the model has no piece for');
      } else if (kByte.test(token)) {
        if (![...all.keys()].some((mark) => kByte.test(mark))) all.set(label, 'one byte of what the model has no piece for');
      } else if (token === '<unk>') {
        all.set(label, 'something the model does not know');
      } else if (label === '‹end›') {
        all.set(label, 'the end, which is read and written like a word');
      }
    });
  }
  return [...all];
}

export function percent(weight: number): string {
  const value = 100 * weight;
  if (value > 0 && value < 1) return 'under 1\u00a0%';
  return `${Math.round(value)}\u00a0%`;
}

const kFromRight = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/** Letters that run from right to left are kept from turning the words around them. */
export function quoted(text: string): string {
  return kFromRight.test(text) ? `“\u2068${text}\u2069”` : `“${text}”`;
}

/** The places with the largest weights, at most three, told as `“a” 60 %, “b” 20 %`. */
export function largest(weights: number[], names: string[]): string {
  const order = weights.map((_, index) => index).sort((a, b) => weights[b] - weights[a]);
  const chosen = order.slice(0, 3).filter((index, rank) => rank === 0 || weights[index] >= 0.05);
  return chosen.map((index) => `${quoted(names[index])} ${percent(weights[index])}`).join(', ');
}

/** A number with two digits and a true minus. */
export function score(value: number): string {
  return value.toFixed(2).replace('-', '−');
}

/** A number as short as it can be said at `step`. */
export function shortNumber(value: number, step: number): string {
  const digits = Math.max(0, Math.min(4, Math.ceil(-Math.log10(step) - 1e-9)));
  return value.toFixed(digits);
}
