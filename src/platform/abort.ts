import type { Clock } from './clock.ts';

/** A signal with a time limit. Dispose of it to release the timer and the other signals. */
export interface SignalLimit extends Disposable {
  /** Aborts with another signal or after the time, whichever is first, and with its reason. */
  signal: AbortSignal;
  /** Returns whether the time is over. */
  isOver(): boolean;
}

/** Returns a signal that aborts with any of the given signals or after a time. */
export function limitSignal(
  clock: Clock,
  timeoutMs: number,
  ...signals: readonly AbortSignal[]
): SignalLimit {
  const deadline = clock.deadline(timeoutMs);
  const limited = new AbortController();
  const released = new AbortController();
  for (const each of [...signals, deadline.signal]) {
    const passOn = (): void => limited.abort(each.reason);
    // A signal that is already aborted fires no event.
    if (each.aborted) passOn();
    // Removed afterward, because the other signals may live as long as the process.
    each.addEventListener('abort', passOn, { once: true, signal: released.signal });
  }
  return {
    signal: limited.signal,
    isOver: () => deadline.signal.aborted,
    [Symbol.dispose]() {
      released.abort();
      deadline[Symbol.dispose]();
    },
  };
}
