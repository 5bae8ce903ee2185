// Which word or cell the reader points at, shared by all drawings of one answer.

export interface Spot {
  row?: number; // a token that was written
  column?: number; // a token that was read
}

export class Looking {
  private spot: Spot = {};
  private home: Spot = {}; // what is lit while nobody points
  private readonly listeners = new Set<(spot: Spot) => void>();

  get now(): Spot {
    return this.spot;
  }

  set(spot: Spot): void {
    if (spot.row === this.spot.row && spot.column === this.spot.column) return;
    this.spot = spot;
    for (const listener of this.listeners) listener(spot);
  }

  /** Nobody points any more. */
  leave(): void {
    this.set(this.home);
  }

  /** What is lit from now on while nobody points. */
  rest(spot: Spot): void {
    this.home = spot;
    this.set(spot);
  }

  on(listener: (spot: Spot) => void): void {
    this.listeners.add(listener);
  }
}

/** What the reader changed: columns nobody may look at, and rows that must look at one column. */
export interface Steering {
  forbidden: ReadonlySet<number>;
  forced: ReadonlyMap<number, number>;
}

export const kUnsteered: Steering = { forbidden: new Set(), forced: new Map() };
