import type { DatabaseProblemLog } from '../background/database-retry.ts';
import { databaseError } from '../requests/errors.ts';
import { findDatabaseProblem } from '../store/database-problem.ts';
import { findPostgresProblem } from '../store/postgres/database-problem.ts';
import type { Store } from '../store/store.ts';

/** Returns why the service can't accept requests now; undefined if it can. */
export type FindUnreadyReason = () => Promise<string | undefined>;

/**
 * Creates the function that says whether a service accepts requests.
 * @param draining Aborts when the service begins to stop.
 * @param problems Knows whether the disk of a database is full, which only large changes show.
 */
export function createReadiness(
  store: Pick<Store, 'describeFileChange' | 'checkWrites'>,
  draining: AbortSignal,
  problems: Pick<DatabaseProblemLog, 'findFullDisk'>,
): FindUnreadyReason {
  return async () => {
    if (draining.aborted) return 'The service is stopping.';
    try {
      await store.checkWrites();
    } catch (error) {
      const problem = findPostgresProblem(error);
      if (problem) return problem.message;
      const { kind, code = '' } = findDatabaseProblem(error) ?? {};
      if (kind === 'unwritable') {
        return `The service can't write to its disk (${code}). Free space on it, or make it writable.`;
      }
      throw error;
    }
    const full = problems.findFullDisk();
    return full ? databaseError(full).message : store.describeFileChange();
  };
}
