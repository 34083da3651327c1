import { toDay } from '../../platform/clock.ts';
import type { Connections, WriteTransaction } from './connections.ts';
import type { Dialect } from './schema/table.ts';

/** Conversations, and spans or ids of spans, that one transaction removes. */
const CONVERSATIONS_MAX = 50;
const SPANS_MAX = 1_000;

/** Creates the store of what is removed because of its age. */
export function createRetentionStore({ dialect, write }: Connections) {
  return {
    /**
     * Removes the spans of conversations whose first span was received on a day before that of
     * `receivedBeforeMs`. Also removes the search text of their sessions, and the reviews of their
     * outcomes, because notes can quote the conversation. Conversations, sessions, and outcomes stay. A
     * conversation stores when its spans were removed, and receives no others. Removes a part in one
     * transaction. Returns whether there can be more.
     */
    removeSpans: (
      ownerId: string,
      { receivedBeforeMs, atMs }: { receivedBeforeMs: number; atMs: number },
    ): Promise<boolean> =>
      write(ownerId, (db) =>
        removeSpans(db, { dialect, ownerId, beforeDay: toDay(receivedBeforeMs), atMs }),
      ),
  };
}

interface Removal {
  dialect: Dialect;
  ownerId: string;
  beforeDay: number;
  atMs: number;
}

async function removeSpans(
  db: WriteTransaction,
  { dialect, ownerId, beforeDay, atMs }: Removal,
): Promise<boolean> {
  const old = db
    .selectFrom('conversations')
    .where('owner_id', '=', ownerId)
    .where('spans_removed_at_ms', 'is', null);
  const oldest = await old
    .select('received_day')
    .where('received_day', '<', beforeDay)
    .orderBy('received_day')
    .limit(1)
    .executeTakeFirst();
  if (!oldest) return false;
  const day = oldest.received_day;
  const found = await old
    .select('key')
    .where('received_day', '=', day)
    .limit(CONVERSATIONS_MAX)
    .execute();
  // Locked in the order of the span writer, so that neither waits for the other.
  const locked = await old
    .select(['key', 'session_key'])
    .where(
      'key',
      'in',
      found.map(({ key }) => key),
    )
    .orderBy('conversation_id')
    .$if(dialect === 'postgres', (query) => query.forUpdate())
    .execute();
  // Another process has removed them.
  if (locked.length === 0) return true;
  const keys = locked.map(({ key }) => key);
  const deleted =
    dialect === 'postgres' ? await deleteSpanIds(db, keys, day) : await deleteSpans(db, keys);
  // The rest follows in the next transaction.
  if (deleted === SPANS_MAX) return true;
  await db
    .updateTable('conversations')
    .set({ spans_removed_at_ms: atMs, span_count: 0, text_bytes: 0 })
    .where('key', 'in', keys)
    .execute();
  const sessionKeys = locked.flatMap(({ session_key: key }) => key ?? []);
  if (sessionKeys.length > 0) {
    for (const table of ['session_texts', 'reviews'] as const) {
      await db.deleteFrom(table).where('session_key', 'in', sessionKeys).execute();
    }
  }
  return true;
}

async function deleteSpans(db: WriteTransaction, keys: readonly number[]): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('spans')
    .where('key', 'in', (query) =>
      query
        .selectFrom('spans')
        .select('key')
        .where('conversation_key', 'in', keys)
        .limit(SPANS_MAX),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Deletes the ids of spans whose partition is dropped later. */
async function deleteSpanIds(
  db: WriteTransaction,
  keys: readonly number[],
  day: number,
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('span_ids')
    .where('span_id', 'in', (query) =>
      query
        .selectFrom('spans')
        .innerJoin('span_ids as stored', 'stored.span_id', 'spans.span_id')
        .select('spans.span_id')
        .where('spans.conversation_key', 'in', keys)
        .where('spans.received_day', '=', day)
        .limit(SPANS_MAX),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
