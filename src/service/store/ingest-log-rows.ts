/** The rows of the ingest log, which the span writers and `ingest-log.ts` write. */
import type { IngestLogEntry } from './records.ts';
import type { Tables } from './schema/tables.ts';

/** Entries written for one request; a last entry then counts the remaining ones. */
const ENTRIES_PER_REQUEST_MAX = 200;

/** Longer messages are cut. */
const MESSAGE_CHARACTERS_MAX = 2_000;

/** Converts entries to rows, and replaces those beyond the limit with one entry that counts them. */
export function toEntryRows(atMs: number, entries: readonly IngestLogEntry[]): EntryRow[] {
  const leftOut = entries.length - ENTRIES_PER_REQUEST_MAX;
  const more: IngestLogEntry = {
    level: 'info',
    code: 'notes_left_out',
    message: `${leftOut} more entries about this request were left out.`,
    about: { notes: leftOut },
  };
  const logged = leftOut > 0 ? [...entries.slice(0, ENTRIES_PER_REQUEST_MAX), more] : entries;
  return logged.map(({ level, code, message, about }) => ({
    at_ms: atMs,
    level,
    code,
    message: message.slice(0, MESSAGE_CHARACTERS_MAX),
    about: JSON.stringify(about),
  }));
}

/** A row of the ingest log, without its owner and number. */
export type EntryRow = Omit<Tables['ingest_log'], 'owner_id' | 'number'>;
