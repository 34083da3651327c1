import { systemClock } from '../../src/platform/clock.ts';

/** A condition that never holds must end the test; a busy machine must not. */
const WAIT_MS_MAX = 180_000;
const POLL_MS = 5;
/** A condition that takes a request costs CPU time, on both sides. */
const POLL_ASYNC_MS = 25;

/** Waits until a condition holds. Throws an error with its description after three minutes. */
export async function until(
  description: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const endMs = systemClock.monotonicMs() + WAIT_MS_MAX;
  for (;;) {
    const held = holds();
    if (await held) return;
    if (systemClock.monotonicMs() > endMs) {
      throw new Error(`Condition not met within ${WAIT_MS_MAX} ms: ${description}.`);
    }
    await systemClock.sleep(held instanceof Promise ? POLL_ASYNC_MS : POLL_MS);
  }
}
