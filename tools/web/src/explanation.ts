// One answer and all its drawings: tokens joined by curves, the matrix, the heads.

import type { AlignmentMap, Answer, Head, HeadsMap } from './contract';
import { el } from './dom';
import { frame, onWidth } from './figure';
import { drawHeads, HeadsView } from './figures/heads';
import { MatrixView, savedMatrix, type MatrixActions } from './figures/matrix_view';
import { drawPairs, fitsPairs, PairsView } from './figures/pairs';
import { kUnsteered, Looking, type Steering } from './looking';
import { alignmentMap, headMap, headsMap } from './maps';
import type { Saved } from './save';
import { onTheme } from './theme';
import { marksIn } from './words';

const kPairs = 'The stronger a curve, the more the token that was written looked at the token that was read.';

export interface ExplanationActions extends MatrixActions {
  choose?: (row: number) => void; // a token that was written
  wantHeads?: () => void; // the reader opens the heads and they are not there
  openHead?: (head: Head) => void;
}

/** The row to light first: a whole word, written with its eyes on one place. */
export function tellingRow(answer: Answer): number {
  const rows = answer.weights.slice(0, Math.max(1, answer.target_tokens.length - 1));
  const rate = (row: number) => {
    const token = answer.target_tokens[row];
    const whole = /^▁?\p{L}{4,}$/u.test(token) && !(answer.target_tokens[row + 1] ?? '▁').match(/^[^▁<]/u);
    return Math.max(0, ...rows[row]) + (whole ? 1 : 0);
  };
  return rows.reduce((best, _, row) => (rate(row) > rate(best) ? row : best), 0);
}

export class Explanation {
  readonly element = el('div', { class: 'explanation' });
  private readonly looking = new Looking();
  private readonly pairs: PairsView;
  private readonly matrix: MatrixView;
  private readonly heads: HeadsView;
  private readonly headsBox: HTMLDetailsElement;
  private readonly marks = el('dl', { class: 'marks-told' });
  private readonly pairsFrame;
  private readonly matrixFrame;
  private map: AlignmentMap | undefined;
  private headsMap: HeadsMap | undefined;
  private steering: Steering = kUnsteered;

  /** `between` stands under the first drawing. */
  constructor(private readonly actions: ExplanationActions, ...between: HTMLElement[]) {
    this.pairs = new PairsView(this.looking, actions.forbid, actions.choose);
    this.matrix = new MatrixView(this.looking, actions);
    this.heads = new HeadsView(actions.openHead);
    this.pairsFrame = frame('Who looked at whom', 'tokens', this.pairs.element, () => this.saved('pairs'));
    this.matrixFrame = frame('Alignment', 'alignment', this.matrix.element, () => this.saved('matrix'));
    const headsFrame = frame('Heads', 'heads', this.heads.element, () => this.savedHeads());
    this.headsBox = el('details', { class: 'heads-box' }, el('summary', {}, 'Layers and heads'), headsFrame.element);
    this.headsBox.addEventListener('toggle', () => {
      if (!this.headsBox.open) return;
      if (!this.headsMap) this.actions.wantHeads?.();
      this.heads.redraw();
    });
    this.pairsFrame.element.append(this.marks);
    this.element.append(this.pairsFrame.element, ...between, this.matrixFrame.element, this.headsBox);
    const redraw = () => {
      this.pairs.redraw();
      this.matrix.redraw();
      if (this.headsBox.open) this.heads.redraw();
    };
    onTheme(redraw);
    onWidth(this.element, redraw);
  }

  get headsOpen(): boolean {
    return this.headsBox.open;
  }

  show(answer: Answer, title: string, steering: Steering = kUnsteered): void {
    this.steering = steering;
    this.map = alignmentMap(answer, title);
    this.pairsFrame.element.hidden = !fitsPairs(this.map);
    this.pairs.show(this.map, steering);
    this.matrix.show(this.map, steering);
    const steerable = this.actions.force !== undefined;
    const choose = [...(this.actions.choose ? ['choose one that was written to step through its numbers'] : []), ...(steerable ? ['one that was read to forbid it'] : [])];
    this.pairsFrame.caption(`${kPairs} Point at a token to see its part${choose.length > 0 ? `; ${choose.join(', ')}` : ''}.`);
    this.matrixFrame.caption(`${this.map.caption}${steerable ? ' Choose a cell to force that step to look there.' : ''}`);
    this.headsMap = answer.heads && headsMap(answer, answer.heads, title);
    if (this.headsMap) this.heads.show(this.headsMap);
    this.headsBox.hidden = false;
    const marks = marksIn(answer.source_tokens, answer.target_tokens);
    this.marks.hidden = marks.length === 0;
    this.marks.replaceChildren(...marks.map(([mark, meaning]) => el('div', {}, el('dt', {}, mark), el('dd', {}, meaning))));
  }

  /** The row that is lit while nobody points. */
  light(row: number | undefined): void {
    this.looking.rest(row === undefined ? {} : { row });
  }

  /** Without a server, what was not written into the page cannot be had. */
  hideHeads(): void {
    this.headsBox.hidden = true;
  }

  private saved(kind: 'pairs' | 'matrix'): Saved | undefined {
    const map = this.map;
    if (!map) return undefined;
    if (kind === 'pairs') {
      return { map, caption: kPairs, draw: (look) => drawPairs(map, look, this.steering).svg.node() as SVGSVGElement };
    }
    return savedMatrix(map, this.steering);
  }

  private savedHeads(): Saved | undefined {
    const shown = this.heads.shown;
    if (!shown) return undefined;
    if (!shown.head) return { map: shown.map, draw: (look) => drawHeads(shown.map, look).node() as SVGSVGElement };
    return savedMatrix(headMap(shown.map, shown.head));
  }
}
