/**
 * The smallest of the values that so many percent of them do not exceed (nearest rank); undefined
 * of none. The values may be in any order.
 */
export function findPercentile(values: readonly number[], percent: number): number | undefined {
  const rank = Math.max(1, Math.ceil((percent / 100) * values.length));
  return values.toSorted((one, other) => one - other)[rank - 1];
}
