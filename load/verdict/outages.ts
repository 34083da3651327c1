import type { Outages } from '../../src/contract/index.ts';

/** When a request was due, and whether it failed. */
export interface Outcome {
  dueMs: number;
  failed: boolean;
}

/**
 * How failures lay in time: from the first that failed to the next that did not. Each kind of request
 * is looked at alone, since health that answers does not end an outage of chat.
 */
export function outagesOf(streams: readonly (readonly Outcome[])[], windowMs: number): Outages {
  const dirty = new Set<number>();
  const runs = streams.flatMap((outcomes) => failingRuns(outcomes, windowMs, dirty));
  const seconds = Math.ceil(windowMs / 1000);
  return {
    seconds,
    cleanSeconds: seconds - dirty.size,
    longestMs: Math.round(runs.reduce((longest, run) => Math.max(longest, run), 0)),
    incidents: runs.length,
  };
}

/** How long each run of failures lasted, in milliseconds; the seconds in which they began are added. */
function failingRuns(outcomes: readonly Outcome[], windowMs: number, dirty: Set<number>): number[] {
  const inTime = outcomes.toSorted((one, other) => one.dueMs - other.dueMs);
  const runs: number[] = [];
  let sinceMs: number | undefined;
  for (const { dueMs, failed } of inTime) {
    if (failed) {
      dirty.add(Math.floor(dueMs / 1000));
      sinceMs ??= dueMs;
    } else if (sinceMs !== undefined) {
      runs.push(dueMs - sinceMs);
      sinceMs = undefined;
    }
  }
  if (sinceMs !== undefined) runs.push(Math.max(0, windowMs - sinceMs));
  return runs;
}
