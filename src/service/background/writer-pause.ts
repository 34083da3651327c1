import { systemClock } from '../../platform/clock.ts';

/** The writer of spans looks for the end of a transaction every 100 ms, so it gets its turn in a pause. */
const PAUSE_MS = 120;

/** Pauses a long series of transactions, so that traces are stored in the meantime. */
export const pauseForWriter = (): Promise<void> => systemClock.sleep(PAUSE_MS);

/**
 * Repeats a transaction that does a part of some work and returns whether there can be more, with pauses for
 * the writer. Returns whether nothing is left; false if it was aborted, or repeated as often as allowed.
 */
export async function repeatWithPauses(
  signal: AbortSignal,
  doPart: () => Promise<boolean>,
  partsMax = Infinity,
): Promise<boolean> {
  for (let part = 0; part < partsMax && !signal.aborted; part += 1) {
    if (!(await doPart())) return true;
    await pauseForWriter();
  }
  return false;
}
