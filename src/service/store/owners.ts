import type { Connections, WriteTransaction } from './connect.ts';
import type { OwnerStore } from './store.ts';

/** Owners and their keys. */
export function ownerStore({ reader, write }: Connections): OwnerStore {
  const idOf = async (name: string): Promise<string | undefined> => {
    const query = reader.selectFrom('owners').select('id').where('name', '=', name);
    return (await query.executeTakeFirst())?.id;
  };
  return {
    findId: idOf,
    async listIds() {
      const rows = await reader.selectFrom('owners').select('id').orderBy('id').execute();
      return rows.map(({ id }) => id);
    },
    ensure: async (name) => (await idOf(name)) ?? (await write((db) => ensureOwner(db, name))),
    addKey: (ownerId, keyDigest) =>
      write((db) => addKey(db, { ownerId, keyDigest, configured: 0 })),
    configureKeys: (keys) => configureKeys(write, keys),
    removeKey: (ownerId, keyDigest) =>
      write(async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('keys')
          .where('owner_id', '=', ownerId)
          .where('digest', '=', keyDigest)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),
    async findByKey(keyDigest) {
      const row = await reader
        .selectFrom('keys')
        .selectAll()
        .where('digest', '=', keyDigest)
        .executeTakeFirst();
      return row && { ownerId: row.owner_id, keyDigest: row.digest };
    },
  };
}

/** Finds the owner of that name or makes it; its id. */
export async function ensureOwner(db: WriteTransaction, name: string): Promise<string> {
  // Owners are never deleted, so their count is free as a number.
  const { count } = await db
    .selectFrom('owners')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const row = await db
    .insertInto('owners')
    .values({ id: `o${count + 1}`, name })
    // There may be one by now; an update of nothing gives its row back.
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ name }))
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Adds a key; false when it is another owner's. What was added outlives the configuration. */
export async function addKey(
  db: WriteTransaction,
  key: { ownerId: string; keyDigest: string; configured: 0 | 1 },
): Promise<boolean> {
  const { ownerId, keyDigest, configured } = key;
  await db
    .insertInto('keys')
    .values({ digest: keyDigest, owner_id: ownerId, configured })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const kept = await db
    .selectFrom('keys')
    .selectAll()
    .where('digest', '=', keyDigest)
    .executeTakeFirstOrThrow();
  if (kept.owner_id !== ownerId) return false;
  if (kept.configured > configured) {
    await db.updateTable('keys').set({ configured }).where('digest', '=', keyDigest).execute();
  }
  return true;
}

/** Rolls a transaction back; the key is another owner's. */
export class KeyTakenError extends Error {
  override name = 'KeyTaken';
}

async function configureKeys(
  write: Connections['write'],
  keys: readonly { ownerId: string; keyDigest: string }[],
): Promise<boolean> {
  const change = write(async (db) => {
    await db.deleteFrom('keys').where('configured', '=', 1).execute();
    for (const key of keys) {
      if (!(await addKey(db, { ...key, configured: 1 }))) throw new KeyTakenError();
    }
    return true;
  });
  return change.catch((error: unknown) => {
    if (error instanceof KeyTakenError) return false;
    throw error;
  });
}
