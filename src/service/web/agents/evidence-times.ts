import { formatMinute } from '../../../report-kit/time.ts';

/** Says when the oldest and the newest evidence about an agent ended; empty without evidence. */
export function describeEvidenceTimes(timesMs: readonly number[]): string {
  if (timesMs.length === 0) return '';
  const [oldest, newest] = [Math.min(...timesMs), Math.max(...timesMs)].map((ms) =>
    formatMinute(ms),
  );
  return oldest === newest ? `Evidence from ${oldest}.` : `Evidence from ${oldest} to ${newest}.`;
}
