import { errorOrigin } from '../../platform/error-origin.ts';
import type { ProblemReporting } from '../background/reported-problems.ts';

/** Reports in the ingest log that conversations are closed without evals, for users without results. */
export interface MissingEvals {
  /** Adds the first conversation of an owner that was closed without evals. Never rejects. */
  recordUnscored(conversation: { ownerId: string; conversationId: string }): Promise<void>;
  /** Reports the owner's next conversation without evals again. Never rejects. */
  recordScored(ownerId: string): Promise<void>;
}

const MESSAGE =
  'The conversation was closed while no evals were set, so nothing scores it. Choose evals and score ' +
  'it on the page /settings, or with PUT /__admin/settings and POST /__admin/score-backlog.';

/** The problem of an owner whose conversations are closed without evals. */
const problemOf = (ownerId: string): string[] => ['no_live_evals', ownerId];

/** Creates the reporter of missing evals. */
export function createMissingEvals({
  store,
  reportedProblems,
  clock,
  log,
}: ProblemReporting): MissingEvals {
  const forget = (ownerId: string): Promise<void> =>
    // The conversation is closed in any case.
    reportedProblems.forget(problemOf(ownerId)).catch(() => undefined);
  return {
    async recordUnscored({ ownerId, conversationId }) {
      const about = { conversation_id: conversationId };
      const entry = { level: 'info', code: 'no_live_evals', message: MESSAGE, about } as const;
      try {
        if (!(await reportedProblems.claim(problemOf(ownerId), Infinity))) return;
        await store.ingestLog.add(ownerId, clock.nowMs(), [entry]);
      } catch (error) {
        // The conversation is closed in any case.
        await forget(ownerId);
        log.error('ingest_log_failed', { closed: 'no_live_evals', ...errorOrigin(error) });
      }
    },
    recordScored: forget,
  };
}
