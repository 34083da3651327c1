import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { findDatabaseProblem, type DatabaseProblem } from '../store/database-problem.ts';

/** The pause between two attempts of background work while the database fails. */
const PAUSE_MS = 1_000;

/**
 * The time without a problem after which an outage has ended. It is longer than a request waits for the
 * database, so that a request that began during an outage fails in the same one.
 */
const RECOVERED_MS = 5_000;

/** Repeats background work while the database fails. */
export interface DatabaseRetry {
  /**
   * Runs a change that is safe to repeat, until the database works.
   * @throws any other error, and the error of the database if the signal aborts.
   */
  retry: <Result>(run: () => Promise<Result>, signal: AbortSignal) => Promise<Result>;
  /** Logs an error of the database, only the first one of a series. Returns false for other errors. */
  report: (error: unknown) => boolean;
  /** Ends a series if its last problem was 5 s ago. */
  reportSuccess: () => void;
}

/** Logs problems of the database, so that a long outage does not fill the log. */
export interface DatabaseProblemLog {
  /** Logs the first problem of a series. */
  report: (problem: DatabaseProblem) => void;
  /** Ends a series if its last problem was 5 s ago. */
  reportSuccess: () => void;
  /** Does the same after work that may have changed nothing, if the problem would also prevent such work. */
  reportAnswer: () => void;
  /** Returns the last problem if it was a full disk, less than 10 s ago, and no change succeeded since. */
  findFullDisk: () => Pick<DatabaseProblem, 'kind'> | undefined;
}

/** How long a full disk counts. A client that is sent away must try again one day. */
const FULL_MS_MAX = 10_000;

/** The problems of a database that may still answer queries. */
const CHANGE_PROBLEMS: readonly DatabaseProblem['kind'][] = [
  'locked',
  'unwritable',
  'file_changed',
  'disk_full',
  'read_only',
  'permission_denied',
];

/**
 * Creates the log of one worker, which it names.
 * @param clock Shows how long ago the last problem was.
 * @param repeatMs A problem is logged again after this time, because not every success is reported.
 */
export function createDatabaseProblemLog(
  { log, clock }: { log: Log; clock: Clock },
  worker: string,
  repeatMs = Infinity,
): DatabaseProblemLog {
  let loggedAtMs: number | undefined;
  let kind: DatabaseProblem['kind'] | undefined;
  let failedAtMs = 0;
  let fullAtMs = -Infinity;
  const reportSuccess = (): void => {
    fullAtMs = -Infinity;
    if (loggedAtMs === undefined || clock.nowMs() - failedAtMs < RECOVERED_MS) return;
    // The default log level shows warnings, so that the log has not only the outage.
    log.warn('database_recovered', { worker });
    loggedAtMs = undefined;
  };
  return {
    report(problem) {
      failedAtMs = clock.nowMs();
      kind = problem.kind;
      const nowMs = systemClock.monotonicMs();
      if (kind === 'disk_full') fullAtMs = nowMs;
      if (loggedAtMs !== undefined && nowMs - loggedAtMs < repeatMs) return;
      logProblem(log, problem, worker);
      loggedAtMs = nowMs;
    },
    reportSuccess,
    findFullDisk: () =>
      systemClock.monotonicMs() - fullAtMs < FULL_MS_MAX ? { kind: 'disk_full' } : undefined,
    reportAnswer() {
      if (kind && !CHANGE_PROBLEMS.includes(kind)) reportSuccess();
    },
  };
}

/** Logs a problem under its event. */
function logProblem(log: Log, { kind, code, message = '' }: DatabaseProblem, worker: string): void {
  if (kind === 'locked') log.error('database_locked', { worker, code });
  else if (kind === 'unwritable') log.error('disk_write_failed', { worker, code });
  else if (kind === 'file_changed') log.error('database_file_changed', { worker, message });
  else log.error('database_failed', { worker, problem: kind, code });
}

/** Creates the retries of one worker, which the log names. */
export function createDatabaseRetry(
  logging: { log: Log; clock: Clock },
  worker: string,
): DatabaseRetry {
  const problems = createDatabaseProblemLog(logging, worker);
  const { reportSuccess } = problems;
  const report: DatabaseRetry['report'] = (error) => {
    const problem = findDatabaseProblem(error);
    if (problem) problems.report(problem);
    return problem !== undefined;
  };
  return {
    report,
    reportSuccess,
    async retry(run, signal) {
      for (;;) {
        try {
          const result = await run();
          reportSuccess();
          return result;
        } catch (error) {
          if (!report(error) || signal.aborted) throw error;
        }
        // Waits in real time: a test that stops the service clock does not stop the database.
        await systemClock.sleep(PAUSE_MS, signal).catch(() => undefined);
      }
    },
  };
}
