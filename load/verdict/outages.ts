import type { Outages } from '../../src/contract/index.ts';

/** When a request was due, and whether it failed. */
export interface Outcome {
  dueMs: number;
  failed: boolean;
}

/** How failures lay in time: from the first that failed to the next that did not. */
export function outagesOf(outcomes: readonly Outcome[], windowMs: number): Outages {
  const inTime = outcomes.toSorted((one, other) => one.dueMs - other.dueMs);
  const dirty = new Set<number>();
  let [incidents, longestMs] = [0, 0];
  let sinceMs: number | undefined;
  for (const { dueMs, failed } of inTime) {
    if (failed) {
      dirty.add(Math.floor(dueMs / 1000));
      if (sinceMs === undefined) incidents++;
      sinceMs ??= dueMs;
    } else if (sinceMs !== undefined) {
      longestMs = Math.max(longestMs, dueMs - sinceMs);
      sinceMs = undefined;
    }
  }
  if (sinceMs !== undefined) longestMs = Math.max(longestMs, windowMs - sinceMs);
  const seconds = Math.ceil(windowMs / 1000);
  return {
    seconds,
    cleanSeconds: seconds - dirty.size,
    longestMs: Math.round(longestMs),
    incidents,
  };
}
