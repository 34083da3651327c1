import type { Clock } from '../../src/platform/clock.ts';

/** Work that can wait a moment, so that it delays neither a send nor the reading of an answer. */
export interface Chores {
  add(chore: () => void): void;
  /** Resolves when nothing is left to do. */
  done(): Promise<void>;
}

/** So much work at a time, then the network has its turn. */
const TURN_MS = 2;
/** Beyond so many, work is done at once: memory is worth more than a moment. */
const WAITING_MAX = 20_000;

/** Starts with nothing to do. */
export function chores(clock: Clock): Chores {
  let waiting: (() => void)[] = [];
  let head = 0;
  let working: Promise<void> | undefined;
  const work = async (): Promise<void> => {
    while (head < waiting.length) {
      await clock.sleep(1);
      const untilMs = clock.monotonicMs() + TURN_MS;
      do {
        const chore = waiting[head];
        waiting[head++] = () => {};
        chore?.();
      } while (head < waiting.length && clock.monotonicMs() < untilMs);
    }
    waiting = [];
    head = 0;
    working = undefined;
  };
  return {
    add(chore) {
      if (waiting.length - head >= WAITING_MAX) {
        chore();
        return;
      }
      waiting.push(chore);
      working ??= work();
    },
    async done() {
      while (working) await working;
    },
  };
}
