// Any map that the page knows, drawn into one element.

import type { AnyMap } from './contract';
import { el } from './dom';
import { onWidth } from './figure';
import { drawArcs } from './figures/arcs';
import { drawCurve } from './figures/curve';
import { drawDiagram } from './figures/diagram';
import { drawHeads, HeadsView } from './figures/heads';
import { drawImage, imagePanels } from './figures/image';
import { MatrixView, savedMatrix } from './figures/matrix_view';
import { drawSpeech, speechCanvas } from './figures/speech';
import { Looking } from './looking';
import { headMap } from './maps';
import type { Saved } from './save';
import { onTheme, palette } from './theme';

export class MapView {
  readonly element = el('div', { class: 'map' });
  private readonly matrix = new MatrixView(new Looking());
  private readonly heads = new HeadsView();
  private map: AnyMap | undefined;

  constructor() {
    onTheme(() => this.draw());
    onWidth(this.element, () => this.draw());
  }

  show(map: AnyMap): void {
    this.map = map;
    this.draw();
  }

  saved(): Saved | undefined {
    const map = this.map;
    if (!map) return undefined;
    switch (map.kind) {
      case 'alignment':
        return savedMatrix(map);
      case 'curve':
        return { map, draw: (look) => drawCurve(map, look).node() as SVGSVGElement };
      case 'arcs':
        return { map, draw: (look) => drawArcs(map, look).node() as SVGSVGElement };
      case 'diagram':
        return { map, draw: (look) => drawDiagram(map, look).node() as SVGSVGElement };
      case 'image':
        return { map, draw: (look) => drawImage(map, look).node() as SVGSVGElement };
      case 'speech':
        return { map, draw: (look) => drawSpeech(map, look).node() as SVGSVGElement };
      case 'heads': {
        const shown = this.heads.shown ?? { map };
        if (!shown.head) return { map: shown.map, draw: (look) => drawHeads(shown.map, look).node() as SVGSVGElement };
        return savedMatrix(headMap(shown.map, shown.head));
      }
    }
  }

  private put(element: Element): void {
    if (this.element.firstElementChild !== element || this.element.childElementCount !== 1) {
      this.element.replaceChildren(element);
    }
  }

  private draw(): void {
    const map = this.map;
    if (!map) return;
    switch (map.kind) {
      case 'alignment':
        this.put(this.matrix.element);
        this.matrix.show(map);
        break;
      case 'heads':
        this.put(this.heads.element);
        this.heads.show(map);
        break;
      case 'arcs':
      case 'curve': {
        const width = Math.max(240, Math.min(this.element.clientWidth || 480, 760));
        const look = { palette: palette(), width };
        const svg = (map.kind === 'arcs' ? drawArcs(map, look) : drawCurve(map, look)).node() as SVGSVGElement;
        svg.setAttribute('aria-label', `${map.title}. ${map.caption}`);
        this.put(svg);
        break;
      }
      case 'diagram': {
        const look = { palette: palette(), width: Math.max(240, this.element.clientWidth || 760) };
        const svg = drawDiagram(map, look).node() as SVGSVGElement;
        svg.setAttribute('aria-label', `${map.title}. ${map.caption}`);
        this.put(svg);
        break;
      }
      case 'image':
        this.put(imagePanels(map));
        break;
      case 'speech':
        this.put(speechCanvas(map, { palette: palette(), width: Math.max(280, this.element.clientWidth || 480) }));
        break;
    }
  }
}
