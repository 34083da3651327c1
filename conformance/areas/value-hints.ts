/** Hints for wrong values of fields that several messages have. */

/**
 * Returns the hint for a number in place of an id; undefined for other values. Encoders and databases
 * turn ids of only digits into numbers.
 */
export const hintForNumber = (received: unknown): string | undefined =>
  typeof received === 'number' ? 'Send an id as a string, even if it has only digits.' : undefined;

/** Returns the hint for a value that is not an ISO 8601 time (RFC 3339); undefined if it is missing. */
export function hintForTime(received: unknown): string | undefined {
  if (received === undefined) return undefined;
  const form = 'a string such as "2026-11-20T09:30:00Z"';
  return typeof received === 'number' ? `Convert the Unix time to ${form}.` : `Send ${form}.`;
}
