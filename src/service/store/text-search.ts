import { sql } from 'kysely';

/**
 * Normalizes a text for search, so that texts match regardless of case, Unicode normalization form,
 * `ß`/`ẞ`/`ss`, and the form of the Greek sigma. SQLite's `lower` and `like` know only ASCII case,
 * and `like` treats `%` and `_` as wildcards.
 */
export function normalizeForSearch(text: string): string {
  // Upper-casing turns `ß` into `SS` but leaves `ẞ` alone, so lower-case first.
  const upper = text.normalize('NFC').toLowerCase().toUpperCase();
  return upper.toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

/** Returns a text after all that begin with a prefix, so that an index finds these as a range. */
export const endOfPrefix = (prefix: string): string => `${prefix}\u{10ffff}`;

/** Matches names that contain a text. `column` is a `_folded` column. */
export function contains(column: string, text: string) {
  return sql<boolean>`instr(${sql.ref(column)}, ${normalizeForSearch(text)}) > 0`;
}
