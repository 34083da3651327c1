import { INGEST_REQUESTS_PER_MINUTE_MAX } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Caller } from './authentication.ts';

/** Whether a request is within the rate limit of its key. */
export type RateLimitResult =
  | { admitted: true }
  /** `isFirst`: the first rejected request since the last admitted one. */
  | { admitted: false; retryAfterS: number; isFirst: boolean };

/** Limits the requests of each key with an exact sliding window. */
export interface RateLimiter {
  /**
   * Returns whether another request is within the limit now, without counting it. It may not know the
   * requests to other replicas, which `countRequest` does.
   */
  checkRequest(caller: Caller): Promise<RateLimitResult>;
  /** Counts a complete request if it is within the limit. A rejected request is not counted. */
  countRequest(caller: Caller): Promise<RateLimitResult>;
  /** Forgets the requests of an owner's keys. */
  clear(ownerId: string): Promise<void>;
}

/** The window for counting the requests of a key. */
export const RATE_WINDOW_MS = 60_000;

// Only existing keys are counted. Beyond this many, keys without recent requests are removed.
const KEYS_MAX = 10_000;

/** Returns the value of `Retry-After` until the oldest counted request leaves the window. */
export function retryAfterS(oldestAgeMs: number): number {
  return Math.max(1, Math.ceil((RATE_WINDOW_MS - oldestAgeMs) / 1000));
}

/** Creates a limiter that admits 120 requests of a key within any 60 s (spec 5, 8). */
export function createRateLimiter(clock: Clock): RateLimiter {
  const windows = new Map<string, { ownerId: string; hitsMs: number[]; isRejecting: boolean }>();
  const removeUnused = (nowMs: number): void => {
    for (const [key, { hitsMs }] of windows) {
      if ((hitsMs.at(-1) ?? 0) <= nowMs - RATE_WINDOW_MS) windows.delete(key);
    }
  };
  const judge = (
    { ownerId, keyDigest }: Caller,
    { isCounted }: { isCounted: boolean },
  ): Promise<RateLimitResult> => {
    const nowMs = clock.monotonicMs();
    if (windows.size >= KEYS_MAX) removeUnused(nowMs);
    const window = windows.get(keyDigest) ?? { ownerId, hitsMs: [], isRejecting: false };
    windows.set(keyDigest, window);
    const { hitsMs } = window;
    while (hitsMs[0] !== undefined && hitsMs[0] <= nowMs - RATE_WINDOW_MS) hitsMs.shift();
    const [oldestMs] = hitsMs;
    if (oldestMs === undefined || hitsMs.length < INGEST_REQUESTS_PER_MINUTE_MAX) {
      if (isCounted) hitsMs.push(nowMs);
      window.isRejecting = false;
      return Promise.resolve({ admitted: true });
    }
    const isFirst = !window.isRejecting;
    window.isRejecting = true;
    return Promise.resolve({
      admitted: false,
      retryAfterS: retryAfterS(nowMs - oldestMs),
      isFirst,
    });
  };
  return {
    checkRequest: (caller) => judge(caller, { isCounted: false }),
    countRequest: (caller) => judge(caller, { isCounted: true }),
    clear(ownerId) {
      for (const [key, window] of windows) if (window.ownerId === ownerId) windows.delete(key);
      return Promise.resolve();
    },
  };
}
