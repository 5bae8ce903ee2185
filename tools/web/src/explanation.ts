// One answer and all its drawings: tokens joined by curves, the matrix, the heads.

import type { AlignmentMap, Answer, HeadsMap } from './contract';
import { el } from './dom';
import { frame, onWidth } from './figure';
import { drawHeads, HeadsView } from './figures/heads';
import { MatrixView, savedMatrix, type MatrixActions } from './figures/matrix_view';
import { drawPairs, fitsPairs, PairsView } from './figures/pairs';
import { kUnsteered, Looking, type Steering } from './looking';
import { alignmentMap, headMap, headsMap } from './maps';
import type { Saved } from './save';
import { onTheme } from './theme';

const kPairs = 'The stronger a curve, the more the token that was written looked at the token that was read.';

export class Explanation {
  readonly element = el('div', { class: 'explanation' });
  private readonly looking = new Looking();
  private readonly pairs: PairsView;
  private readonly matrix: MatrixView;
  private readonly heads = new HeadsView();
  private readonly headsBox: HTMLDetailsElement;
  private readonly pairsFrame;
  private readonly matrixFrame;
  private map: AlignmentMap | undefined;
  private headsMap: HeadsMap | undefined;
  private steering: Steering = kUnsteered;

  /** `wantHeads` is called when the reader opens the heads and they are not there. */
  constructor(private readonly actions: MatrixActions, wantHeads?: () => void) {
    this.pairs = new PairsView(this.looking, actions.forbid);
    this.matrix = new MatrixView(this.looking, actions);
    this.pairsFrame = frame('Who looked at whom', 'tokens', this.pairs.element, () => this.saved('pairs'));
    this.matrixFrame = frame('Alignment', 'alignment', this.matrix.element, () => this.saved('matrix'));
    const headsFrame = frame('Heads', 'heads', this.heads.element, () => this.savedHeads());
    this.headsBox = el('details', { class: 'heads-box' }, el('summary', {}, 'Layers and heads'), headsFrame.element);
    this.headsBox.addEventListener('toggle', () => {
      if (!this.headsBox.open) return;
      if (!this.headsMap) wantHeads?.();
      this.heads.redraw();
    });
    this.element.append(this.pairsFrame.element, this.matrixFrame.element, this.headsBox);
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
    this.pairsFrame.caption(`${kPairs} Point at a token to see its part${steerable ? '; choose one that was read to forbid it' : ''}.`);
    this.matrixFrame.caption(`${this.map.caption}${steerable ? ' Choose a cell to force that step to look there.' : ''}`);
    this.headsMap = answer.heads && headsMap(answer, answer.heads, title);
    if (this.headsMap) this.heads.show(this.headsMap);
    this.headsBox.hidden = false;
  }

  /** Without a server, what was not written into the page cannot be had. */
  hideHeads(): void {
    this.headsBox.hidden = true;
  }

  openHeads(): void {
    this.headsBox.open = true;
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
