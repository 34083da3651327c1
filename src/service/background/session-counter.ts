import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Store } from '../store/store.ts';
import { startSweeper, type Sweeper } from './sweeper.ts';
import { repeatWithPauses } from './writer-pause.ts';

const SWEEP_INTERVAL_MS = 3_600_000;

/**
 * Starts to count the sessions that an earlier version stored, until none is left. Lists are right
 * meanwhile, but slower.
 */
export function startSessionCounter({
  store,
  clock,
  log,
}: {
  store: Pick<Store, 'owners' | 'sessions'>;
  clock: Clock;
  log: Log;
}): Sweeper {
  const { sweeper } = startSweeper({
    clock,
    log,
    worker: 'session_counter',
    failureEvent: 'session_count_failed',
    intervalMs: SWEEP_INTERVAL_MS,
    async sweepOnce(signal) {
      for (const ownerId of await store.owners.listIds()) {
        await repeatWithPauses(signal, () => store.sessions.countStored(ownerId));
      }
    },
  });
  return sweeper;
}
