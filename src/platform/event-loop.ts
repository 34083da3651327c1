import { setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/**
 * Returns a function that long work awaits between its steps. It yields to the event loop if at least
 * `everyMs` have passed since the last time. Work with synchronous SQLite calls needs it: their
 * promises resolve in microtasks, so nothing else would run until the end.
 */
export function yieldPeriodically(
  clock: Pick<Clock, 'monotonicMs'>,
  everyMs: number,
): () => Promise<void> {
  let sinceMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - sinceMs < everyMs) return;
    await setImmediate();
    sinceMs = clock.monotonicMs();
  };
}
