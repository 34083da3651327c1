/** Maximum length of a quotation from a conversation. */
const QUOTE_CHARS_MAX = 80;

/** Maximum number of items in a list before the rest is counted. */
const LISTED_MAX = 10;

/** Shortens text to a length. The cut is marked and never splits a character. */
export function shorten(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`;
}

/** Formats a value as short JSON on one line. */
export function quote(value: unknown): string {
  return typeof value === 'string'
    ? JSON.stringify(shorten(value, QUOTE_CHARS_MAX))
    : shorten(toJson(value), QUOTE_CHARS_MAX);
}

/** Quotes a regular expression as it was written, on one line. */
export const quotePattern = (pattern: string): string =>
  quote(pattern)
    .slice(1, -1)
    .replaceAll(/\\(["\\])/g, '$1');

/** Quotes the part of a text around a position. */
export function quoteExcerpt(text: string, at: number): string {
  const start = Math.max(0, Math.min(at - 20, text.length - QUOTE_CHARS_MAX));
  const part = text.slice(start, start + QUOTE_CHARS_MAX).toWellFormed();
  const before = start > 0 ? '…' : '';
  const after = start + QUOTE_CHARS_MAX < text.length ? '…' : '';
  return JSON.stringify(`${before}${part}${after}`);
}

/** Joins the first items to a phrase that counts the others: `a, b and 3 more`. */
export function formatSome(items: readonly string[]): string {
  const more = items.length - LISTED_MAX;
  const shown = items.slice(0, LISTED_MAX).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

function toJson(value: unknown): string {
  try {
    return value === undefined ? 'nothing' : JSON.stringify(value);
  } catch {
    return 'a value that is nested too deeply to show';
  }
}
