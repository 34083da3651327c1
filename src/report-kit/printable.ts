// Control characters move the cursor and color the screen; direction marks reorder text.
const controlCharacters = /[\p{Cc}\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;
const controlsButLines = /(?![\n\t])[\p{Cc}\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;

/** Makes every string in a value, at any depth, one line that is safe to print on a terminal. */
export function toPrintable<Value>(value: Value): Value {
  return mapStrings(value, (text) =>
    text.replaceAll(/\s+/g, ' ').replaceAll(controlCharacters, '\uFFFD'),
  ) as Value;
}

/** Makes every string in a value safe to show on a page: keeps lines and tabs, escapes other controls. */
export function toVisible<Value>(value: Value): Value {
  return mapStrings(value, (text) =>
    text.replaceAll(/\r\n?/g, '\n').replaceAll(controlsButLines, escapeControl).toWellFormed(),
  ) as Value;
}

/** Writes ESC as `\\u001b`, as JSON does. */
const escapeControl = (mark: string): string =>
  `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item: unknown) => mapStrings(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [change(key), mapStrings(item, change)]),
  );
}
