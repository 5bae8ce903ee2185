// Formulas set as MathML, which every browser draws and every screen reader reads.

import { el } from './dom';
import { statements, WrongFormula, type Node } from './formula_tree';

const kSpace = 'http://www.w3.org/1998/Math/MathML';

function math(tag: string, attributes: Record<string, string>, ...children: (Element | string)[]): Element {
  const made = document.createElementNS(kSpace, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}


/** Whether brackets must grow with what they hold. */
const isTall = (node: Node): boolean =>
  node.kind === 'fraction' ||
  (node.kind === 'group' && node.body.some(isTall)) ||
  (node.kind === 'row' && node.body.some(isTall)) ||
  (node.kind === 'script' && (isTall(node.base) || (node.base.kind === 'operator' && node.low !== undefined)));

function operator(text: string): Element {
  if (text === ',' || text === ';') return math('mo', { separator: 'true' }, text);
  if (text === '|') return math('mo', { stretchy: 'false', lspace: '0', rspace: '0' }, '|');
  if (text === '·') return math('mo', { lspace: '0.25em', rspace: '0.25em' }, '·');
  return math('mo', text === '∗' ? { lspace: '0.2em', rspace: '0.2em' } : {}, text);
}

const isWord = (node: Node | undefined): boolean =>
  node !== undefined &&
  ((node.kind === 'name' && Array.from(node.text).length > 1) ||
    (node.kind === 'script' && isWord(node.base)) ||
    (node.kind === 'row' && isWord(node.body[0])));

/** A little room between factors, as one types a space. */
function gap(before: Node | undefined, after: Node): Element[] {
  if (!before || before.kind === 'operator' || after.kind === 'operator') return [];
  if (before.kind === 'script' && before.base.kind === 'operator') return [math('mspace', { width: '0.17em' })];
  if (before.kind === 'words' || after.kind === 'words') return [math('mspace', { width: '0.35em' })];
  return [math('mspace', { width: isWord(before) || isWord(after) ? '0.22em' : '0.1em' })];
}

function row(body: Node[]): Element {
  const made = body.flatMap((node, index) => [...gap(body[index - 1], node), one(node)]);
  return made.length === 1 ? made[0] : math('mrow', {}, ...made);
}

/** A high T stands upright: it transposes. */
function power(body: Node[]): Element {
  const [first] = body;
  return body.length === 1 && first.kind === 'name' && first.text === 'T' ? math('mi', { mathvariant: 'normal' }, 'T') : row(body);
}

function one(node: Node): Element {
  switch (node.kind) {
    case 'name':
      return math('mi', {}, node.text);
    case 'number':
      return math('mn', {}, node.text);
    case 'operator':
      return operator(node.text);
    case 'words':
      return math('mtext', {}, node.text);
    case 'group': {
      const stretchy = String(node.body.some(isTall));
      return math('mrow', {}, math('mo', { fence: 'true', stretchy }, node.open), row(node.body), math('mo', { fence: 'true', stretchy }, node.close));
    }
    case 'row':
      return math('mrow', {}, ...node.body.map(one));
    case 'fraction':
      return math('mfrac', {}, row(node.over), row(node.under));
    case 'root':
      return math('msqrt', {}, row(node.body));
    case 'arrow':
      return math('mover', { accent: 'true' }, one(node.base), math('mo', { stretchy: 'false' }, node.text));
    case 'script': {
      const base = one(node.base);
      const name = node.base.kind === 'name' ? node.base.text : node.base.kind === 'operator' ? node.base.text : '';
      // max_len is a name, max_{t < len} goes over something.
      const under = name === '∑' || (name === 'max' && (node.low?.length ?? 0) > 1);
      const low = node.low ? [row(node.low)] : [];
      const high = node.high ? [power(node.high)] : [];
      const tag = low.length + high.length === 2 ? 'msubsup' : high.length === 1 ? 'msup' : under ? 'munder' : 'msub';
      return math(tag, {}, base, ...low, ...high);
    }
  }
}

const isOperator = (node: Node, texts: string) => node.kind === 'operator' && texts.includes(node.text);

const isSum = (node: Node) => isOperator(node.kind === 'script' ? node.base : node, '∑');

/** Where a long statement may go on in the next line: behind =, before + and −, around words. */
function pieces(body: Node[]): Node[][] {
  const all: Node[][] = [[]];
  let bars = 0;
  body.forEach((node, index) => {
    const before = body[index - 1];
    if (isOperator(node, '|')) ++bars;
    const binary = isOperator(node, '+−') && before !== undefined && before.kind !== 'operator';
    const sum = isSum(node) && before !== undefined && before.kind !== 'operator';
    const words = (node.kind === 'words') !== (before?.kind === 'words');
    const behind = before !== undefined && (isOperator(before, '=≤,;:') && !isOperator(node, ',;'));
    if (index > 0 && (words || ((binary || sum) && bars % 2 === 0) || behind)) all.push([]);
    all[all.length - 1].push(node);
  });
  return all;
}

function statement(body: Node[]): HTMLElement {
  const made = el('span', { class: 'statement' });
  const all = pieces(body);
  for (const piece of all) {
    if (piece[0].kind === 'words') {
      const next = all[all.indexOf(piece) + 1]?.[0];
      made.append(piece.map((node) => (node as { text: string }).text).join(' '), next && isOperator(next, ',;') ? '' : ' ');
      continue;
    }
    const shown = piece.filter((node) => !isOperator(node, '\n'));
    if (shown.length === 0) continue;
    const set = math('math', { displaystyle: 'true' }, row(shown));
    // At the beginning of a piece a sign would be taken for that of one number.
    const before = all[all.indexOf(piece) - 1]?.at(-1);
    if (isOperator(shown[0], '+−') && before && before.kind !== 'operator') {
      const sign = set.querySelector('mo');
      for (const [name, value] of [['form', 'infix'], ['lspace', '0'], ['rspace', '0.22em']]) sign?.setAttribute(name, value);
    }
    const next = all[all.indexOf(piece) + 1]?.[0];
    made.append(set, next && isOperator(next, ',;') ? '' : ' ');
  }
  return made;
}

/** A formula of our dialect. One that cannot be read, of somebody's own mechanism, is shown as typed. */
export function formula(text: string): HTMLElement {
  try {
    return el('div', { class: 'formula' }, ...statements(text).map(statement));
  } catch (error) {
    if (!(error instanceof WrongFormula)) throw error;
    return el('p', { class: 'formula typed' }, text);
  }
}

