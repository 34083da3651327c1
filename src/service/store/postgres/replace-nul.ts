/** Replaces NUL characters of a text. PostgreSQL can't store them, and no language uses them. */
export const replaceNul = <Value>(value: Value): Value | string =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
