import type { Clock } from '../../src/platform/clock.ts';

/** An action that is due at a monotonic time. */
export interface Due {
  atMs: number;
  fire(): void;
}

/** After a pause, the most sends before the event loop can read responses. */
const BURST_MAX = 64;

/** The longest wait that a stop does not shorten: listening to the signal costs more than the timer. */
const UNSTOPPABLE_MS_MAX = 20;

/**
 * Fires each action at its time. A late action is fired immediately and never skipped. Resolves when all
 * have fired or the signal aborts.
 */
export async function pace(dues: Iterable<Due>, clock: Clock, signal: AbortSignal): Promise<void> {
  let burst = 0;
  for (const due of dues) {
    for (;;) {
      if (signal.aborted) return;
      const leftMs = due.atMs - clock.monotonicMs();
      if (leftMs <= 0 && burst < BURST_MAX) break;
      burst = 0;
      // Timers have millisecond resolution and fire late rather than early.
      const waitMs = Math.max(0, Math.floor(leftMs));
      if (waitMs <= UNSTOPPABLE_MS_MAX) await clock.sleep(waitMs);
      else await clock.sleep(waitMs, signal).catch(() => {});
    }
    burst++;
    due.fire();
  }
}

/** Merges lists that are ordered by time into one. */
export function* mergeByTime(lists: readonly Iterable<Due>[]): Generator<Due> {
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
