import type { Clock } from '../../platform/clock.ts';
import type { FinishedJob, JobStore } from '../store/store.ts';

/** Writes an outcome; false when the job is no longer this worker's. */
export type Finish = (finished: FinishedJob) => Promise<boolean>;

interface Waiting {
  finished: FinishedJob;
  written: PromiseWithResolvers<boolean>;
}

/**
 * Writes outcomes in groups: those that come while others are written go after them, in one
 * transaction. In a group that fails each is tried alone, so that none fails for another's sake.
 */
export function finishInGroups({
  jobs,
  worker,
  clock,
}: {
  jobs: Pick<JobStore, 'finish' | 'finishAll'>;
  worker: string;
  clock: Clock;
}): Finish {
  let waiting: Waiting[] = [];
  let writes = false;

  const writeOne = async ({ finished: { job, outcome }, written }: Waiting): Promise<void> => {
    try {
      written.resolve(await jobs.finish(worker, job, outcome, clock.nowMs()));
    } catch (fault) {
      written.reject(fault);
    }
  };
  const writeAll = async (group: readonly Waiting[]): Promise<void> => {
    const finished = group.map((one) => one.finished);
    const written = await jobs.finishAll(worker, finished, clock.nowMs()).catch(() => undefined);
    for (const [nth, one] of group.entries()) {
      if (written) one.written.resolve(written[nth] ?? false);
      else await writeOne(one);
    }
  };
  const writeWaiting = async (): Promise<void> => {
    writes = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      if (group[0] && group.length === 1) await writeOne(group[0]);
      else await writeAll(group);
    }
    writes = false;
  };
  return (finished) => {
    const written = Promise.withResolvers<boolean>();
    waiting.push({ finished, written });
    if (!writes) void writeWaiting();
    return written.promise;
  };
}
