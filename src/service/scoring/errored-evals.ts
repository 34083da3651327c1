import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { IngestLogStore, Job } from '../store/store.ts';

/** Says which evals errored, since no result shows them. */
export interface ErroredEvals {
  /**
   * Puts it into the log and the owner's ingest log: the first of a kind, and after it one a minute,
   * with the number of those since. Never rejects. `reason` must hold no conversation text.
   */
  tell(job: Job, reason: string): Promise<void>;
  /** Takes whatever comes next for the first of its kind. */
  clear(): void;
}

/** What they are told with. */
export interface ErroredEvalsDeps {
  ingestLog: Pick<IngestLogStore, 'add'>;
  clock: Clock;
  log: Log;
}

const tellEveryMs = 60_000;

// Of more kinds than anybody reads, the oldest begin anew.
const kindsMax = 1_000;

const wrong =
  'An eval errored: it counts neither as pass nor as fail, so no result shows it; the page of the ' +
  'session and GET /__admin/sessions do.';

/** Tells of each owner's, each eval's and each reason's; numbers make no other reason. */
export function erroredEvals({ ingestLog, clock, log }: ErroredEvalsDeps): ErroredEvals {
  const kinds = new Map<string, { toldAtMs: number; untold: number }>();
  const countToTell = (kind: string, nowMs: number): number => {
    const known = kinds.get(kind) ?? { toldAtMs: -Infinity, untold: 0 };
    const count = known.untold + 1;
    const isDue = nowMs - known.toldAtMs >= tellEveryMs;
    kinds.delete(kind);
    kinds.set(kind, isDue ? { toldAtMs: nowMs, untold: 0 } : { ...known, untold: count });
    const [oldest] = kinds.keys();
    if (kinds.size > kindsMax && oldest !== undefined) kinds.delete(oldest);
    return isDue ? count : 0;
  };
  return {
    async tell({ ownerId, sessionId, definition }, reason) {
      const kind = JSON.stringify([ownerId, definition.id, reason.replaceAll(/\d+/g, '0')]);
      const count = countToTell(kind, clock.monotonicMs());
      if (count === 0) return;
      const told = { eval: definition.id, session: sessionId, reason };
      log.warn('eval_errored', { owner: ownerId, ...told, count });
      const about = { eval: definition.id, session_id: sessionId, count };
      const message = `${wrong} ${reason}`;
      await ingestLog
        .add(ownerId, clock.nowMs(), [{ level: 'error', code: 'eval_errored', message, about }])
        // The outcome is kept already; only the entry about it is lost.
        .catch(() => log.error('ingest_log_failed', { eval: definition.id }));
    },
    clear: () => kinds.clear(),
  };
}
