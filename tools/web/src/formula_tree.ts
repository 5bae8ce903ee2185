// The dialect that formulas are typed in, read into a tree. Names, numbers and operators as one
// types them; x_i, x_{t-1}, x^T and x^(2 j) for what stands low and high; a / b for a fraction,
// sqrt(x), sum_i; [a; b] and f(x) for what they are; ->h for an arrow above; words of English
// between them. Commas and semicolons at the outside end a statement if another one follows.

export type Node =
  | { kind: 'name'; text: string } // one letter, or a word
  | { kind: 'number'; text: string }
  | { kind: 'operator'; text: string }
  | { kind: 'words'; text: string } // of English
  | { kind: 'group'; open: string; body: Node[]; close: string }
  | { kind: 'script'; base: Node; low?: Node[]; high?: Node[] }
  | { kind: 'fraction'; over: Node[]; under: Node[] }
  | { kind: 'root'; body: Node[] }
  | { kind: 'arrow'; base: Node; text: string } // above its base
  | { kind: 'row'; body: Node[] };

export class WrongFormula extends Error {}

interface Token {
  kind: 'word' | 'number' | 'sign';
  text: string;
  apart: boolean; // a space stands before it
  at: number;
}

const kGreek: Record<string, string> = {
  alpha: 'α', beta: 'β', gamma: 'γ', phi: 'φ', psi: 'ψ', rho: 'ρ', sigma: 'σ', tau: 'τ', lambda: 'λ',
};

const kEnglish = new Set(
  ('a again all and are around averaged before boxes by cells down each else features for forced from if image in its layer likewise ' +
    'norm of on or others over part query sees sentences share side square such that the their times to until unvisited valid ' +
    'when where with document multiple').split(' '),
);
const kLinks = new Set('and for from if in of on or over to when where with'.split(' '));
// They are English only outside scripts and not in front of a bracket or a script of their own.

const kSigns = ['<->', '...', '<=', '>=', '->', '<-', '!=', '..', '=', '<', '>', '+', '-', '*', '/', '.', ',', ';', ':', '~', '|', '(', ')', '[', ']', '{', '}', '_', '^', "'", '\n',
  '−', '·', '≤', '≥', '≠', '′', '√', 'Σ', '∑', '∈', '×', '→', '←', '∼', '…'];

const kSame: Record<string, string> = {
  '-': '−', '.': '·', '*': '∗', '<=': '≤', '>=': '≥', '!=': '≠', '->': '→', '<-': '←', '~': '∼', '..': '…', '...': '…', 'Σ': '∑', "'": '′',
};

/** Operators that end what stands over a fraction. */
const kLoose = new Set(['=', '<', '>', '≤', '≥', '≠', '+', '−', '→', '←', '∼', ',', ';', ':', '∑', '∈', '…', '\n']);

function tokens(text: string): Token[] {
  const all: Token[] = [];
  let at = 0;
  let apart = false;
  while (at < text.length) {
    const rest = text.slice(at);
    if (rest[0] === ' ') {
      apart = true;
      ++at;
      continue;
    }
    // source2token is one word, W2 is two tokens.
    const word = /^([a-z]{3,}[0-9][a-z]{3,}|[A-Za-zα-ω]+)/u.exec(rest)?.[0];
    const number = /^[0-9]+(\.[0-9]+)?/.exec(rest)?.[0];
    const sign = kSigns.find((one) => rest.startsWith(one));
    const found = word ?? number ?? sign;
    if (found === undefined) throw new WrongFormula(`${text}: ${JSON.stringify(rest[0])} at ${at + 1} is not of the dialect`);
    all.push({ kind: word ? 'word' : number ? 'number' : 'sign', text: found, apart, at });
    at += found.length;
    apart = false;
  }
  return all;
}

const kClosing: Record<string, string> = { '(': ')', '[': ']', '{': '}' };

class Reader {
  private next = 0;
  private scripts = 0; // how deep in scripts: there a fraction stays in its line

  constructor(private readonly text: string, private readonly all: Token[]) {}

  formula(): Node[] {
    const body = this.row(undefined);
    if (this.next < this.all.length) this.fail(`${this.all[this.next].text} closes nothing`);
    return body;
  }

