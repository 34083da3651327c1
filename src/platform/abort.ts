import type { Clock } from './clock.ts';

/** Returns a signal that aborts with another signal or after a time. Dispose of it to release both. */
export function limitSignal(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
): Disposable & { signal: AbortSignal } {
  const deadline = clock.deadline(timeoutMs);
  const control = new AbortController();
  const passOn = (): void => control.abort(signal.reason);
  const end = (): void => control.abort(deadline.signal.reason);
  // A signal that is already aborted fires no event.
  if (signal.aborted) passOn();
  signal.addEventListener('abort', passOn, { once: true });
  deadline.signal.addEventListener('abort', end, { once: true });
  return {
    signal: control.signal,
    [Symbol.dispose]() {
      signal.removeEventListener('abort', passOn);
      deadline[Symbol.dispose]();
    },
  };
}
