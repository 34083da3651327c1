import { CompiledQuery } from 'kysely';
import type { Connections } from './connect.ts';
import { forgetNotes, insertNote, noteRows, notesMax } from './note-rows.ts';
import type { IngestLogStore, IngestNote } from './store.ts';

/** What ingest noticed. */
export function ingestLogStore({ reader, write }: Connections): IngestLogStore {
  return {
    add: (ownerId, atMs, notes) =>
      write(async (db) => {
        for (const row of noteRows(ownerId, atMs, notes)) {
          await db.executeQuery(CompiledQuery.raw(insertNote, row));
        }
        await db.executeQuery(CompiledQuery.raw(forgetNotes, [ownerId, ownerId, notesMax]));
      }),
    async list(ownerId, limit) {
      const rows = await reader
        .selectFrom('ingest_log')
        .selectAll()
        .where('owner_id', '=', ownerId)
        .orderBy('number', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ at_ms: atMs, level, code, message, about }) => ({
        atMs,
        level,
        code,
        message,
        about: JSON.parse(about) as IngestNote['about'],
      }));
    },
  };
}
