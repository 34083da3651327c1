import type { WriteTransaction } from './connect.ts';
import { normalizeForSearch } from './fold.ts';

// Each finds the row of a name or makes it, and gives its key.

/** Many sessions of one transaction bear the same names; no row of them goes while it lasts. */
const found = new WeakMap<WriteTransaction, Map<string, number>>();

async function once(
  db: WriteTransaction,
  what: readonly unknown[],
  find: () => Promise<{ key: number }>,
): Promise<number> {
  const keys = found.get(db) ?? new Map<string, number>();
  found.set(db, keys);
  const name = JSON.stringify(what);
  const key = keys.get(name) ?? (await find()).key;
  keys.set(name, key);
  return key;
}

/** A run of that name. */
export async function findOrInsertRun(
  db: WriteTransaction,
  ownerId: string,
  name: string,
): Promise<number> {
  return once(db, ['run', ownerId, name], () =>
    db
      .insertInto('runs')
      .values({ owner_id: ownerId, name, name_folded: normalizeForSearch(name) })
      // An update of nothing, so that the row comes back.
      .onConflict((conflict) => conflict.columns(['owner_id', 'name']).doUpdateSet({ name }))
      .returning('key')
      .executeTakeFirstOrThrow(),
  );
}

/** An eval's name, as outcomes bear it. */
export async function findOrInsertEvalName(
  db: WriteTransaction,
  ownerId: string,
  name: string,
): Promise<number> {
  return once(db, ['eval', ownerId, name], () =>
    db
      .insertInto('eval_names')
      .values({ owner_id: ownerId, name, name_folded: normalizeForSearch(name) })
      .onConflict((conflict) => conflict.columns(['owner_id', 'name']).doUpdateSet({ name }))
      .returning('key')
      .executeTakeFirstOrThrow(),
  );
}

/** An agent of that name and URL. */
export async function findOrInsertAgent(
  db: WriteTransaction,
  ownerId: string,
  { name, url }: { name: string; url: string },
): Promise<number> {
  const row = {
    owner_id: ownerId,
    name,
    url,
    name_folded: normalizeForSearch(name),
    url_folded: normalizeForSearch(url),
  };
  return once(db, ['agent', ownerId, name, url], () =>
    db
      .insertInto('agents')
      .values(row)
      .onConflict((conflict) => conflict.columns(['owner_id', 'name', 'url']).doUpdateSet({ name }))
      .returning('key')
      .executeTakeFirstOrThrow(),
  );
}

/** A simulation; one that is known takes the name, and stays deleted if it was. */
export async function findOrInsertSimulation(
  db: WriteTransaction,
  ownerId: string,
  { id, name, deleted }: { id: string; name: string; deleted: boolean },
): Promise<number> {
  return once(db, ['simulation', ownerId, id, name, deleted], () =>
    db
      .insertInto('simulations')
      .values({ owner_id: ownerId, id, name, deleted: deleted ? 1 : 0 })
      .onConflict((conflict) =>
        conflict.columns(['owner_id', 'id']).doUpdateSet({ name, ...(deleted && { deleted: 1 }) }),
      )
      .returning('key')
      .executeTakeFirstOrThrow(),
  );
}
