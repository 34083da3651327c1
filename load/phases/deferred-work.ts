import type { Clock } from '../../src/platform/clock.ts';

/** A queue for work that must delay neither a send nor the reading of a response. */
export interface DeferredWork {
  add(task: () => void): void;
  /** Resolves when the queue is empty. */
  waitUntilDone(): Promise<void>;
}

/** Time slice of work before the event loop handles the network again. */
const SLICE_MS = 2;
/** With more tasks waiting, new tasks run immediately to limit memory. */
const WAITING_MAX = 20_000;

/** Creates an empty queue. */
export function createDeferredWork(clock: Clock): DeferredWork {
  let waiting: (() => void)[] = [];
  let head = 0;
  let working: Promise<void> | undefined;
  const work = async (): Promise<void> => {
    while (head < waiting.length) {
      await clock.sleep(1);
      const untilMs = clock.monotonicMs() + SLICE_MS;
      do {
        const task = waiting[head];
        waiting[head++] = () => {};
        task?.();
      } while (head < waiting.length && clock.monotonicMs() < untilMs);
    }
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
