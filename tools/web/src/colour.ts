// One hue, even in lightness: dark on paper, bright on a dark screen. A weight is told by
// lightness alone, so it survives grey printing and every kind of colour blindness.

export interface Palette {
  paper: string;
  ink: string;
  faint: string; // secondary text
  line: string; // rules and cell borders
  accent: string;
  warn: string; // what the reader forced or forbade
  ramp: string[]; // 256 colours, weight 0 to 1
}

type Lab = [number, number, number];

function oklab(hex: string): Lab {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function hex([L, a, b]: Lab): string {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const digits = linear.map((value) => {
    const clipped = Math.min(1, Math.max(0, value));
    const coded = clipped <= 0.0031308 ? clipped * 12.92 : 1.055 * clipped ** (1 / 2.4) - 0.055;
    return Math.round(coded * 255).toString(16).padStart(2, '0');
  });
  return `#${digits.join('')}`;
}

function ramp(stops: string[]): string[] {
  const labs = stops.map(oklab);
  return Array.from({ length: 256 }, (_, index) => {
    const at = (index / 255) * (labs.length - 1);
    const from = Math.min(labs.length - 2, Math.floor(at));
    const t = at - from;
    return hex(labs[from].map((value, axis) => value + (labs[from + 1][axis] - value) * t) as Lab);
  });
}

export const kLight: Palette = {
  paper: '#fdfcf9',
  ink: '#1d1f23',
  faint: '#62666d',
  line: '#dcd9d1',
  accent: '#1c5aa6',
  warn: '#a8480f',
  ramp: ramp(['#f2f3f4', '#b4cbe6', '#5f95cf', '#235d9f', '#0b2a52']),
};

export const kDark: Palette = {
  paper: '#15171b',
  ink: '#e8e6e1',
  faint: '#a0a4ab',
  line: '#33373e',
  accent: '#7fb2ef',
  warn: '#f0a467',
  ramp: ramp(['#1e2127', '#23436a', '#3f7ab8', '#85b6e8', '#e9f3ff']),
};

export function colourOf(palette: Palette, weight: number): string {
  return palette.ramp[Math.round(255 * Math.min(1, Math.max(0, weight)))];
}

/** Black or white, whichever reads on this weight's colour. */
export function inkOn(palette: Palette, weight: number): string {
  return oklab(colourOf(palette, weight))[0] > 0.62 ? '#16181c' : '#ffffff';
}

/** The ramp as red, green, blue bytes, for pictures made of pixels. */
export function rampBytes(palette: Palette): Uint8Array {
  const bytes = new Uint8Array(256 * 3);
  palette.ramp.forEach((colour, index) => {
    for (let c = 0; c < 3; ++c) bytes[3 * index + c] = parseInt(colour.slice(1 + 2 * c, 3 + 2 * c), 16);
  });
  return bytes;
}
