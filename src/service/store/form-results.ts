import type { Connections, WriteTransaction } from './connections.ts';

/** The page that a form led to, as the store keeps it: it can't be read without the id in its address. */
export interface StoredFormResult {
  id: string;
  content: Buffer;
  expiresAtMs: number;
}

/** How much is kept for an owner. */
export interface FormResultLimits {
  countMax: number;
  bytesMax: number;
}

/** Creates the store of the pages that forms led to. */
export function createFormResultStore({ reader, write, writeAlone }: Connections) {
  return {
    /** Adds a result, and deletes the oldest ones beyond the limits. The newest is always kept. */
    add: (ownerId: string, result: StoredFormResult, limits: FormResultLimits): Promise<void> =>
      writeAlone(ownerId, async (db) => {
        const { id, content, expiresAtMs } = result;
        const row = { owner_id: ownerId, id, bytes: content.length, content };
        await db
          .insertInto('form_results')
          .values({ ...row, expires_at_ms: expiresAtMs })
          .execute();
        await deleteOldest(db, ownerId, limits);
      }),
    /** Returns the content of a result that has not expired. */
    async find(ownerId: string, id: string, nowMs: number): Promise<Buffer | undefined> {
      const row = await reader(ownerId)
        .selectFrom('form_results')
        .select('content')
        .where('owner_id', '=', ownerId)
        .where('id', '=', id)
        .where('expires_at_ms', '>', nowMs)
        .executeTakeFirst();
      return row?.content;
    },
    /** Deletes the results that have expired. */
    removeExpired: (ownerId: string, nowMs: number): Promise<void> =>
      write(ownerId, async (db) => {
        await db
          .deleteFrom('form_results')
          .where('owner_id', '=', ownerId)
          .where('expires_at_ms', '<=', nowMs)
          .execute();
      }),
  };
}

async function deleteOldest(
  db: WriteTransaction,
  ownerId: string,
  { countMax, bytesMax }: FormResultLimits,
): Promise<void> {
  const rows = await db
    .selectFrom('form_results')
    .select(['key', 'bytes'])
    .where('owner_id', '=', ownerId)
    .orderBy('key', 'desc')
    .execute();
  let all = 0;
  const tooOld = rows.filter(({ bytes }, nth) => {
    all += bytes;
    return nth > 0 && (nth >= countMax || all > bytesMax);
  });
  if (tooOld.length === 0) return;
  await db
    .deleteFrom('form_results')
    .where('owner_id', '=', ownerId)
    .where(
      'key',
      'in',
      tooOld.map(({ key }) => key),
    )
    .execute();
}
