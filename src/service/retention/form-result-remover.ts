import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { startSweeper, type Sweeper } from '../background/sweeper.ts';
import type { Store } from '../store/store.ts';

const SWEEP_INTERVAL_MS = 600_000;

/** Starts to delete the pages that forms led to, after they have expired. */
export function startFormResultRemover({
  store: { owners, formResults },
  clock,
  log,
}: {
  store: Pick<Store, 'owners' | 'formResults'>;
  clock: Clock;
  log: Log;
}): Sweeper {
  const { sweeper } = startSweeper({
    clock,
    log,
    worker: 'form_result_remover',
    failureEvent: 'form_result_removal_failed',
    intervalMs: SWEEP_INTERVAL_MS,
    async sweepOnce(signal) {
      for (const ownerId of await owners.listIds()) {
        if (signal.aborted) return;
        await formResults.removeExpired(ownerId, clock.nowMs());
      }
    },
  });
  return sweeper;
}
