import { findPostgresProblem } from './database-problem.ts';

const ATTEMPTS_MAX = 3;

/** A serialization failure and a deadlock: the server has rolled the transaction back. */
const ROLLED_BACK_CODES = ['40001', '40P01'];

/**
 * Runs a transaction, and up to two more times if it lost a conflict with another one. The transaction
 * must change nothing outside the database.
 */
export async function retryConflicts<Result>(transact: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact();
    } catch (error) {
      const code = findPostgresProblem(error)?.code ?? '';
      if (attempt === ATTEMPTS_MAX || !ROLLED_BACK_CODES.includes(code)) throw error;
    }
  }
}
