/**
 * The SQL and the row format of the ingest log. Both connections write it: the span writer in the
 * ingest thread, and `ingest-log.ts` on the main thread. This module does not import kysely, which
 * the ingest thread does not need.
 */
import type { IngestLogEntry } from './store.ts';

/** Entries stored for each owner. */
export const ENTRIES_PER_OWNER_MAX = 10_000;

/** Entries written for one request; a last entry then counts the remaining ones. */
const ENTRIES_PER_REQUEST_MAX = 200;

/** Longer messages are cut. */
const MESSAGE_CHARACTERS_MAX = 2_000;

/** Inserts one entry; takes an `EntryRow`. */
export const INSERT_ENTRY_SQL = `
  insert into ingest_log (owner_id, at_ms, level, code, message, about, number)
  select ?, ?, ?, ?, ?, ?, coalesce(max(number), 0) + 1 from ingest_log where owner_id = ?`;

/** Deletes the oldest entries of an owner; takes the owner id twice, then the number to keep. */
export const DELETE_OLD_ENTRIES_SQL = `
  delete from ingest_log where owner_id = ? and number <=
    (select max(number) from ingest_log where owner_id = ?) - ?`;

/** Converts entries to rows, and replaces those beyond the limit with one entry that counts them. */
export function toEntryRows(
  ownerId: string,
  atMs: number,
  entries: readonly IngestLogEntry[],
): EntryRow[] {
  const leftOut = entries.length - ENTRIES_PER_REQUEST_MAX;
  const more: IngestLogEntry = {
    level: 'info',
    code: 'notes_left_out',
    message: `${leftOut} more entries about this request were left out.`,
    about: { notes: leftOut },
  };
  const logged = leftOut > 0 ? [...entries.slice(0, ENTRIES_PER_REQUEST_MAX), more] : entries;
  return logged.map(({ level, code, message, about }) => [
    ownerId,
    atMs,
    level,
    code,
    message.slice(0, MESSAGE_CHARACTERS_MAX),
    JSON.stringify(about),
    ownerId,
  ]);
}

/** The parameters of `INSERT_ENTRY_SQL`, in order. */
export type EntryRow = [string, number, string, string, string, string, string];
