import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { IngestLogStore, Job } from '../store/store.ts';

/** Reports evals that errored, because results do not show them. */
export interface ErroredEvals {
  /**
   * Writes to the log and to the owner's ingest log: the first error of a kind immediately, then at most
   * one per minute with the number of errors since. Never rejects. `reason` must not quote the conversation.
   */
  report(job: Job, reason: string): Promise<void>;
  /** Forgets which kinds were reported. */
  clear(): void;
}

/** What reporting needs. */
export interface ErroredEvalsOptions {
  ingestLog: Pick<IngestLogStore, 'add'>;
  clock: Clock;
  log: Log;
}

const REPORT_INTERVAL_MS = 60_000;

/** With more kinds than this, the oldest are forgotten and reported again. */
const KINDS_MAX = 1_000;

const EXPLANATION =
  'An eval errored. It counts neither as passed nor as failed, so results do not show it; the session ' +
  'page and GET /__admin/sessions do.';

/** Creates a reporter. Errors are of one kind if owner, eval, and reason (except for numbers) are equal. */
export function createErroredEvals({ ingestLog, clock, log }: ErroredEvalsOptions): ErroredEvals {
  const kinds = new Map<string, { reportedAtMs: number; unreported: number }>();
  const countToReport = (kind: string, nowMs: number): number => {
    const known = kinds.get(kind) ?? { reportedAtMs: -Infinity, unreported: 0 };
    const count = known.unreported + 1;
    const isDue = nowMs - known.reportedAtMs >= REPORT_INTERVAL_MS;
    kinds.delete(kind);
    kinds.set(
      kind,
      isDue ? { reportedAtMs: nowMs, unreported: 0 } : { ...known, unreported: count },
    );
    const [oldest] = kinds.keys();
    if (kinds.size > KINDS_MAX && oldest !== undefined) kinds.delete(oldest);
    return isDue ? count : 0;
  };
  return {
    async report({ ownerId, sessionId, definition }, reason) {
      const kind = JSON.stringify([ownerId, definition.id, reason.replaceAll(/\d+/g, '0')]);
      const count = countToReport(kind, clock.monotonicMs());
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
      await ingestLog
        .add(ownerId, clock.nowMs(), [{ level: 'error', code: 'eval_errored', message, about }])
        // The outcome is already stored; only this entry is lost.
        .catch(() => log.error('ingest_log_failed', { eval: definition.id }));
    },
    clear: () => kinds.clear(),
  };
}
