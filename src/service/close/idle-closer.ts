import { CONVERSATION_IDLE_MS_MAX } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { createDatabaseRetry } from '../domain/database-retry.ts';
import type { ConversationStore } from '../store/store.ts';
import type { ConversationRef } from './close-conversation.ts';

/** Closes conversations that have been idle for 24 hours (spec 3.1), once a minute. */
export interface IdleCloser {
  /** Closes all conversations that are idle now. Sweeps never overlap: a call waits for its turn. */
  sweep(): Promise<void>;
  /** Finishes the conversation batch in progress and stops. */
  stop(): Promise<void>;
}

/** Dependencies of the idle closer. */
export interface IdleCloserDeps {
  conversations: ConversationStore;
  clock: Clock;
  log: Log;
  /** Closes a conversation unless its last span was received at or after `idleBeforeMs`. */
  close: (conversation: ConversationRef, idleBeforeMs: number) => Promise<unknown>;
}

const SWEEP_INTERVAL_MS = 60_000;
const BATCH_SIZE = 100;

/** Up to 5 million conversations in one sweep; the next sweep closes the rest. */
const BATCHES_PER_SWEEP_MAX = 50_000;

/** Starts sweeping on the service clock. The idle time counts from when spans were received. */
export function startIdleCloser({ conversations, clock, log, close }: IdleCloserDeps): IdleCloser {
  const stopping = new AbortController();
  const database = createDatabaseRetry(log, 'idle_closer');
  let lastSweep = Promise.resolve();

  const closeBatch = async (): Promise<boolean> => {
    const beforeMs = clock.nowMs() - CONVERSATION_IDLE_MS_MAX + 1;
    const idle = await conversations.listIdle(beforeMs, BATCH_SIZE);
    for (const conversation of idle) await close(conversation, beforeMs);
    return idle.length === BATCH_SIZE;
  };
  const sweepOnce = async (): Promise<void> => {
    for (let batch = 0; batch < BATCHES_PER_SWEEP_MAX && !stopping.signal.aborted; batch += 1) {
      if (!(await closeBatch())) return;
    }
  };
  const sweep = (): Promise<void> => {
    const thisSweep = lastSweep.then(sweepOnce);
    // A failed sweep must not prevent the next one.
    lastSweep = thisSweep.catch(() => undefined);
    return thisSweep;
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await sweep();
        database.reportSuccess();
      } catch (error) {
        if (!database.report(error)) log.error('idle_sweep_failed');
      }
      // Rejects only when the closer is stopped.
      await clock.sleep(SWEEP_INTERVAL_MS, stopping.signal).catch(() => undefined);
    }
  };
  const running = run();
  return {
    sweep,
    async stop() {
      stopping.abort();
      await running;
      await lastSweep;
    },
  };
}
