import { conversationIdleMsMax } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { ConversationStore } from '../store/store.ts';
import type { ConversationRef } from './close-conversation.ts';

/** Closes conversations that have been idle for 24 hours (spec 3.1). */
export interface IdleCloser {
  /** Closes all that are idle by now. One that is under way is finished first. */
  sweep(): Promise<void>;
  /** Stops after the sweep that is under way. */
  stop(): Promise<void>;
}

/** What idle closing works with. */
export interface IdleCloserDeps {
  conversations: ConversationStore;
  clock: Clock;
  log: Log;
  /** Leaves one alone whose last span came at that time or later: it is not idle any more. */
  close: (conversation: ConversationRef, idleBeforeMs: number) => Promise<unknown>;
}

const sweepEveryMs = 60_000;
const batchSize = 100;

// Some millions in one sweep; what is left is taken by the next.
const batchesMax = 50_000;

/** Sweeps once a minute of the clock. Idleness is reckoned by the time at which spans came in. */
export function startIdleCloser({ conversations, clock, log, close }: IdleCloserDeps): IdleCloser {
  const stopping = new AbortController();
  let underWay = Promise.resolve();

  const closeBatch = async (): Promise<boolean> => {
    const beforeMs = clock.nowMs() - conversationIdleMsMax + 1;
    const idle = await conversations.listIdle(beforeMs, batchSize);
    for (const conversation of idle) await close(conversation, beforeMs);
    return idle.length === batchSize;
  };
  const sweepOnce = async (): Promise<void> => {
    for (let batch = 0; batch < batchesMax && !stopping.signal.aborted; batch += 1) {
      if (!(await closeBatch())) return;
    }
  };
  const sweep = (): Promise<void> => {
    const next = underWay.then(sweepOnce);
    // One sweep that fails must not keep the next from being tried.
    underWay = next.catch(() => undefined);
    return next;
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sweep().catch(() => log.error('a sweep for idle conversations failed'));
      // Rejects only when the closer stops.
      await clock.sleep(sweepEveryMs, stopping.signal).catch(() => undefined);
    }
  };
  const running = run();
  return {
    sweep,
    async stop() {
      stopping.abort();
      await running;
      await underWay;
    },
  };
}
