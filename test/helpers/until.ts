import { systemClock } from '../../src/platform/clock.ts';

const waitMsMax = 10_000;
const lookEveryMs = 5;

/** Waits for a condition, at most 10 s. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = systemClock.monotonicMs() + waitMsMax;
  while (!(await holds())) {
    if (systemClock.monotonicMs() > endMs) throw new Error(`not within ${waitMsMax} ms: ${what}`);
    await systemClock.sleep(lookEveryMs);
  }
}
