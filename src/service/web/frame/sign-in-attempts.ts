import type { Clock } from '../../../platform/clock.ts';
import { forgetOldest } from '../../../platform/forget-oldest.ts';

/** The wrong keys that browsers tried, by address. */
export interface SignInAttempts {
  /** Returns after how many seconds an address may try again; 0 if it may now. */
  findWaitS(address: string): number;
  recordFailure(address: string): void;
}

/** An address may try this many wrong keys within the window. */
const FAILURES_MAX = 10;
const WINDOW_MS = 60_000;

/** Beyond this many addresses, the one whose last failure is oldest is forgotten. */
const ADDRESSES_MAX = 10_000;

/** Creates the attempts of a service. */
export function createSignInAttempts(clock: Clock): SignInAttempts {
  const failures = new Map<string, number[]>();
  const findRecent = (address: string): number[] =>
    (failures.get(address) ?? []).filter((atMs) => clock.monotonicMs() - atMs < WINDOW_MS);
  return {
    findWaitS(address) {
      const recent = findRecent(address);
      const [oldestMs] = recent;
      if (oldestMs === undefined || recent.length < FAILURES_MAX) return 0;
      return Math.max(1, Math.ceil((oldestMs + WINDOW_MS - clock.monotonicMs()) / 1_000));
    },
    recordFailure(address) {
      const recent = [...findRecent(address), clock.monotonicMs()];
      failures.delete(address);
      failures.set(address, recent);
      forgetOldest(failures, ADDRESSES_MAX);
    },
  };
}
