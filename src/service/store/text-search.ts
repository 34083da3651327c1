import { sql } from 'kysely';
import { foldCase } from '../../platform/fold-case.ts';

/** Returns a text after all that begin with a prefix, so that an index finds these as a range. */
export const endOfPrefix = (prefix: string): string => `${prefix}\u{10ffff}`;

/**
 * Matches texts that contain a text, in any case. `column` holds what `foldCase` returns, because SQLite's
 * `lower` and `like` know only ASCII case, and `like` treats `%` and `_` as wildcards.
 */
export function contains(column: string, text: string) {
  return sql<boolean>`instr(${sql.ref(column)}, ${foldCase(text)}) > 0`;
}
