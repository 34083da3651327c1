import { systemClock } from '../../platform/clock.ts';

/** The writer of spans looks for the end of a transaction every 100 ms, so it gets its turn in a pause. */
const PAUSE_MS = 120;

/** Pauses a long series of transactions, so that traces are stored in the meantime. */
export const pauseForWriter = (): Promise<void> => systemClock.sleep(PAUSE_MS);
