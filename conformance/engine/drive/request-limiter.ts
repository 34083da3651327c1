import type { Clock } from '../../../src/platform/clock.ts';

/** Limits the requests in flight and the requests per second, and can pause all requests. */
export interface RequestLimiter {
  /** Runs `send` when the limits allow it. */
  pass<Result>(send: () => Promise<Result>): Promise<Result>;
  /** Starts no request for `ms` from now. */
  pause(ms: number): void;
}

/** The limits of a request limiter. */
export interface RequestLimiterOptions {
  clock: Clock;
  /** Maximum number of requests in flight. */
  concurrency: number;
  /** Maximum number of requests started per second (default: no limit). */
  ratePerSecond?: number;
}

/** Creates a request limiter that starts requests in the order in which they arrive. */
export function createRequestLimiter({
  clock,
  concurrency,
  ratePerSecond,
}: RequestLimiterOptions): RequestLimiter {
  const waiting: (() => void)[] = [];
  let inFlight = 0;
  let opensAtMs = 0;

  const enter = async (): Promise<void> => {
    if (inFlight >= concurrency) await new Promise<void>((resolve) => waiting.push(resolve));
    else inFlight++;
  };
  const leave = (): void => {
    const startNext = waiting.shift();
    if (startNext) startNext();
    else inFlight--;
  };
  const waitUntilOpen = async (): Promise<void> => {
    for (;;) {
      const nowMs = clock.monotonicMs();
      if (nowMs >= opensAtMs) break;
      await clock.sleep(opensAtMs - nowMs);
    }
    if (ratePerSecond !== undefined) opensAtMs = clock.monotonicMs() + 1000 / ratePerSecond;
  };
  return {
    async pass(send) {
      await enter();
      try {
        await waitUntilOpen();
        return await send();
      } finally {
        leave();
      }
    },
    pause(ms) {
      opensAtMs = Math.max(opensAtMs, clock.monotonicMs() + ms);
    },
  };
}
