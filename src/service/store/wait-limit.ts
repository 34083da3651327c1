import { AsyncLocalStorage } from 'node:async_hooks';
import { systemClock } from '../../platform/clock.ts';

/** How much longer one piece of work may wait for the database. */
export interface WaitLimit {
  remainingMs: () => number;
  /** Whether the work has waited for the database. */
  isUsed: () => boolean;
  /** Counts the time until the returned function is called. Concurrent waits count once. */
  start: () => () => void;
}

const limits = new AsyncLocalStorage<WaitLimit>();

/**
 * Runs work that waits for a PostgreSQL database, and in queues for either database, for at most `ms`
 * altogether. After that, its statements fail with `ResponseTimeoutError`. Other waits, such as for a
 * model, don't count.
 */
export function limitDatabaseWaits<Result>(ms: number, run: (limit: WaitLimit) => Result): Result {
  const limit = createWaitLimit(ms, limits.getStore());
  return limits.run(limit, run, limit);
}

/** Waits for the database. Calls `end` when the limit of the current work is reached meanwhile. */
export async function waitWithinLimit<Result>(
  waiting: Promise<Result>,
  end: () => void,
): Promise<Result> {
  const limit = limits.getStore();
  if (!limit) return waiting;
  using deadline = systemClock.deadline(limit.remainingMs());
  deadline.signal.addEventListener('abort', end);
  const stop = limit.start();
  try {
    return await waiting;
  } finally {
    stop();
  }
}

/** @param outer The limit of the work that this work is a part of. */
function createWaitLimit(ms: number, outer: WaitLimit | undefined): WaitLimit {
  let isUsed = false;
  let waitedMs = 0;
  let waiting = 0;
  let sinceMs = 0;
  // Statements wait in real time, even while a test stops the service clock.
  const nowMs = (): number => systemClock.monotonicMs();
  return {
    remainingMs: () => ms - waitedMs - (waiting > 0 ? nowMs() - sinceMs : 0),
    isUsed: () => isUsed,
    start() {
      isUsed = true;
      const stopOuter = outer?.start();
      if (waiting === 0) sinceMs = nowMs();
      waiting += 1;
      return () => {
        stopOuter?.();
        waiting -= 1;
        if (waiting === 0) waitedMs += nowMs() - sinceMs;
      };
    },
  };
}
