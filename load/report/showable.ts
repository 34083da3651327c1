// Control characters move the cursor and colour the screen; marks of direction turn text around.
const UNPRINTABLE = /[\p{Cc}\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;

/** A value whose strings, at any depth, can be shown on a terminal as they are. */
export function showable<Value>(value: Value): Value {
  return cleaned(value) as Value;
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(/\s+/g, ' ').replaceAll(UNPRINTABLE, '\uFFFD');
  }
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [cleaned(key) as string, cleaned(item)]),
  );
}
