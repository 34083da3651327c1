import type { Clock } from '../../../src/platform/clock.ts';

/** Lets requests pass: so many at once, so many a second, and none during a pause. */
export interface RequestLimiter {
  pass<Result>(go: () => Promise<Result>): Promise<Result>;
  /** Holds all requests back for `ms` from now. */
  pause(ms: number): void;
}

/** The bounds of a turnstile. */
export interface RequestLimiterOptions {
  clock: Clock;
  /** In flight at most. */
  concurrency: number;
  /** Started a second at most; no bound when left out. */
  ratePerSecond?: number;
}

/** A turnstile that keeps the order of arrival. */
export function createRequestLimiter({
  clock,
  concurrency,
  ratePerSecond,
}: RequestLimiterOptions): RequestLimiter {
  const waiting: (() => void)[] = [];
  let inFlight = 0;
  let openAtMs = 0;

  const enter = async (): Promise<void> => {
    if (inFlight >= concurrency) await new Promise<void>((resolve) => waiting.push(resolve));
    else inFlight++;
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else inFlight--;
  };
  const untilOpen = async (): Promise<void> => {
    for (;;) {
      const nowMs = clock.monotonicMs();
      if (nowMs >= openAtMs) break;
      await clock.sleep(openAtMs - nowMs);
    }
    if (ratePerSecond !== undefined) openAtMs = clock.monotonicMs() + 1000 / ratePerSecond;
  };
  return {
    async pass(go) {
      await enter();
      try {
        await untilOpen();
        return await go();
      } finally {
        leave();
      }
    },
    pause(ms) {
      openAtMs = Math.max(openAtMs, clock.monotonicMs() + ms);
    },
  };
}
