import { hash } from 'node:crypto';
import { foldCase } from '../../platform/fold-case.ts';
import type { WriteTransaction } from './connections.ts';
import { insertRows } from './insert-rows.ts';
import type { SessionAgent } from './records.ts';

/**
 * Caches row keys for one transaction, because many of its sessions share names. Rows are not
 * deleted during the transaction.
 */
const keysByTransaction = new WeakMap<WriteTransaction, Map<string, number>>();

/**
 * Finds a row first, because inserting one that exists locks it in PostgreSQL: transactions that share a
 * name, such as that of the run of the day, would run one after the other.
 */
async function cacheKey(
  db: WriteTransaction,
  identity: readonly unknown[],
  find: () => Promise<{ key: number } | undefined>,
  insert: () => Promise<{ key: number }>,
): Promise<number> {
  const keys = keysByTransaction.get(db) ?? new Map<string, number>();
  keysByTransaction.set(db, keys);
  const id = JSON.stringify(identity);
  const key = keys.get(id) ?? ((await find()) ?? (await insert())).key;
  keys.set(id, key);
  return key;
}

/** Returns the key of the run with this name, inserting it if necessary. */
export async function findOrInsertRun(
  db: WriteTransaction,
  ownerId: string,
  name: string,
): Promise<number> {
  return cacheKey(
    db,
    ['run', ownerId, name],
    () =>
      db
        .selectFrom('runs')
        .select('key')
        .where('owner_id', '=', ownerId)
        .where('name', '=', name)
        .executeTakeFirst(),
    () =>
      db
        .insertInto('runs')
        .values({ owner_id: ownerId, name, name_folded: foldCase(name) })
        // `returning` returns an existing row only if the conflict updates it.
        .onConflict((conflict) => conflict.columns(['owner_id', 'name']).doUpdateSet({ name }))
        .returning('key')
        .executeTakeFirstOrThrow(),
  );
}

/** Returns the key of an eval of outcomes with its name and version, inserting it if necessary. */
export async function findOrInsertEvalName(
  db: WriteTransaction,
  ownerId: string,
  { id, name, version }: { id: string; name: string; version: string },
): Promise<number> {
  return cacheKey(
    db,
    ['eval', ownerId, id, name, version],
    () =>
      db
        .selectFrom('eval_names')
        .select('key')
        .where('owner_id', '=', ownerId)
        .where('eval_id', '=', id)
        .where('name', '=', name)
        .where('version', '=', version)
        .executeTakeFirst(),
    () =>
      db
        .insertInto('eval_names')
        .values({
          owner_id: ownerId,
          eval_id: id,
          name,
          version,
          name_folded: foldCase(name),
        })
        .onConflict((conflict) =>
          conflict.columns(['owner_id', 'eval_id', 'name', 'version']).doUpdateSet({ name }),
        )
        .returning('key')
        .executeTakeFirstOrThrow(),
  );
}

/** Returns the key of the set of these evals, inserting it if necessary; 0 without evals. */
export async function findOrInsertEvalSet(
  db: WriteTransaction,
  ownerId: string,
  evalNameKeys: readonly number[],
): Promise<number> {
  const members = [...new Set(evalNameKeys)].sort((a, b) => a - b);
  if (members.length === 0) return 0;
  const digest = hash('sha256', members.join());
  return cacheKey(
    db,
    ['eval set', ownerId, digest],
    () =>
      db
        .selectFrom('eval_sets')
        .select('key')
        .where('owner_id', '=', ownerId)
        .where('digest', '=', digest)
        .executeTakeFirst(),
    async () => {
      const set = await db
        .insertInto('eval_sets')
        .values({ owner_id: ownerId, digest })
        .onConflict((conflict) => conflict.columns(['owner_id', 'digest']).doUpdateSet({ digest }))
        .returning('key')
        .executeTakeFirstOrThrow();
      const rows = members.map((key) => ({ eval_set_key: set.key, eval_name_key: key }));
      await insertRows({ db }, 'eval_set_members', rows, { skipExisting: true });
      return set;
    },
  );
}

