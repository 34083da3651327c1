import { createAdjustableClock } from './adjustable-clock.ts';
import type { Clock } from './clock.ts';

/** A clock that moves only with `advance`. */
export interface ManualClock extends Clock {
  /** Advances the time, and fires the timers that are due by then, in order. */
  advance(ms: number): void;
}

/** Creates a clock for tests that starts at `startMs`. */
export function manualClock(startMs: number): ManualClock {
  const clock = createAdjustableClock({
    nowMs: () => startMs,
    monotonicMs: () => 0,
    sleep: () => new Promise(() => undefined),
  });
  // A plain object, so that a test can copy it and replace a function.
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    deadline: (ms) => clock.deadline(ms),
    advance: (ms) => clock.advance(ms),
  };
}
