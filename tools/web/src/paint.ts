// SVG to pixels without an <img>: a policy that allows no images from blobs still lets a reader
// save a PNG. Knows the elements that figures/ draws with.

const pictures = new WeakMap<Element, HTMLCanvasElement>();

/** An <image> that holds a canvas, in the exported file and in the PNG alike. Its address is
    set when it is written: even outside the page, an element with one is loaded at once. */
export function pictureElement(canvas: HTMLCanvasElement): SVGImageElement {
  const image = document.createElementNS('http://www.w3.org/2000/svg', 'image');
  image.setAttribute('data-picture', canvas.toDataURL('image/png'));
  pictures.set(image, canvas);
  return image;
}

interface Inherited {
  fill: string;
  stroke: string;
  fontSize: number;
  fontFamily: string;
  anchor: string;
}

function number(element: Element, name: string, other = 0): number {
  const value = parseFloat(element.getAttribute(name) ?? '');
  return Number.isFinite(value) ? value : other;
}

function paintPath(context: CanvasRenderingContext2D, element: Element, path: Path2D, style: Inherited): void {
  if (style.fill !== 'none') {
    context.save();
    context.globalAlpha *= number(element, 'fill-opacity', 1);
    context.fillStyle = style.fill;
    context.fill(path);
    context.restore();
  }
  if (style.stroke !== 'none') {
    context.save();
    context.globalAlpha *= number(element, 'stroke-opacity', 1);
    context.strokeStyle = style.stroke;
    context.lineWidth = number(element, 'stroke-width', 1);
    context.setLineDash((element.getAttribute('stroke-dasharray') ?? '').split(/[ ,]+/).filter(Boolean).map(Number));
    context.stroke(path);
    context.restore();
  }
}

function paintText(context: CanvasRenderingContext2D, element: Element, style: Inherited): void {
  const text = Array.from(element.childNodes).filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent).join('');
  const slope = element.getAttribute('font-style') ?? 'normal';
  context.font = `${slope} ${element.getAttribute('font-weight') ?? 400} ${style.fontSize}px ${style.fontFamily}`;
  context.textAlign = style.anchor === 'middle' ? 'center' : style.anchor === 'end' ? 'right' : 'left';
  context.fillStyle = style.fill;
  const x = number(element, 'x');
  const y = number(element, 'y') + number(element, 'dy') * style.fontSize; // dy is given in em
  context.fillText(text, x, y);
  if (element.getAttribute('text-decoration') === 'line-through') {
    const wide = context.measureText(text).width;
    const left = style.anchor === 'middle' ? x - wide / 2 : style.anchor === 'end' ? x - wide : x;
    context.fillRect(left, y - style.fontSize * 0.3, wide, 1);
  }
}

function paintElement(context: CanvasRenderingContext2D, element: SVGElement, inherited: Inherited): void {
  const style: Inherited = {
    fill: element.getAttribute('fill') ?? inherited.fill,
    stroke: element.getAttribute('stroke') ?? inherited.stroke,
    fontSize: number(element, 'font-size', inherited.fontSize),
    fontFamily: element.getAttribute('font-family') ?? inherited.fontFamily,
    anchor: element.getAttribute('text-anchor') ?? inherited.anchor,
  };
  context.save();
  const move = (element as SVGGraphicsElement).transform?.baseVal.consolidate()?.matrix;
  if (move) context.transform(move.a, move.b, move.c, move.d, move.e, move.f);
  context.globalAlpha *= number(element, 'opacity', 1);
  const path = new Path2D();
  switch (element.localName) {
    case 'svg':
    case 'g':
      for (const child of element.children) paintElement(context, child as SVGElement, style);
      break;
    case 'rect':
      path.roundRect(number(element, 'x'), number(element, 'y'), number(element, 'width'), number(element, 'height'), number(element, 'rx'));
      paintPath(context, element, path, style);
      break;
    case 'circle':
      path.arc(number(element, 'cx'), number(element, 'cy'), number(element, 'r'), 0, 2 * Math.PI);
      paintPath(context, element, path, style);
      break;
    case 'line':
      path.moveTo(number(element, 'x1'), number(element, 'y1'));
      path.lineTo(number(element, 'x2'), number(element, 'y2'));
      paintPath(context, element, path, style);
      break;
    case 'path':
      paintPath(context, element, new Path2D(element.getAttribute('d') ?? ''), style);
      break;
    case 'text':
      paintText(context, element, style);
      break;
    case 'image': {
      const picture = pictures.get(element);
      if (picture) context.drawImage(picture, number(element, 'x'), number(element, 'y'), number(element, 'width'), number(element, 'height'));
      break;
    }
    default:
      break;
  }
  context.restore();
}

/** The drawing as the text of a file. */
export function written(svg: SVGSVGElement): string {
  return new XMLSerializer().serializeToString(svg).replaceAll(' data-picture="data:image/png', ' href="data:image/png');
}

/** The drawing at `scale` pixels a unit, on `paper`. */
export function painted(svg: SVGSVGElement, paper: string, scale: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(number(svg, 'width') * scale);
  canvas.height = Math.ceil(number(svg, 'height') * scale);
  const context = canvas.getContext('2d');
  if (!context) return canvas;
  context.fillStyle = paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(scale, scale);
  paintElement(context, svg, { fill: '#000000', stroke: 'none', fontSize: 13, fontFamily: 'sans-serif', anchor: 'start' });
  return canvas;
}
