import { INGEST_REQUESTS_PER_MINUTE_MAX } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';

/** Whether a request is within the rate limit of its key. */
export type RateLimitResult =
  | { admitted: true }
  /** `isFirst`: the first rejected request since the last admitted one. */
  | { admitted: false; retryAfterS: number; isFirst: boolean };

/** Limits the requests of each key with an exact sliding window. */
export interface RateLimiter {
  /** Returns whether another request is within the limit now, without counting it. */
  checkRequest(keyDigest: string): RateLimitResult;
  /** Counts a complete request if it is within the limit. A rejected request is not counted. */
  countRequest(keyDigest: string): RateLimitResult;
  clear(): void;
}

const WINDOW_MS = 60_000;

// Only existing keys are counted. Beyond this many, keys without recent requests are removed.
const KEYS_MAX = 10_000;

/** Creates a limiter that admits 120 requests of a key within any 60 s (spec 5, 8). */
export function createRateLimiter(clock: Clock): RateLimiter {
  const windows = new Map<string, { hitsMs: number[]; isRejecting: boolean }>();
  const removeUnused = (nowMs: number): void => {
    for (const [key, { hitsMs }] of windows) {
      if ((hitsMs.at(-1) ?? 0) <= nowMs - WINDOW_MS) windows.delete(key);
    }
  };
  const judge = (keyDigest: string, { isCounted }: { isCounted: boolean }): RateLimitResult => {
    const nowMs = clock.monotonicMs();
    if (windows.size >= KEYS_MAX) removeUnused(nowMs);
    const window = windows.get(keyDigest) ?? { hitsMs: [], isRejecting: false };
    windows.set(keyDigest, window);
    const { hitsMs } = window;
    while (hitsMs[0] !== undefined && hitsMs[0] <= nowMs - WINDOW_MS) hitsMs.shift();
    const [oldestMs] = hitsMs;
    if (oldestMs === undefined || hitsMs.length < INGEST_REQUESTS_PER_MINUTE_MAX) {
      if (isCounted) hitsMs.push(nowMs);
      window.isRejecting = false;
      return { admitted: true };
    }
    const isFirst = !window.isRejecting;
    window.isRejecting = true;
    const retryAfterS = Math.max(1, Math.ceil((oldestMs + WINDOW_MS - nowMs) / 1000));
    return { admitted: false, retryAfterS, isFirst };
  };
  return {
    checkRequest: (keyDigest) => judge(keyDigest, { isCounted: false }),
    countRequest: (keyDigest) => judge(keyDigest, { isCounted: true }),
    clear: () => windows.clear(),
  };
}
