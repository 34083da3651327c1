import type { Clock } from '../../src/platform/clock.ts';

/** Deadlines of many requests, watched by one timer: a timer a request costs more than sending it. */
export interface Deadlines {
  /** Calls `passed` when the monotonic time `atMs` has come, unless it was called off before. */
  at(atMs: number, passed: () => void): { callOff(): void };
  /** Forgets all of them. */
  close(): void;
}

interface Entry {
  atMs: number;
  /** Undefined once it is over. */
  passed: (() => void) | undefined;
}

/** How many entries that are over may stand before the first one that is not. */
const STALE_MAX = 1024;

/** Starts watching deadlines. */
export function watchDeadlines(clock: Clock): Deadlines {
  const over = new AbortController();
  let entries: Entry[] = [];
  let head = 0;
  let asleep: { untilMs: number; wake: AbortController } | undefined;

  const insert = (entry: Entry): void => {
    let index = entries.length;
    // Nearly always the last: the requests of a kind have the same time each.
    while (index > head && (entries[index - 1]?.atMs ?? 0) > entry.atMs) index--;
    entries.splice(index, 0, entry);
  };
  const sweep = (): void => {
    const nowMs = clock.monotonicMs();
    for (; head < entries.length; head++) {
      const entry = entries[head];
      if (entry?.passed && entry.atMs > nowMs) break;
      const passed = entry?.passed;
      if (entry) entry.passed = undefined;
      passed?.();
    }
    if (head < STALE_MAX) return;
    entries = entries.slice(head);
    head = 0;
  };
  const watch = async (): Promise<void> => {
    for (;;) {
      sweep();
      const next = entries[head];
      if (!next || over.signal.aborted) break;
      const wake = new AbortController();
      asleep = { untilMs: next.atMs, wake };
      await clock.sleep(Math.max(1, next.atMs - clock.monotonicMs()), wake.signal).catch(() => {});
    }
    asleep = undefined;
  };
  return {
    at(atMs, passed) {
      const entry: Entry = { atMs, passed };
      insert(entry);
      if (!asleep) {
        asleep = { untilMs: atMs, wake: new AbortController() };
        void Promise.resolve().then(watch);
      } else if (atMs < asleep.untilMs) asleep.wake.abort();
      return {
        callOff: () => {
          entry.passed = undefined;
        },
      };
    },
    close() {
      over.abort();
      entries = [];
      head = 0;
      asleep?.wake.abort();
    },
  };
}
