import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import type { FinishedJob, JobStore } from '../store/store.ts';

/** Writes an outcome. Resolves with false if this worker no longer has the job. */
export type WriteOutcome = (finished: FinishedJob) => Promise<boolean>;

interface PendingWrite {
  finished: FinishedJob;
  written: PromiseWithResolvers<boolean>;
}

/**
 * Creates a writer that groups outcomes: those that arrive during a write are written next, in one
 * transaction for each owner. If the transaction of a group fails, each outcome is written alone, so
 * that one bad outcome does not lose the others.
 */
export function createOutcomeWriter({
  jobs,
  worker,
  clock,
}: {
  jobs: Pick<JobStore, 'finishAll'>;
  worker: string;
  clock: Clock;
}): WriteOutcome {
  let pending: PendingWrite[] = [];
  let isWriting = false;

  const writeGroup = async (group: readonly PendingWrite[]): Promise<void> => {
    const finished = group.map((write) => write.finished);
    try {
      const results = await jobs.finishAll(worker, finished, clock.nowMs());
      for (const [index, { written }] of group.entries()) written.resolve(results[index] ?? false);
    } catch (error) {
      if (group.length === 1) group[0]?.written.reject(error);
      else for (const write of group) await writeGroup([write]);
    }
  };
  const writePending = async (): Promise<void> => {
    isWriting = true;
    while (pending.length > 0) {
      // Other scorings may end at the same time.
      await setImmediate();
      const groups = Map.groupBy(pending, ({ finished }) => finished.job.ownerId);
      pending = [];
      for (const group of groups.values()) await writeGroup(group);
    }
    isWriting = false;
  };
  return (finished) => {
    const written = Promise.withResolvers<boolean>();
    pending.push({ finished, written });
    if (!isWriting) void writePending();
    return written.promise;
  };
}
