import type { Clock } from '../../platform/clock.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import type { Log } from '../../platform/log.ts';
import { createDatabaseRetry } from './database-retry.ts';

/** Work that is repeated on the service clock. Its sweeps never overlap. */
export interface Sweeper {
  /** Sweeps now; a call waits for its turn. Rejects if this sweep fails. */
  sweep(): Promise<void>;
  /** Aborts the signal of the sweep in progress, waits for its end, and stops. */
  stop(): Promise<void>;
}

/** What a sweeper does, and what the log calls it. */
export interface SweeperOptions {
  clock: Clock;
  log: Log;
  /** Named in the log while the database fails. */
  worker: string;
  /** The event that is logged when a sweep fails for another reason. */
  failureEvent: string;
  intervalMs: number;
  /** Runs once before the first sweep. */
  prepare?: () => Promise<void>;
  sweepOnce: (signal: AbortSignal) => Promise<void>;
}

/**
 * Starts sweeping. A sweep that fails is logged, and does not prevent the next one.
 * @returns the sweeper, and a promise that resolves after the preparation, even if it failed.
 */
export function startSweeper(options: SweeperOptions): {
  sweeper: Sweeper;
  prepared: Promise<void>;
} {
  const { clock, log, worker, failureEvent, intervalMs, prepare, sweepOnce } = options;
  const stopping = new AbortController();
  const database = createDatabaseRetry(options, worker);
  let lastSweep = Promise.resolve();

  const sweep = (): Promise<void> => {
    const thisSweep = lastSweep.then(() => sweepOnce(stopping.signal));
    lastSweep = thisSweep.catch(() => undefined);
    return thisSweep;
  };
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      database.reportSuccess();
    } catch (error) {
      if (!database.report(error)) log.error(failureEvent, { ...errorOrigin(error) });
    }
  };
  const repeat = async (): Promise<void> => {
    await prepared;
    while (!stopping.signal.aborted) {
      await attempt(sweep);
      // Rejects only when the sweeper is stopped.
      await clock.sleep(intervalMs, stopping.signal).catch(() => undefined);
    }
  };
  const prepared = prepare ? attempt(prepare) : Promise.resolve();
  const running = repeat();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running;
    await lastSweep;
  };
  return { sweeper: { sweep, stop }, prepared };
}
