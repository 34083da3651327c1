import type { Clock } from '../../src/platform/clock.ts';

/** A queue for work that must delay neither a send nor the reading of a response. */
export interface DeferredWork {
  add(task: () => void): void;
  /** Resolves when the queue is empty. */
  waitUntilDone(): Promise<void>;
}

/**
 * About this many tasks run together. At a low rate, a task by itself takes several times as long, because
 * the caches of the processor hold other code by then.
 */
const GROUP_TASKS = 10;
/** The longest time that a task waits for others. */
const GATHER_MS_MAX = 100;
/** Time slice of work before the event loop handles the network again. */
const SLICE_MS = 1;
/** Time between two slices. */
const PAUSE_MS = 1;
/** With more tasks waiting, new tasks run immediately to limit memory. */
const WAITING_MAX = 20_000;

/** Creates an empty queue. */
export function createDeferredWork(clock: Clock): DeferredWork {
  let waiting: (() => void)[] = [];
  let head = 0;
  let working: Promise<void> | undefined;
  let gatherMs = GATHER_MS_MAX;
  const work = async (): Promise<void> => {
    let waitMs = gatherMs;
    while (head < waiting.length) {
      await clock.sleep(waitMs);
      waitMs = PAUSE_MS;
      const untilMs = clock.monotonicMs() + SLICE_MS;
      do {
        const task = waiting[head];
        waiting[head++] = () => {};
        task?.();
      } while (head < waiting.length && clock.monotonicMs() < untilMs);
    }
    const wantedMs = (gatherMs * GROUP_TASKS) / waiting.length;
    gatherMs = Math.min(GATHER_MS_MAX, Math.max(PAUSE_MS, wantedMs));
    waiting = [];
    head = 0;
    working = undefined;
  };
  return {
    add(task) {
      if (waiting.length - head >= WAITING_MAX) {
        task();
        return;
      }
      waiting.push(task);
      working ??= work();
    },
    async waitUntilDone() {
      while (working) await working;
    },
  };
}
