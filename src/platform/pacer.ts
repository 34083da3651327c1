import type { Clock } from './clock.ts';

/** Something that has to be done at set times. */
export interface Paced {
  /** When it is due next, on the monotonic clock. */
  readonly dueMs: number;
  /** Does what is due and moves `dueMs` on. Must not throw. */
  beat(nowMs: number): void;
}

/** Does what many calls have to do in time, with one timer for all of them. */
export interface Pacer {
  add(paced: Paced): void;
  remove(paced: Paced): void;
}

/** Timers are no finer than this; what is due within it is done at once. */
const grainMs = 1;

/** One that is added while the pacer sleeps is seen after this at the latest. */
const sleepMsMax = 20;

/** A pacer that rests while there is nothing to pace. */
export function pacer(clock: Clock): Pacer {
  const paced = new Set<Paced>();
  let isRunning = false;

  const run = async (): Promise<void> => {
    isRunning = true;
    while (paced.size > 0) {
      const nowMs = clock.monotonicMs();
      let soonestMs = nowMs + sleepMsMax;
      for (const one of paced) {
        if (one.dueMs < nowMs + grainMs / 2) one.beat(nowMs);
        soonestMs = Math.min(soonestMs, one.dueMs);
      }
      await clock.sleep(Math.max(grainMs, soonestMs - clock.monotonicMs()));
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
