// A training as GET /api/run tells it, and its numbers in words.

export interface Run {
  name: string;
  state: 'waiting' | 'running' | 'quiet' | 'ended' | 'unreadable';
  error?: string;
  step: number;
  epoch: number;
  budget: { steps?: number; epochs?: number; minutes?: number };
  left?: number; // seconds
  age?: number; // seconds since the last line of the log
  end?: 'budget' | 'no_better' | 'stopped';
  tokens_per_second: number;
  seconds: number;
  losses: { steps: number[]; values: number[] };
  evaluations: { step: number; scores: Record<string, number> }[];
  metric?: { name: string; lower_is_better: boolean };
  best?: { step: number; value: number };
  samples: { source: string; answer: string; target: string }[];
  task?: string;
  model?: string;
  data?: string;
}

export async function runs(): Promise<Run[]> {
  const response = await fetch('./api/run');
  const reply: unknown = await response.json();
  const found = (reply as { runs?: unknown }).runs;
  if (!response.ok || !Array.isArray(found)) throw new Error(`the server answered ${response.status}`);
  return found as Run[];
}

export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole >= 3600) return `${Math.floor(whole / 3600)} h ${String(Math.floor(whole / 60) % 60).padStart(2, '0')} min`;
  if (whole >= 60) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${whole} s`;
}

/** How much of the budget is spent, 0 to 1; undefined where nothing bounds it. */
export function spent(run: Run): number | undefined {
  if (run.state === 'ended' && run.end === 'budget') return 1;
  const shares: number[] = [];
  if (run.budget.steps) shares.push(run.step / run.budget.steps);
  if (run.budget.epochs) shares.push(run.epoch / run.budget.epochs);
  if (run.budget.minutes && run.left !== undefined) shares.push(1 - run.left / (60 * run.budget.minutes));
  return shares.length > 0 ? Math.min(1, Math.max(0, ...shares)) : undefined;
}

const kEnds = {
  budget: 'Done: the budget is spent',
  no_better: 'Done: the score got no better for a while',
  stopped: 'Stopped and saved; attn train … --resume goes on',
};

/** What goes on, in a sentence. */
export function news(run: Run): string {
  switch (run.state) {
    case 'waiting':
      return 'Not begun yet: there is no log in this folder. This page waits for it.';
    case 'running':
      return run.losses.steps.length > 0 ? 'Training' : 'Training has begun; the first numbers come after ten steps';
    case 'quiet':
      return `No news for ${duration(run.age ?? 0)}: it was killed, or it evaluates. attn train … --resume goes on.`;
    case 'ended':
      return kEnds[run.end ?? 'budget'];
    case 'unreadable':
      return run.error ?? 'This folder cannot be read.';
  }
}
