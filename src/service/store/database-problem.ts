import { isError, errorCode } from '../../platform/error-origin.ts';
import { findPostgresProblem, type PostgresProblemKind } from './postgres/database-problem.ts';

/** A problem of the database that is not a bug: a retry can succeed when it is solved. */
export interface DatabaseProblem {
  /** The first three are problems of a SQLite file. */
  kind: 'locked' | 'unwritable' | 'file_changed' | PostgresProblemKind;
  /** The code of SQLite, PostgreSQL, or Node, for logs. */
  code: string;
  /** What happened to the file, and what to do, for the log. */
  message?: string;
}

/** Returns the problem of the database that an error shows; undefined for any other error. */
export function findDatabaseProblem(error: unknown): DatabaseProblem | undefined {
  if (!isError(error)) return undefined;
  const code = errorCode(error);
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return { kind: 'locked', code };
  if (/^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(code)) return { kind: 'unwritable', code };
  if (code === 'file_changed') return { kind: 'file_changed', code, message: error.message };
  const problem = findPostgresProblem(error);
  return problem && { kind: problem.kind, code: problem.code };
}
