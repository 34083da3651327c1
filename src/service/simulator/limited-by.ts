import type { Clock } from '../../platform/clock.ts';

/** A signal that aborts with another, or after a time; disposing of it lets go of both. */
export function limitedBy(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
): Disposable & { signal: AbortSignal } {
  const deadline = clock.deadline(timeoutMs);
  const either = new AbortController();
  const passOn = (): void => either.abort(signal.reason);
  const end = (): void => either.abort(deadline.signal.reason);
  // One that has aborted tells nobody any more.
  if (signal.aborted) passOn();
  signal.addEventListener('abort', passOn, { once: true });
  deadline.signal.addEventListener('abort', end, { once: true });
  return {
    signal: either.signal,
    [Symbol.dispose]() {
      signal.removeEventListener('abort', passOn);
      deadline[Symbol.dispose]();
    },
  };
}
