import type { Finding } from '../../engine/checks/check.ts';
import type { Exchange } from '../../engine/transcript/reading.ts';

/** Creates a finding about a request. Callers never pass a key or text of a conversation. */
export function requestFinding(
  { id }: Exchange,
  expected: string,
  received: string,
  hint?: string,
): Finding {
  return { exchange: id, pointer: '', expected, received, ...(hint !== undefined && { hint }) };
}

/** Describes a value without its content: "a string", "an array", "3.5". */
export function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === '') return 'an empty string';
  if (value === null || typeof value === 'number' || typeof value === 'boolean') {
    return String(value);
  }
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Lists the first items and the number of the others: "a, b, and 3 more". */
export function listSome(items: readonly string[], itemsMax = 3): string {
  const shown = items.slice(0, itemsMax);
  const left = items.length - shown.length;
  return listFormat.format(left > 0 ? [...shown, `${left} more`] : shown);
}

const listFormat = new Intl.ListFormat('en-US');
