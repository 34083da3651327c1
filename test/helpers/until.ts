import { systemClock } from '../../src/platform/clock.ts';

const WAIT_MS_MAX = 10_000;
const LOOK_EVERY_MS = 5;

/** Waits for a condition, at most 10 s. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = systemClock.monotonicMs() + WAIT_MS_MAX;
  while (!(await holds())) {
    if (systemClock.monotonicMs() > endMs) throw new Error(`not within ${WAIT_MS_MAX} ms: ${what}`);
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}
