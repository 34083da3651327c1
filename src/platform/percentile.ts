/**
 * Returns a percentile by nearest rank: the smallest value that at least `percent` percent of the
 * values do not exceed; undefined if there are no values. The values may be in any order.
 */
export function findPercentile(values: readonly number[], percent: number): number | undefined {
  const rank = Math.max(1, Math.ceil((percent / 100) * values.length));
  return values.toSorted((a, b) => a - b)[rank - 1];
}
