import type { Clock } from '../../src/platform/clock.ts';

/** Deadlines of many requests on one timer; a timer per request would cost more than sending it. */
export interface Deadlines {
  /** Calls `onExpiry` at the monotonic time `atMs`, unless the deadline is canceled before. */
  at(atMs: number, onExpiry: () => void): RequestDeadline;
  /** Cancels all deadlines. */
  close(): void;
}

/** The deadline of one request. */
export interface RequestDeadline {
  cancel(): void;
}

interface Entry {
  atMs: number;
  /** Undefined after expiry or cancellation. */
  onExpiry: (() => void) | undefined;
}

/** Expired entries to keep at the front of the list before it is trimmed. */
const EXPIRED_MAX = 1024;

/** Creates an empty list of deadlines. */
export function createDeadlines(clock: Clock): Deadlines {
  const closed = new AbortController();
  let entries: Entry[] = [];
  let head = 0;
  let asleep: { untilMs: number; wake: AbortController } | undefined;

  const insert = (entry: Entry): void => {
    let index = entries.length;
    // Nearly always at the end, because requests of one kind have the same timeout.
    while (index > head && (entries[index - 1]?.atMs ?? 0) > entry.atMs) index--;
    entries.splice(index, 0, entry);
  };
  const sweep = (): void => {
    const nowMs = clock.monotonicMs();
    for (; head < entries.length; head++) {
      const entry = entries[head];
      if (entry?.onExpiry && entry.atMs > nowMs) break;
      const onExpiry = entry?.onExpiry;
      if (entry) entry.onExpiry = undefined;
      onExpiry?.();
    }
    if (head < EXPIRED_MAX) return;
    entries = entries.slice(head);
    head = 0;
  };
  const watch = async (): Promise<void> => {
    for (;;) {
      sweep();
      const next = entries[head];
      if (!next || closed.signal.aborted) break;
      const wake = new AbortController();
      asleep = { untilMs: next.atMs, wake };
      await clock.sleep(Math.max(1, next.atMs - clock.monotonicMs()), wake.signal).catch(() => {});
    }
    asleep = undefined;
  };
  return {
    at(atMs, onExpiry) {
      const entry: Entry = { atMs, onExpiry };
      insert(entry);
      if (!asleep) {
        asleep = { untilMs: atMs, wake: new AbortController() };
        void Promise.resolve().then(watch);
      } else if (atMs < asleep.untilMs) asleep.wake.abort();
      return {
        cancel: () => {
          entry.onExpiry = undefined;
        },
      };
    },
    close() {
      closed.abort();
      entries = [];
      head = 0;
      asleep?.wake.abort();
    },
  };
}
