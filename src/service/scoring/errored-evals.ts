import type { ProblemReporting } from '../background/reported-problems.ts';
import type { Job } from '../store/store.ts';

/** Reports evals that errored, because results do not show them. */
export interface ErroredEvals {
  /**
   * Writes to the log and to the owner's ingest log: the first error of a kind immediately, then at most
   * one per minute with the number of errors since. Never rejects. `reason` must not quote the conversation.
   */
  report(job: Job, reason: string): Promise<void>;
}

const REPORT_INTERVAL_MS = 60_000;

const EXPLANATION =
  'An eval errored. It counts neither as passed nor as failed, so results do not show it; the session ' +
  'page and GET /__admin/sessions do.';

/** Creates a reporter. Errors are of one kind if owner, eval, and reason (except for numbers) are equal. */
export function createErroredEvals({
  store,
  reportedProblems,
  clock,
  log,
}: ProblemReporting): ErroredEvals {
  return {
    async report({ ownerId, sessionId, definition }, reason) {
      const kind = ['eval_errored', ownerId, definition.id, reason.replaceAll(/\d+/g, '0')];
      // Without the memory of all replicas, a second report is better than none.
      const count = await reportedProblems.count(kind, REPORT_INTERVAL_MS).catch(() => 1);
      if (count === 0) return;
      log.warn('eval_errored', {
        owner: ownerId,
        eval: definition.id,
        session: sessionId,
        reason,
        count,
      });
      const about = { eval: definition.id, session_id: sessionId, count };
      const message = `${EXPLANATION} ${reason}`;
      await store.ingestLog
        .add(ownerId, clock.nowMs(), [{ level: 'error', code: 'eval_errored', message, about }])
        // The outcome is already stored; only this entry is lost.
        .catch(() => log.error('ingest_log_failed', { eval: definition.id }));
    },
  };
}
