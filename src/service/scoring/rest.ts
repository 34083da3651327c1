import type { Clock } from '../../platform/clock.ts';

/** Ends early when the signal is aborted; without a time, only then. */
export async function rest(
  clock: Clock,
  ms: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const woken = Promise.withResolvers<undefined>();
  signal.addEventListener('abort', () => woken.resolve(undefined), { once: true });
  const slept = ms === undefined ? woken.promise : clock.sleep(ms, signal);
  await Promise.race([slept.catch(() => undefined), woken.promise]);
}
