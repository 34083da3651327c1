/** Counts by name, such as the number of errors of each kind. */
import { formatNumber } from '../../src/report-kit/format.ts';

/** Adds other counts to counts. */
export function addCounts(
  counts: Record<string, number>,
  others: Readonly<Record<string, number>>,
): void {
  for (const [name, times] of Object.entries(others)) counts[name] = (counts[name] ?? 0) + times;
}

/** Returns the sum of counts. */
export const sumCounts = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, times) => sum + times, 0);

/** Lists counts, the largest first: "300 rate_limited, 2 timeout". */
export const describeCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .sort(([one, left], [other, right]) => right - left || one.localeCompare(other))
    .map(([name, times]) => `${formatNumber(times)} ${name}`)
    .join(', ');
