import type { Clock } from './clock.ts';

/** A task that is repeated at set times. */
export interface Paced {
  /** When the task is due next, on the monotonic clock. */
  readonly dueMs: number;
  /** Runs the task, and advances `dueMs`. Must not throw. */
  beat(nowMs: number): void;
}

/** Runs the tasks of many calls with one timer. */
export interface Pacer {
  add(paced: Paced): void;
  remove(paced: Paced): void;
}

/** Resolution of timers. A task that is due within half of it runs now. */
const GRAIN_MS = 1;

/** Longest sleep, and so the longest delay of a task that is added during it. */
const SLEEP_MS_MAX = 20;

/** Creates a pacer. It has no timer while it has no tasks. */
export function createPacer(clock: Clock): Pacer {
  const paced = new Set<Paced>();
  let isRunning = false;

  const run = async (): Promise<void> => {
    isRunning = true;
    while (paced.size > 0) {
      const nowMs = clock.monotonicMs();
      let soonestMs = nowMs + SLEEP_MS_MAX;
      for (const one of paced) {
        if (one.dueMs < nowMs + GRAIN_MS / 2) one.beat(nowMs);
        soonestMs = Math.min(soonestMs, one.dueMs);
      }
      await clock.sleep(Math.max(GRAIN_MS, soonestMs - clock.monotonicMs()));
    }
    isRunning = false;
  };
  return {
    add(one) {
      paced.add(one);
      if (!isRunning) void run();
    },
    remove: (one) => void paced.delete(one),
  };
}
