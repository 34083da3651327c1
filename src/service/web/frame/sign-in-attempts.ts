import type { Clock } from '../../../platform/clock.ts';
import { forgetOldest } from '../../../platform/forget-oldest.ts';

/** The keys that browsers tried, by address. */
export interface SignInAttempts {
  /**
   * Counts an attempt as a wrong key. Concurrent attempts count as well, so call it before the key is
   * checked. Returns 0, or after how many seconds the address may try again.
   */
  countAttempt(address: string): number;
  /** Takes back the latest attempt, because its key was right. */
  takeBack(address: string): void;
}

/** An address may try this many wrong keys within the window. */
const FAILURES_MAX = 10;
const WINDOW_MS = 60_000;

/** Beyond this many addresses, the one whose last failure is oldest is forgotten. */
const ADDRESSES_MAX = 10_000;

/** Creates the attempts of a service. */
export function createSignInAttempts(clock: Clock): SignInAttempts {
  const failures = new Map<string, number[]>();
  return {
    countAttempt(address) {
      const nowMs = clock.monotonicMs();
      const recent = (failures.get(address) ?? []).filter((atMs) => nowMs - atMs < WINDOW_MS);
      const [oldestMs] = recent;
      if (oldestMs !== undefined && recent.length >= FAILURES_MAX) {
        return Math.max(1, Math.ceil((oldestMs + WINDOW_MS - nowMs) / 1_000));
      }
      failures.delete(address);
      failures.set(address, [...recent, nowMs]);
      forgetOldest(failures, ADDRESSES_MAX);
      return 0;
    },
    takeBack(address) {
      failures.get(address)?.pop();
    },
  };
}