  private fail(why: string): never {
    throw new WrongFormula(`${this.text}: ${why}`);
  }

  private get now(): Token | undefined {
    return this.all[this.next];
  }

  private is(text: string): boolean {
    return this.now?.text === text;
  }

  private row(close: string | undefined): Node[] {
    const body: Node[] = [];
    while (this.now && !(close !== undefined && this.now.text === close)) {
      if (this.now.kind === 'sign' && ')]}'.includes(this.now.text)) {
        if (close === undefined) break;
        this.fail(`${this.now.text} where ${close} is awaited`);
      }
      if (this.is('/') && this.scripts === 0) this.fraction(body);
      else body.push(this.item());
    }
    return body;
  }

  private fraction(body: Node[]): void {
    const touching = !(this.now as Token).apart;
    ++this.next;
    let from = body.length;
    // 1/2 x is a half of x, while a b / c is all of it over c.
    const least = touching ? Math.max(0, body.length - 1) : 0;
    while (from > least) {
      const before = body[from - 1];
      if (before.kind === 'words') break;
      if (before.kind === 'operator' && kLoose.has(before.text)) break;
      if (before.kind === 'script' && before.base.kind === 'operator' && before.base.text === '∑') break;
      --from;
    }
    const over = body.splice(from);
    if (over.length === 0) this.fail('nothing stands over a fraction');
    const under = [this.item()];
    const last = under[0];
    const sum = (last.kind === 'operator' && last.text === '∑') || (last.kind === 'script' && last.base.kind === 'operator');
    if (sum) under.push(this.item());
    body.push({ kind: 'fraction', over: bare(over), under: bare(under) });
  }

  /** A thing with all that hangs on it. */
  private item(): Node {
    let node = this.atom();
    for (;;) {
      const token = this.now;
      if (!token || token.kind !== 'sign') return node;
      if (token.text === '_' || token.text === '^') {
        node = this.scripted(node);
      } else if (!token.apart && (token.text === "'" || token.text === '′')) {
        ++this.next;
        node = { kind: 'script', base: node, high: [{ kind: 'operator', text: '′' }] };
      } else if (token.text === '*' && !token.apart && (!this.all[this.next + 1] || this.all[this.next + 1].apart)) {
        ++this.next;
        node = { kind: 'script', base: node, high: [{ kind: 'operator', text: '∗' }] };
      } else if (!token.apart && (token.text === '(' || token.text === '[') && node.kind !== 'operator' && node.kind !== 'number') {
        node = { kind: 'row', body: [node, this.group()] };
      } else {
        return node;
      }
    }
  }

  private scripted(base: Node): Node {
    const low = this.is('_');
    ++this.next;
    const body = this.script(low);
    const both = base.kind === 'script' && (low ? base.low : base.high) === undefined && base.base.kind !== 'row';
    if (both) return { ...base, ...(low ? { low: body } : { high: body }) } as Node;
    return { kind: 'script', base, ...(low ? { low: body } : { high: body }) };
  }

  private script(low: boolean): Node[] {
    const token = this.now;
    if (!token) this.fail('a script is missing at the end');
    ++this.scripts;
    let body: Node[];
    if (token.text === '{' || token.text === '(') {
      ++this.next;
      body = this.row(kClosing[token.text]);
      if (!this.now) this.fail(`${token.text} is not closed`);
      ++this.next;
    } else {
      body = [];
      // Letters and digits that touch: e_ij, x_2t, a_t'.
      for (let first = true; this.now && (first || !this.now.apart) && this.now.kind !== 'sign'; first = false) {
        body.push(...(this.now.kind === 'number' ? [{ kind: 'number', text: this.now.text } as Node] : letters(this.now.text, low)));
        ++this.next;
      }
      while (low && this.is("'") && !this.now?.apart) {
        ++this.next;
        const last = body.pop() as Node;
        body.push({ kind: 'script', base: last, high: [{ kind: 'operator', text: '′' }] });
      }
      if (body.length === 0) this.fail(`${token.text} cannot be a script`);
    }
    --this.scripts;
    return body;
  }

