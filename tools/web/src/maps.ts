// Maps from answers: the JSON that is exported, and that `attn map` redraws.

import type { AlignmentMap, Answer, Head, HeadsMap, Part } from './contract';
import { labels, largest, percent, quoted } from './words';
import type { Spot } from './looking';

const kParts: Record<Part, string> = {
  encoder: 'encoder: what is read looks at itself',
  decoder: 'decoder: what is written looks back at itself',
  cross: 'cross: what is written looks at what is read',
};

export function partName(part: Part): string {
  return kParts[part];
}

export function alignmentMap(answer: Answer, title: string): AlignmentMap {
  return {
    attn_map: 1,
    kind: 'alignment',
    title,
    caption: 'Each row is a token that was written; the stronger a cell, the more it looked at the token of that column. A row sums to 1.',
    rows: answer.target_tokens,
    columns: answer.source_tokens,
    row_title: 'written',
    column_title: 'read',
    weights: answer.weights,
  };
}

export function headsMap(answer: Answer, heads: Head[], title: string): HeadsMap {
  return {
    attn_map: 1,
    kind: 'heads',
    title,
    caption: 'One small matrix a head; rows look at columns, and each row sums to 1.',
    rows: answer.target_tokens,
    columns: answer.source_tokens,
    maps: heads,
  };
}

export function headMap(map: HeadsMap, head: Head): AlignmentMap {
  return {
    attn_map: 1,
    kind: 'alignment',
    title: `${map.title}: ${head.part}, layer ${head.layer}, head ${head.head}`,
    caption: `One head of the ${partName(head.part)}. Each row sums to 1.`,
    rows: head.rows ?? map.rows,
    columns: head.columns ?? map.columns,
    row_title: 'looks',
    column_title: 'is looked at',
    weights: head.weights,
  };
}

/** The map with blocks of cells replaced by their largest weight, at most `limit` a side. */
export function pooled(map: AlignmentMap, limit: number): AlignmentMap {
  const rowBlock = Math.ceil(map.rows.length / limit);
  const columnBlock = Math.ceil(map.columns.length / limit);
  if (rowBlock <= 1 && columnBlock <= 1) return map;
  const count = (n: number, block: number) => Math.ceil(n / block);
  const weights = Array.from({ length: count(map.rows.length, rowBlock) }, () =>
    new Array<number>(count(map.columns.length, columnBlock)).fill(0),
  );
  map.weights.forEach((row, r) => {
    const into = weights[Math.floor(r / rowBlock)];
    row.forEach((weight, c) => {
      const at = Math.floor(c / columnBlock);
      if (weight > into[at]) into[at] = weight;
    });
  });
  const first = (names: string[], block: number) => names.filter((_, index) => index % block === 0);
  return {
    ...map,
    rows: first(map.rows, rowBlock),
    columns: first(map.columns, columnBlock),
    weights,
    caption: `${map.caption} A tile is the largest of ${rowBlock} × ${columnBlock} weights.`,
  };
}

/** In words, what the map says at a spot. */
export function tell(map: AlignmentMap, { row, column }: Spot): string {
  const rows = labels(map.rows);
  const columns = labels(map.columns);
  if (row !== undefined && column !== undefined) {
    const weight = map.weights[row]?.[column];
    if (weight === undefined) return '';
    return `${quoted(rows[row])} (row ${row + 1}) looked at ${quoted(columns[column])} (column ${column + 1}): ${percent(weight)}`;
  }
  if (row !== undefined && map.weights[row]) {
    return `${quoted(rows[row])} looked at ${largest(map.weights[row], columns)}`;
  }
  if (column !== undefined && column < columns.length && rows.length > 0) {
    const seen = map.weights.map((weights) => weights[column]);
    return `${quoted(columns[column])} was looked at by ${largest(seen, rows)}`;
  }
  return '';
}
