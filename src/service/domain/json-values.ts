/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether two JSON values are equal, whatever the order of their keys. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (isObject(one) && isObject(other)) {
    const [keys, others] = [Object.keys(one), Object.keys(other)];
    return keys.length === others.length && everyKey(one, other, sameJson);
  }
  return compared(one, other, sameJson);
}

/**
 * Whether a JSON value holds all that is wanted: objects may hold more keys, at any depth; lists are
 * as long as wanted, element by element.
 */
export function holds(value: unknown, wanted: unknown): boolean {
  if (isObject(wanted) && isObject(value)) return everyKey(wanted, value, (a, b) => holds(b, a));
  return compared(value, wanted, holds);
}

type Compare = (one: unknown, other: unknown) => boolean;

function everyKey(
  one: Record<string, unknown>,
  other: Record<string, unknown>,
  same: Compare,
): boolean {
  return Object.keys(one).every((key) => Object.hasOwn(other, key) && same(one[key], other[key]));
}

function compared(one: unknown, other: unknown, same: Compare): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return one.length === other.length && one.every((value, index) => same(value, other[index]));
}