/**
 * Returns the key of an agent at a URL, inserting it if necessary. Without an id, it is the stored agent
 * with this name, if there is one.
 */
export async function findOrInsertAgent(
  db: WriteTransaction,
  ownerId: string,
  agent: SessionAgent,
): Promise<number> {
  const { id, name, url } = agent;
  return cacheKey(
    db,
    ['agent', ownerId, id, name, url],
    () =>
      db
        .selectFrom('agents')
        .select('key')
        .where('owner_id', '=', ownerId)
        .where('url', '=', url)
        .$if(id !== undefined, (query) => query.where('agent_id', '=', id ?? ''))
        .$if(id === undefined, (query) => query.where('name', '=', name))
        .orderBy('agent_id', 'desc')
        .executeTakeFirst(),
    async () => {
      const stored = await findStoredAgent(db, ownerId, agent);
      const row = { ...nameColumns(stored?.name ?? name), agent_id: stored?.id ?? id ?? '' };
      return db
        .insertInto('agents')
        .values({ owner_id: ownerId, ...row, url, url_folded: foldCase(url) })
        .onConflict((conflict) =>
          conflict.columns(['owner_id', 'name', 'url', 'agent_id']).doUpdateSet(row),
        )
        .returning('key')
        .executeTakeFirstOrThrow();
    },
  );
}

const nameColumns = (name: string) => ({ name, name_folded: foldCase(name) });

/** Finds the stored agent with an id, or else one with this name and URL. */
async function findStoredAgent(
  db: WriteTransaction,
  ownerId: string,
  { id, name, url }: SessionAgent,
): Promise<{ id: string; name: string } | undefined> {
  const rows = await db
    .selectFrom('documents')
    .select('document')
    .where('owner_id', '=', ownerId)
    .where('kind', '=', 'agent')
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .orderBy('key')
    .execute();
  const agents = rows.map(({ document }) => JSON.parse(document) as Required<SessionAgent>);
  if (id !== undefined) return agents[0];
  // Seed data may name an agent without its URL.
  return agents.find((agent) => agent.name === name && [agent.url, ''].includes(url));
}

/**
 * Gives the sessions of a stored agent its name. A new agent gets the sessions that were run with its name
 * and URL before.
 */
export async function nameAgent(
  db: WriteTransaction,
  ownerId: string,
  { id, name, url, isNew }: Required<SessionAgent> & { isNew: boolean },
): Promise<void> {
  const ofOwner = db.updateTable('agents').where('owner_id', '=', ownerId);
  await ofOwner.set(nameColumns(name)).where('agent_id', '=', id).execute();
  if (!isNew) return;
  await ofOwner
    .set({ agent_id: id })
    .where('agent_id', '=', '')
    .where('name', '=', name)
    .where('url', 'in', [url, ''])
    .execute();
}

/** Returns the key of a simulation; an existing one gets the new name and stays deleted if it was. */
export async function findOrInsertSimulation(
  db: WriteTransaction,
  ownerId: string,
  { id, name, deleted }: { id: string; name: string; deleted: boolean },
): Promise<number> {
  const names = { name, name_folded: foldCase(name) };
  return cacheKey(
    db,
    ['simulation', ownerId, id, name, deleted],
    () =>
      db
        .selectFrom('simulations')
        .select('key')
        .where('owner_id', '=', ownerId)
        .where('id', '=', id)
        .where('name', '=', name)
        .$if(deleted, (query) => query.where('deleted', '=', 1))
        .executeTakeFirst(),
    () =>
      db
        .insertInto('simulations')
        .values({ owner_id: ownerId, id, ...names, deleted: deleted ? 1 : 0 })
        .onConflict((conflict) =>
          conflict
            .columns(['owner_id', 'id'])
            .doUpdateSet({ ...names, ...(deleted && { deleted: 1 }) }),
        )
        .returning('key')
        .executeTakeFirstOrThrow(),
  );
}
