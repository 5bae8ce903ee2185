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

/** Labels of a sequence: the mark ▁ of a word's beginning goes, a piece that continues a word
    gets a dot, and the end is a word. Sequences without the mark stay as they are. */
export function labels(tokens: string[]): string[] {
  const pieces = tokens.some((token) => token.startsWith('▁'));
  return tokens.map((token) => {
    if (token === '</s>') return '‹end›';
    if (token === '<s>') return '‹start›';
    if (!pieces) return token === '' ? '␣' : token;
    if (token === '▁') return '␣';
    if (token.startsWith('▁')) return token.slice(1);
    return token.startsWith('<') ? token : `·${token}`;
  });
}

export function percent(weight: number): string {
  const value = 100 * weight;
  if (value > 0 && value < 1) return 'under 1\u00a0%';
  return `${Math.round(value)}\u00a0%`;
}

export function quoted(text: string): string {
  return `“${text}”`;
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
