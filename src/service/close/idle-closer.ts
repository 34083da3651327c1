import { CONVERSATION_IDLE_MS_MAX } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { startSweeper, type Sweeper } from '../background/sweeper.ts';
import type { Store } from '../store/store.ts';
import type { ConversationRef } from './close-conversation.ts';

/** Dependencies of the idle closer. */
export interface IdleCloserDeps {
  store: Pick<Store, 'conversations'>;
  clock: Clock;
  log: Log;
  /** Closes those conversations whose last span was received before `idleBeforeMs`. */
  close: (conversations: readonly ConversationRef[], idleBeforeMs: number) => Promise<unknown>;
}

const SWEEP_INTERVAL_MS = 60_000;
const BATCH_SIZE = 100;

/** Up to 5 million conversations in one sweep; the next sweep closes the rest. */
const BATCHES_PER_SWEEP_MAX = 50_000;

/**
 * Starts to close conversations that have been idle for 24 hours (spec 3.1), once a minute. The idle
 * time counts from when spans were received.
 */
export function startIdleCloser({ store, clock, log, close }: IdleCloserDeps): Sweeper {
  const closeBatch = async (): Promise<boolean> => {
    const beforeMs = clock.nowMs() - CONVERSATION_IDLE_MS_MAX + 1;
    const idle = await store.conversations.listIdle(beforeMs, BATCH_SIZE);
    if (idle.length > 0) await close(idle, beforeMs);
    return idle.length === BATCH_SIZE;
  };
  const { sweeper } = startSweeper({
    clock,
    log,
    worker: 'idle_closer',
    failureEvent: 'idle_sweep_failed',
    intervalMs: SWEEP_INTERVAL_MS,
    async sweepOnce(signal) {
      for (let batch = 0; batch < BATCHES_PER_SWEEP_MAX && !signal.aborted; batch += 1) {
        if (!(await closeBatch())) return;
      }
    },
  });
  return sweeper;
}