  private group(): Node {
    const open = (this.now as Token).text;
    ++this.next;
    const body = this.row(kClosing[open]);
    if (!this.now) this.fail(`${open} is not closed`);
    ++this.next;
    return { kind: 'group', open, body, close: kClosing[open] };
  }

  private atom(): Node {
    const token = this.now;
    if (!token) this.fail('it ends too early');
    if (token.kind === 'sign') return this.sign(token);
    ++this.next;
    if (token.kind === 'number') return { kind: 'number', text: token.text };
    const after = this.now;
    const touches = (texts: string) => after !== undefined && !after.apart && after.kind === 'sign' && texts.includes(after.text);
    if (token.text === 'sqrt' && touches('(')) {
      ++this.next;
      const body = this.row(')');
      if (!this.now) this.fail('( is not closed');
      ++this.next;
      return { kind: 'root', body };
    }
    if (token.text === 'sum' && !(after?.text === 'of')) return { kind: 'operator', text: '∑' };
    const alone = token.text.length > 1 || token.text === 'a';
    if (alone && this.scripts === 0 && this.isEnglish(token, after)) return { kind: 'words', text: token.text };
    // W1 and LN1 are W and LN with a low 1.
    if (after?.kind === 'number' && !after.apart) {
      ++this.next;
      return { kind: 'script', base: name(token.text), low: [{ kind: 'number', text: after.text }] };
    }
    return name(token.text);
  }

  private isEnglish(token: Token, after: Token | undefined): boolean {
    if (token.text === 'sum') return true; // of
    if (!kEnglish.has(token.text)) return false;
    if (token.text === 'a') {
      // An article stands in front of what it counts; a name may stand in front of "of" or "with".
      return after !== undefined && kEnglish.has(after.text) && !kLinks.has(after.text);
    }
    return !(after && !after.apart && '([_^'.includes(after.text));
  }

  private sign(token: Token): Node {
    if ('(['.includes(token.text)) return this.group();
    if (token.text === '{') return this.group();
    ++this.next;
    if (token.text === '_' || token.text === '^') this.fail(`${token.text} has nothing to stand on`);
    if (token.text === '√') return { kind: 'root', body: bare([this.item()]) };
    // An arrow that touches what follows stands above it.
    if ((token.text === '->' || token.text === '<-') && this.now && !this.now.apart && this.now.kind === 'word') {
      const over = this.atom();
      return { kind: 'arrow', base: over, text: kSame[token.text] };
    }
    return { kind: 'operator', text: kSame[token.text] ?? token.text };
  }
}

function name(text: string): Node {
  return { kind: 'name', text: kGreek[text] ?? text };
}

const kShortWords = new Set(['in']);

/** The letters of a script: e_ij has two, W_out one word. */
function letters(text: string, low: boolean): Node[] {
  if (kGreek[text] || kShortWords.has(text) || text.length > 2 || (!low && text.length > 1)) return [name(text)];
  return Array.from(text, name);
}

/** Without the brackets that only hold a fraction's part together. */
function bare(body: Node[]): Node[] {
  const [only] = body;
  return body.length === 1 && only.kind === 'group' && only.open === '(' ? only.body : body;
}

const separates = (node: Node) => node.kind === 'operator' && [',', ';', '\n'].includes(node.text);
const relates = (node: Node) => node.kind === 'operator' && ['=', '←', '→', '∼'].includes(node.text);

/** The statements of a formula, each with the sign that ends it; WrongFormula where it cannot be read. */
export function statements(text: string): Node[][] {
  const body = new Reader(text, tokens(text)).formula();
  if (body.length === 0) throw new WrongFormula('an empty formula');
  const pieces: Node[][] = [[]];
  for (const node of body) {
    pieces[pieces.length - 1].push(node);
    if (separates(node)) pieces.push([]);
  }
  const all: Node[][] = [];
  for (const piece of pieces) {
    const before = all[all.length - 1];
    const end = before?.[before.length - 1];
    const alone = end?.kind === 'operator' && (end.text === ';' || end.text === '\n' || piece.some(relates));
    if (!before || alone) all.push(piece);
    else before.push(...piece);
  }
  return all.filter((one) => one.length > 0);
}
