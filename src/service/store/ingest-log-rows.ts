import type { IngestLogEntry } from './store.ts';

/** How many notes of an owner are kept. */
export const entriesPerOwnerMax = 10_000;

/** How many notes one request leaves; it is told how many more there were. */
const entriesPerRequestMax = 200;

/** How long a note's message may be. */
const messageCharactersMax = 2_000;

/** Adds a note, of the values of `noteRows`. Also prepared by the span sink. */
export const insertEntrySql = `
  insert into ingest_log (owner_id, at_ms, level, code, message, about, number)
  select ?, ?, ?, ?, ?, ?, coalesce(max(number), 0) + 1 from ingest_log where owner_id = ?`;

/** Forgets what is beyond the bound: owner, owner again, bound. Also prepared by the span sink. */
export const deleteOldEntriesSql = `
  delete from ingest_log where owner_id = ? and number <=
    (select max(number) from ingest_log where owner_id = ?) - ?`;

/** The values of `insertNote` for each note, no more than the bound. */
export function toEntryRows(
  ownerId: string,
  atMs: number,
  notes: readonly IngestLogEntry[],
): EntryRow[] {
  const leftOut = notes.length - entriesPerRequestMax;
  const more: IngestLogEntry = {
    level: 'info',
    code: 'notes_left_out',
    message: `${leftOut} more notes of this request were left out`,
    about: { notes: leftOut },
  };
  const kept = leftOut > 0 ? [...notes.slice(0, entriesPerRequestMax), more] : notes;
  return kept.map(({ level, code, message, about }) => [
    ownerId,
    atMs,
    level,
    code,
    message.slice(0, messageCharactersMax),
    JSON.stringify(about),
    ownerId,
  ]);
}

/** The values of one note, in the order of `insertNote`. */
export type EntryRow = [string, number, string, string, string, string, string];
