import type { Clock } from '../../platform/clock.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import type { Log } from '../../platform/log.ts';
import type { IngestLogStore } from '../store/store.ts';

/** Reports in the ingest log that conversations are closed without evals, for users without results. */
export interface MissingEvals {
  /** Adds the first conversation of an owner that was closed without evals. Never rejects. */
  recordUnscored(conversation: { ownerId: string; conversationId: string }): Promise<void>;
  /** Reports the owner's next conversation without evals again. */
  recordScored(ownerId: string): void;
  /** Forgets what was reported. */
  clear(): void;
}

const MESSAGE =
  'The conversation was closed while no evals were set, so nothing scores it. Choose evals and score ' +
  'it on the page /settings, or with PUT /__admin/settings and POST /__admin/score-backlog.';

/** Owners whose report is remembered. Beyond it, an owner can get the entry again. */
const OWNERS_MAX = 10_000;

/** Creates the reporter of missing evals. */
export function createMissingEvals(options: {
  ingestLog: Pick<IngestLogStore, 'add'>;
  clock: Clock;
  log: Log;
}): MissingEvals {
  const { ingestLog, clock, log } = options;
  const reportedOwners = new Set<string>();
  return {
    async recordUnscored({ ownerId, conversationId }) {
      if (reportedOwners.has(ownerId)) return;
      if (reportedOwners.size >= OWNERS_MAX) reportedOwners.clear();
      reportedOwners.add(ownerId);
      const about = { conversation_id: conversationId };
      const entry = { level: 'info', code: 'no_live_evals', message: MESSAGE, about } as const;
      try {
        await ingestLog.add(ownerId, clock.nowMs(), [entry]);
      } catch (error) {
        // The conversation is closed in any case.
        reportedOwners.delete(ownerId);
        log.error('ingest_log_failed', { closed: 'no_live_evals', ...errorOrigin(error) });
      }
    },
    recordScored(ownerId) {
      reportedOwners.delete(ownerId);
    },
    clear() {
      reportedOwners.clear();
    },
  };
}
