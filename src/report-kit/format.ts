/** Numbers and times as people read them, in American format. */

/** Formats a duration: "0.4 ms", "51 ms", "2.3 s". */
export function formatDuration(ms: number): string {
  if (ms < 10) return `${formatNumber(ms, 1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${formatNumber(ms / 1000, ms < 10_000 ? 2 : 1)} s`;
}

/** Formats a duration in seconds: "2.31 s", "12.3 s". */
export const formatSeconds = (ms: number, decimals = ms < 10_000 ? 2 : 1): string =>
  `${(ms / 1000).toFixed(decimals)} s`;

/** Formats a count with its noun: "1 response", "6,000 responses". */
export function formatCount(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns a text with its first letter in upper case. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

let listFormat: Intl.ListFormat | undefined;

/** Lists items: "a, b, and c". Of more than `itemsMax` items, it counts the rest: "a, b, and 3 more". */
export function formatList(items: readonly string[], itemsMax = items.length): string {
  // Created when it is needed, because it takes milliseconds.
  listFormat ??= new Intl.ListFormat('en-US');
  const left = items.length - itemsMax;
  return listFormat.format(
    left > 0 ? [...items.slice(0, itemsMax), `${formatNumber(left)} more`] : items,
  );
}

/** Formats an ISO time: "2026-11-20 09:30:00 UTC". */
export function formatInstant(iso: string): string {
  return iso.replace('T', ' ').replace(/(?:\.\d+)?Z$/, ' UTC');
}

// Creating a format takes a hundred times as long as using it.
const numberFormats = new Map<number, Intl.NumberFormat>();

/** Formats a number with thousands separators and a maximum number of decimals: "6,000", "1.5". */
export function formatNumber(number: number, decimals = 0): string {
  // Adding 0 turns -0 into 0.
  const rounded = Number(number.toFixed(decimals)) + 0;
  const format =
    numberFormats.get(decimals) ??
    new Intl.NumberFormat('en-US', { maximumFractionDigits: decimals });
  numberFormats.set(decimals, format);
  return format.format(rounded);
}

/** Formats how long ago something was, such as "3 hours ago". */
export function formatAge(ageMs: number): string {
  const minutes = Math.floor(ageMs / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${formatCount(minutes, 'minute')} ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? `${formatCount(hours, 'hour')} ago`
    : `${formatCount(Math.floor(hours / 24), 'day')} ago`;
}

/** Formats a share, 0 to 1, as a rounded percentage. Only everything is 100%, and only nothing is 0%. */
export function formatShare(share: number, decimals = 3): string {
  const factor = 10 ** decimals;
  // The small addition makes up for binary fractions: 0.5 of a step is rounded up.
  const rounded = Math.round(share * 100 * factor + 1e-9);
  const isBetween = share > 0 && share < 1;
  const steps = isBetween ? Math.min(Math.max(rounded, 1), 100 * factor - 1) : rounded;
  return `${formatNumber(steps / factor, decimals)}%`;
}

/** Formats a share that is a lower bound, such as "at least 99.9%": it is rounded down. */
export const formatShareAtLeast = (share: number, decimals = 3): string => {
  const factor = 10 ** decimals;
  return `${formatNumber(Math.floor(share * 100 * factor + 1e-9) / factor, decimals)}%`;
};

/** Formats a value with its unit: "51 ms", "99.9%", "100 requests/s". */
export function formatQuantity(value: number, unit: string): string {
  if (unit === 'ms') return formatDuration(value);
  if (unit.startsWith('%')) return `${formatNumber(value, 3)}${unit}`;
  return `${formatNumber(value, 2)} ${unit}`.trimEnd();
}

/** Cuts a text and notes how many characters are missing. */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return `${text.slice(0, lengthMax)} [cut: ${formatCount(text.length - lengthMax, 'more character')}]`;
}
