import type { Writing } from './connect.ts';
import { fold } from './fold.ts';

// Each finds the row of a name or makes it, and gives its key.

/** A run of that name. */
export async function runKey(db: Writing, ownerId: string, name: string): Promise<number> {
  const { key } = await db
    .insertInto('runs')
    .values({ owner_id: ownerId, name, name_folded: fold(name) })
    // An update of nothing, so that the row comes back.
    .onConflict((conflict) => conflict.columns(['owner_id', 'name']).doUpdateSet({ name }))
    .returning('key')
    .executeTakeFirstOrThrow();
  return key;
}

/** An eval's name, as outcomes bear it. */
export async function evalNameKey(db: Writing, ownerId: string, name: string): Promise<number> {
  const { key } = await db
    .insertInto('eval_names')
    .values({ owner_id: ownerId, name, name_folded: fold(name) })
    .onConflict((conflict) => conflict.columns(['owner_id', 'name']).doUpdateSet({ name }))
    .returning('key')
    .executeTakeFirstOrThrow();
  return key;
}

/** An agent of that name and URL. */
export async function agentKey(
  db: Writing,
  ownerId: string,
  { name, url }: { name: string; url: string },
): Promise<number> {
  const row = { owner_id: ownerId, name, url, name_folded: fold(name), url_folded: fold(url) };
  const { key } = await db
    .insertInto('agents')
    .values(row)
    .onConflict((conflict) => conflict.columns(['owner_id', 'name', 'url']).doUpdateSet({ name }))
    .returning('key')
    .executeTakeFirstOrThrow();
  return key;
}

/** A simulation; one that is known takes the name, and stays deleted if it was. */
export async function simulationKey(
  db: Writing,
  ownerId: string,
  { id, name, deleted }: { id: string; name: string; deleted: boolean },
): Promise<number> {
  const { key } = await db
    .insertInto('simulations')
    .values({ owner_id: ownerId, id, name, deleted: deleted ? 1 : 0 })
    .onConflict((conflict) =>
      conflict.columns(['owner_id', 'id']).doUpdateSet({ name, ...(deleted && { deleted: 1 }) }),
    )
    .returning('key')
    .executeTakeFirstOrThrow();
  return key;
}
