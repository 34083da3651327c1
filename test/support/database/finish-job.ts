import type { Job, Outcome, Store } from '../../../src/service/store/store.ts';

/** Writes the outcome of one job. Returns whether the worker still held it. */
export async function finishJob(
  { jobs }: Store,
  worker: string,
  job: Job,
  outcome: Outcome,
  atMs: number,
): Promise<boolean | undefined> {
  const [isWritten] = await jobs.finishAll(worker, [{ job, outcome }], atMs);
  return isWritten;
}
