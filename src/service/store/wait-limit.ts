import { AsyncLocalStorage } from 'node:async_hooks';
import { systemClock } from '../../platform/clock.ts';

/** The time for which one piece of work may still wait for the database. */
export interface WaitLimit {
  remainingMs: () => number;
  /** Counts the time until the returned function is called. Concurrent waits count once. */
  start: () => () => void;
}

const limits = new AsyncLocalStorage<WaitLimit>();

/**
 * Runs work that waits for a PostgreSQL database for at most `ms` altogether. After that, its statements
 * fail with `ResponseTimeoutError`. Other waits, such as for a model, don't count.
 */
export function limitDatabaseWaits<Result>(ms: number, run: () => Result): Result {
  return limits.run(createWaitLimit(ms), run);
}

/** Returns the limit of the current work; undefined for unlimited work. */
export function findWaitLimit(): WaitLimit | undefined {
  return limits.getStore();
}

function createWaitLimit(ms: number): WaitLimit {
  let waitedMs = 0;
  let waiting = 0;
  let sinceMs = 0;
  // Statements wait in real time, even while a test stops the service clock.
  const nowMs = (): number => systemClock.monotonicMs();
  return {
    remainingMs: () => ms - waitedMs - (waiting > 0 ? nowMs() - sinceMs : 0),
    start() {
      if (waiting === 0) sinceMs = nowMs();
      waiting += 1;
      return () => {
        waiting -= 1;
        if (waiting === 0) waitedMs += nowMs() - sinceMs;
      };
    },
  };
}
