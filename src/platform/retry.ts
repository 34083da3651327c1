import type { Clock } from './clock.ts';

/** A failed attempt. */
export interface Failure {
  ok: false;
  message: string;
  /** Whether another attempt may succeed. */
  isTemporary: boolean;
  /** Wait that the server asks for. */
  retryAfterMs?: number | undefined;
}

/** How often and for how long to try. */
export interface RetryLimits {
  clock: Clock;
  attemptsMax: number;
  /** Time limit for all attempts together, including waits (default: none). */
  totalMsMax?: number;
  /** Longest wait before another attempt (default: the time that is left). */
  waitMsMax?: number;
  signal: AbortSignal;
}

/** The last attempt. */
export interface Tried<Success> {
  result: Success | Failure;
  attempts: number;
  /** The wait that the server asked for, if it was longer than allowed. */
  excessiveWaitMs?: number;
  /** Whether the signal ended the wait for another attempt. */
  isCanceled?: boolean;
}

/** Wait before the second attempt; doubles for each further one. */
const FIRST_WAIT_MS = 500;

/** Tries until there is a success, a permanent failure, or a limit is reached. Rejects if an attempt does. */
export async function retry<Success extends { ok: true }>(
  { clock, attemptsMax, totalMsMax = Infinity, waitMsMax = Infinity, signal }: RetryLimits,
  attempt: (leftMs: number) => Promise<Success | Failure>,
): Promise<Tried<Success>> {
  const endsAtMs = clock.monotonicMs() + totalMsMax;
  for (let attempts = 1; ; attempts += 1) {
    const result = await attempt(endsAtMs - clock.monotonicMs());
    if (result.ok || !result.isTemporary || attempts >= attemptsMax) return { result, attempts };
    const waitMs = Math.max(0, result.retryAfterMs ?? FIRST_WAIT_MS * 2 ** (attempts - 1));
    if (waitMs > waitMsMax) return { result, attempts, excessiveWaitMs: waitMs };
    if (clock.monotonicMs() + waitMs >= endsAtMs) return { result, attempts };
    const isCanceled = await clock.sleep(waitMs, signal).then(
      () => false,
      () => true,
    );
    if (isCanceled) return { result, attempts, isCanceled };
  }
}

/** Returns whether a request that got this HTTP status may succeed later. */
export const isTemporaryStatus = (status: number): boolean =>
  status === 408 || status === 429 || status >= 500;
