import type { Clock } from '../../src/platform/clock.ts';

/** Something that is due at a monotonic time. */
export interface Due {
  atMs: number;
  fire(): void;
}

/** Catching up after a pause, answers are read again after so many sends. */
const IN_A_ROW_MAX = 64;

/**
 * Fires each at its time, as soon as the machine allows: what is late is fired at once, never left
 * out. Ends when all have fired, or when the signal aborts.
 */
export async function pace(dues: Iterable<Due>, clock: Clock, signal: AbortSignal): Promise<void> {
  let inARow = 0;
  for (const due of dues) {
    for (;;) {
      if (signal.aborted) return;
      const leftMs = due.atMs - clock.monotonicMs();
      if (leftMs <= 0 && inARow < IN_A_ROW_MAX) break;
      inARow = 0;
      // Timers have whole milliseconds, and come late rather than early.
      await clock.sleep(Math.max(0, Math.floor(leftMs)), signal).catch(() => {});
    }
    inARow++;
    due.fire();
  }
}

/** Several lists in order of time as one list in order of time. */
export function* inOrder(lists: readonly Iterable<Due>[]): Generator<Due> {
  const sources = lists.map((list) => list[Symbol.iterator]());
  const heads = sources.map((source) => source.next());
  for (;;) {
    let first = -1;
    for (const [index, head] of heads.entries()) {
      if (head.done === true) continue;
      const best = heads[first];
      if (!best || best.done === true || head.value.atMs < best.value.atMs) first = index;
    }
    const head = heads[first];
    const source = sources[first];
    if (!head || !source || head.done === true) return;
    yield head.value;
    heads[first] = source.next();
  }
}
