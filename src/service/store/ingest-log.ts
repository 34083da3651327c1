import { CompiledQuery, sql } from 'kysely';
import type { Connections, WriteTransaction } from './connections.ts';
import { toEntryRows } from './ingest-log-rows.ts';
import { deleteOldest } from './row-limits.ts';
import type { IngestLogEntry } from './records.ts';

/** Codes of entries about dropped spans that probably belong to a conversation. */
const dropCodes = [
  'conversation_full',
  'span_id_taken',
  'repeated_span_id',
  'malformed_ids',
  'unresolved_conversation',
  'no_conversation_id',
  'unreadable_spans',
] as const;

/**
 * Codes of entries about spans that need not belong to a conversation. Most services send some, so
 * they matter only if no other spans were dropped.
 */
const ignoreCodes = ['ignored_spans', 'malformed_operation', 'older_conventions'] as const;

/** Creates the store of the ingest log. */
export function createIngestLogStore({ dialect, reader, write }: Connections) {
  return {
    /** Adds entries and deletes the oldest ones beyond the limit. */
    add: (ownerId: string, atMs: number, entries: readonly IngestLogEntry[]): Promise<void> =>
      write(ownerId, async (db) => {
        for (const row of toEntryRows(atMs, entries)) {
          // PostgreSQL numbers the entries itself, because replicas add them at the same time.
          const number = { number: sql<number>`(${nextNumber(db, ownerId)})` };
          await db
            .insertInto('ingest_log')
            .values({ owner_id: ownerId, ...row, ...(dialect === 'sqlite' && number) })
            .execute();
        }
        const statement = deleteOldest('ingest_log', dialect);
        await db.executeQuery(CompiledQuery.raw(statement, [ownerId, ownerId]));
      }),
    /** Returns the code of the newest entry about dropped spans, or else about ignored ones. */
    async findNewestDropCode(ownerId: string): Promise<string | undefined> {
      const row = await reader(ownerId)
        .selectFrom('ingest_log')
        .select('code')
        .where('owner_id', '=', ownerId)
        .where('code', 'in', [...dropCodes, ...ignoreCodes])
        .orderBy((order) => order('code', 'in', ignoreCodes))
        .orderBy('number', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.code;
    },
    /** Lists entries, newest first. */
    async list(ownerId: string, limit: number): Promise<(IngestLogEntry & { atMs: number })[]> {
      const rows = await reader(ownerId)
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
        about: JSON.parse(about) as IngestLogEntry['about'],
      }));
    },
  };
}

const nextNumber = (db: WriteTransaction, ownerId: string) =>
  db
    .selectFrom('ingest_log')
    .select(({ fn }) => sql<number>`coalesce(${fn.max('number')}, 0) + 1`.as('next'))
    .where('owner_id', '=', ownerId);
