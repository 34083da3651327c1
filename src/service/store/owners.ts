import type { Connections } from './connect.ts';
import type { OwnerStore } from './store.ts';

/** Owners and their keys. */
export function ownerStore({ reader, write }: Connections): OwnerStore {
  const idOf = async (name: string): Promise<string | undefined> => {
    const query = reader.selectFrom('owners').select('id').where('name', '=', name);
    return (await query.executeTakeFirst())?.id;
  };
  return {
    idOf,
    async ids() {
      const rows = await reader.selectFrom('owners').select('id').orderBy('id').execute();
      return rows.map(({ id }) => id);
    },
    ensure: async (name) =>
      (await idOf(name)) ??
      (await write(async (db) => {
        // Owners are never deleted, so their count is free as a number.
        const { count } = await db
          .selectFrom('owners')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow();
        const row = await db
          .insertInto('owners')
          .values({ id: `o${count + 1}`, name })
          // Another process may have been faster; an update of nothing gives its row back.
          .onConflict((conflict) => conflict.column('name').doUpdateSet({ name }))
          .returning('id')
          .executeTakeFirstOrThrow();
        return row.id;
      })),
    addKey: (ownerId, keyDigest) =>
      write(async (db) => {
        const row = { digest: keyDigest, owner_id: ownerId };
        await db
          .insertInto('keys')
          .values(row)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        const kept = await db
          .selectFrom('keys')
          .select('owner_id')
          .where('digest', '=', keyDigest)
          .executeTakeFirstOrThrow();
        return kept.owner_id === ownerId;
      }),
    removeKey: (ownerId, keyDigest) =>
      write(async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('keys')
          .where('owner_id', '=', ownerId)
          .where('digest', '=', keyDigest)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),
    async byKey(keyDigest) {
      const row = await reader
        .selectFrom('keys')
        .selectAll()
        .where('digest', '=', keyDigest)
        .executeTakeFirst();
      return row && { ownerId: row.owner_id, keyDigest: row.digest };
    },
  };
}
