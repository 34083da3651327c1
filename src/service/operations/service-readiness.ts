import { findPostgresProblem } from '../store/postgres/database-problem.ts';
import type { Store } from '../store/store.ts';

/** Returns why the service can't accept requests now; undefined if it can. */
export type FindUnreadyReason = () => Promise<string | undefined>;

/**
 * Creates the function that says whether a service accepts requests.
 * @param draining Aborts when the service begins to stop.
 */
export function createReadiness(
  store: Pick<Store, 'describeFileChange' | 'ping'>,
  draining: AbortSignal,
): FindUnreadyReason {
  return async () => {
    if (draining.aborted) return 'The service is stopping.';
    try {
      await store.ping();
    } catch (error) {
      const problem = findPostgresProblem(error);
      if (!problem) throw error;
      return problem.message;
    }
    return store.describeFileChange();
  };
}
