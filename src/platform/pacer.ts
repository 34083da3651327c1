import type { Clock } from './clock.ts';

/** A periodic task. */
export interface PacedTask {
  /** When the task is due next, on the monotonic clock. */
  readonly dueMs: number;
  /** Runs the task, and advances `dueMs`. Must not throw. */
  runDue(nowMs: number): void;
}

/** Runs the tasks of many calls with one timer. */
export interface Pacer {
  add(task: PacedTask): void;
  remove(task: PacedTask): void;
}

/** Resolution of timers. A task that is due within half of it runs now. */
const GRAIN_MS = 1;

/** Longest sleep, and so the longest delay of a task that is added during it. */
const SLEEP_MS_MAX = 20;

/** Creates a pacer. It has no timer while it has no tasks. */
export function createPacer(clock: Clock): Pacer {
  const tasks = new Set<PacedTask>();
  let isRunning = false;

  const runTasks = async (): Promise<void> => {
    isRunning = true;
    while (tasks.size > 0) {
      const nowMs = clock.monotonicMs();
      let soonestMs = nowMs + SLEEP_MS_MAX;
      for (const task of tasks) {
        if (task.dueMs < nowMs + GRAIN_MS / 2) task.runDue(nowMs);
        soonestMs = Math.min(soonestMs, task.dueMs);
      }
      await clock.sleep(Math.max(GRAIN_MS, soonestMs - clock.monotonicMs()));
    }
    isRunning = false;
  };
  return {
    add(task) {
      tasks.add(task);
      if (!isRunning) void runTasks();
    },
    remove: (task) => void tasks.delete(task),
  };
}
