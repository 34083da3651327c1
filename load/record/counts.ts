/** Counts by name, such as the number of errors of each kind. */

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
