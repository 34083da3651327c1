import { createAdjustableClock } from './adjustable-clock.ts';
import type { Clock } from './clock.ts';

/** A clock that moves only with `advance`. */
export interface ManualClock extends Clock {
  /** Advances the time, and fires the timers that are due by then, in order. */
  advance(ms: number): void;
}

/** Creates a clock for tests that starts at `startMs`. */
export function manualClock(startMs: number): ManualClock {
  return createAdjustableClock({
    nowMs: () => startMs,
    monotonicMs: () => 0,
    sleep: () => new Promise(() => undefined),
  });
}
