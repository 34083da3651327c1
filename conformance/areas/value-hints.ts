/** What to do about values of fields that several messages have. */

/** A number in place of an id: encoders and databases turn ids of only digits into numbers. */
export const hintForNumber = (received: unknown): string | undefined =>
  typeof received === 'number' ? 'Send an id as a string, even if it has only digits.' : undefined;

/** A time in another form than ISO 8601 (RFC 3339). */
export function hintForTime(received: unknown): string | undefined {
  if (received === undefined) return undefined;
  const form = 'a string such as "2026-11-20T09:30:00Z"';
  return typeof received === 'number' ? `Convert the Unix time to ${form}.` : `Send ${form}.`;
}
