import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as runAfterTurn } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/**
 * Returns a function that long work awaits between its steps. It yields to the event loop if at least
 * `everyMs` have passed since the last time. Work with synchronous SQLite calls needs it: their
 * promises resolve in microtasks, so nothing else would run until the end.
 */
export function yieldPeriodically(
  clock: Pick<Clock, 'monotonicMs'>,
  everyMs: number,
): () => Promise<void> {
  let sinceMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - sinceMs < everyMs) return;
    await setImmediate();
    sinceMs = clock.monotonicMs();
  };
}

/** Calls a function at the end of this turn of the event loop. */
export const onTurnEnd = (endTurn: () => void): void => void runAfterTurn(endTurn);

/** How late timers fired, in seconds. */
export interface EventLoopDelay {
  meanS: number;
  p99S: number;
  maxS: number;
}

const DELAY_RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;

/**
 * Measures the delay of the event loop. Each call of the returned function returns the delay since the
 * call before it.
 */
export function watchEventLoopDelay(): () => EventLoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  histogram.enable();
  // The histogram counts the time between two timers, which is the resolution without any delay.
  const toSeconds = (ns: number): number =>
    Math.max(0, (Number.isFinite(ns) ? ns : 0) / NANOSECONDS - DELAY_RESOLUTION_MS / 1000);
  return () => {
    const { mean, max } = histogram;
    const delay = {
      meanS: toSeconds(mean),
      p99S: toSeconds(histogram.percentile(99)),
      maxS: toSeconds(max),
    };
    histogram.reset();
    return delay;
  };
}

const TICK_MS = 20;

/**
 * Measures how late this process is: because its event loop is busy, or because the machine does not run
 * it. The returned function ends the measurement and returns the sum of the delays in milliseconds.
 */
export function measureLateness(): () => number {
  let lateMs = 0;
  let dueMs = performance.now() + TICK_MS;
  const addDelay = (): void => {
    const delayMs = performance.now() - dueMs;
    // Smaller delays are those of timers on an idle machine.
    if (delayMs >= TICK_MS) lateMs += delayMs;
    dueMs = performance.now() + TICK_MS;
  };
  const timer = setInterval(addDelay, TICK_MS).unref();
  return () => {
    clearInterval(timer);
    addDelay();
    return Math.round(lateMs);
  };
}
