import { setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/**
 * For long work whose promises are kept at once, as those of SQLite are: nothing else would be done
 * until all of it is. To be awaited between its steps; every `everyMs` it lets the others have a
 * turn.
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
