// Digits as pen strokes, in a box 0..10 wide and 0..14 high: samples, and what a digit key stamps.

export type Stroke = [number, number][];

const round = (cx: number, cy: number, rx: number, ry: number, from = 0, to = 360): Stroke =>
  Array.from({ length: 25 }, (_, index) => {
    const angle = ((from + ((to - from) * index) / 24) * Math.PI) / 180;
    return [cx + rx * Math.sin(angle), cy - ry * Math.cos(angle)];
  });

export const kDigits: Stroke[][] = [
  [round(5, 7, 3.6, 6, 10, 372)],
  [[[3.2, 2.6], [5.4, 1], [5, 13]]],
  [[...round(4.8, 4.3, 3.2, 3.2, -75, 130), [1.8, 12.8], [8.6, 12.6]]],
  [[...round(4.6, 4, 3, 2.9, -70, 165), ...round(4.6, 9.8, 3.5, 3.2, 15, 250)]],
  [[[5.8, 1], [1.4, 8.6], [8.8, 8.4]], [[6.8, 5.4], [6.2, 13.2]]],
  [[[8.2, 1.2], [3, 1.4], [2.4, 6.4], ...round(4.7, 9.4, 3.6, 3.6, -20, 230)]],
  [[[7, 1], [3.6, 5], [2, 9], ...round(5, 9.8, 3, 3.3, -90, 270)]],
  [[[1.6, 1.6], [8.6, 1.4], [4.6, 13.2]]],
  [[...round(5, 4, 2.6, 2.8, 90, -180), ...round(5, 10, 3.2, 3.2, 0, 360), ...round(5, 4, 2.6, 2.8, 180, 90)]],
  [[...round(4.8, 4.6, 3, 3.4, 90, 450), [7.6, 6], [6.6, 13.2]]],
];

export const kDigitNames = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
