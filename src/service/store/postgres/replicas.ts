import type { Pool, PoolClient } from 'pg';
import { systemClock } from '../../../platform/clock.ts';
import { addConfiguredKeys, listDigests, removeUnusedKeys } from './configured-keys.ts';
import { openListener, type Listener } from './listener.ts';
import { createSharedRateLimiter, type SharedRateLimiter } from './rate-limit.ts';
import { createSimulationLeases } from './simulation-leases.ts';
import { inTransaction } from './transaction.ts';
import type {
  JoinedReplicas,
  RateLimiterOptions,
  ReplicaMember,
  ReplicaSettings,
  ReplicaTopic,
  SharedValue,
} from '../replicas.ts';

const CHANNEL = 'sandbox_kit';
const TOPICS: readonly ReplicaTopic[] = ['jobs', 'simulations', 'state'];

/** Pause between two notifications about one topic. */
const PUBLISH_MS = 100;

/** Replicas report every second. Changes don't wait for one that was not seen for this long. */
const IS_RESPONSIVE = "seen_at > clock_timestamp() - interval '3 s'";
/** A replica that was not seen for this long has stopped. */
export const HAS_STOPPED = "seen_at <= clock_timestamp() - interval '15 s'";

/** Creates the access to what the replicas on a database share. */
export function createReplicaStore(pool: Pool, databaseUrl: string) {
  const publishers = new Map(
    TOPICS.map((topic) => [
      topic,
      throttle(() => pool.query('select pg_notify($1, $2)', [CHANNEL, topic])),
    ]),
  );
  let listener: Listener | undefined;
  return {
    /** Publishes a topic to all replicas, at most ten times a second. A topic can get lost: poll, too. */
    publish: (topic: ReplicaTopic): void => publishers.get(topic)?.(),
    /** Calls back for every published topic, and for all topics when the connection was interrupted. */
    listen(onTopic: (topic: ReplicaTopic) => void): void {
      listener = openListener(databaseUrl, {
        channel: CHANNEL,
        onNotification: (payload) => onTopic(payload as ReplicaTopic),
        onConnected: () => TOPICS.forEach(onTopic),
      });
    },
    /**
     * Adds a replica and its keys, and returns the shared state. The first of all running replicas sets it
     * to `initial`. The keys of each running replica work on all of them; a configured key that none of
     * them has stops working. Also returns what differs between replicas.
     * @throws KeyTakenError if one of the keys belongs to another owner; nothing changes then.
     */
    join: (member: ReplicaMember, initial: string): Promise<JoinedReplicas> =>
      inTransaction(pool, (client) => join(client, member, initial)),
    /**
     * Reports that a replica runs, and which generation of the state it has applied. Removes replicas that
     * have stopped without leaving, and their keys. Returns the state if it has changed since.
     */
    report: (member: ReplicaMember, generation: number): Promise<SharedValue | undefined> =>
      report(pool, member, generation),
    /** Removes a replica, and the keys that only it has. */
    leave: (id: string): Promise<void> =>
      inTransaction(pool, async (client) => {
        await lockState(client);
        await client.query('delete from replicas where id = $1', [id]);
        await removeUnusedKeys(client);
      }),
    /**
     * Changes the shared state; replicas do so one after the other. Without `isNew`, the generation stays,
     * so that other replicas don't apply the change.
     */
    change: (
      change: (value: string) => string,
      { isNew }: { isNew: boolean },
    ): Promise<SharedValue> =>
      inTransaction(pool, async (client) => {
        const { generation, value } = await lockState(client);
        const changed = { generation: generation + (isNew ? 1 : 0), value: change(value) };
        await putState(client, changed);
        if (isNew) await client.query('select pg_notify($1, $2)', [CHANNEL, 'state']);
        return changed;
      }),
    /** Returns whether all running replicas have applied a generation. */
    async isApplied(generation: number): Promise<boolean> {
      const { rows } = await pool.query(
        `select 1 from replicas where generation < $1 and ${IS_RESPONSIVE} limit 1`,
        [generation],
      );
      return rows.length === 0;
    },
    simulationLeases: createSimulationLeases(pool),
    /** Creates a rate limiter whose window all replicas share. */
    createRateLimiter: (options: RateLimiterOptions): SharedRateLimiter =>
      createSharedRateLimiter({ ...options, pool }),
    /** Keeps the last seed data of an owner, for a reset by any replica. */
    async putSeed(ownerId: string, document: string): Promise<void> {
      await pool.query(
        `insert into seed_documents (owner_id, document) values ($1, $2)
         on conflict (owner_id) do update set document = $2`,
        [ownerId, document],
      );
    },
    async findSeed(ownerId: string): Promise<string | undefined> {
      const { rows } = await pool.query<{ document: string }>(
        'select document from seed_documents where owner_id = $1',
        [ownerId],
      );
      return rows[0]?.document;
    },
    async close(): Promise<void> {
      await listener?.close();
    },
  };
}

export type ReplicaStore = ReturnType<typeof createReplicaStore>;

async function join(
  client: PoolClient,
  member: ReplicaMember,
  initial: string,
): Promise<JoinedReplicas> {
  await client.query(
    'insert into shared_state (generation, value) values (1, $1) on conflict do nothing',
    [initial],
  );
  // Replicas join and leave one after the other, because each locks the state.
  const known = await lockState(client);
  await removeStopped(client);
  // A replica that was killed just before still has a row. Its options are no reason for a warning.
  const { rows } = await client.query<{
    is_responsive: boolean;
    has_other_keys: boolean;
    settings: string;
  }>(
    `select ${IS_RESPONSIVE} as is_responsive, key_digests <> $1 as has_other_keys, settings
     from replicas`,
    [listDigests(member.keys)],
  );
  const running = rows.filter((row) => row.is_responsive);
  const isFirst = rows.length === 0;
  const shared = isFirst ? { generation: known.generation + 1, value: initial } : known;
  if (isFirst) await putState(client, shared);
  await addMember(client, member, 0);
  return {
    shared,
    haveOthersOtherKeys: running.some((row) => row.has_other_keys),
    othersSettings: running.map(({ settings }) => JSON.parse(settings) as ReplicaSettings),
  };
}

/** @throws KeyTakenError */
async function addMember(
  client: PoolClient,
  { id, keys, settings }: ReplicaMember,
  generation: number,
): Promise<void> {
  await client.query(
    `insert into replicas (id, generation, seen_at, key_digests, settings)
     values ($1, $2, clock_timestamp(), $3, $4) on conflict do nothing`,
    [id, generation, listDigests(keys), JSON.stringify(settings)],
  );
  await addConfiguredKeys(client, keys);
}

/** Removes replicas that have stopped without leaving, and the keys that only they had. */
async function removeStopped(client: PoolClient): Promise<void> {
  await client.query(`delete from replicas where ${HAS_STOPPED}`);
  await removeUnusedKeys(client);
}

async function report(
  pool: Pool,
  member: ReplicaMember,
  generation: number,
): Promise<SharedValue | undefined> {
  // A replica that could not report for a while does not judge the others: they, too, may report soon.
  const { rows } = await pool.query<
    SharedValue & { is_changed: boolean; is_member: boolean; have_others_stopped: boolean }
  >(
    `with reported as (
       update replicas set generation = $2, seen_at = clock_timestamp() where id = $1 returning id
     )
     select generation, generation <> $2 as is_changed,
       case when generation <> $2 then value else '' end as value,
       exists (select 1 from reported) as is_member,
       exists (select 1 from replicas where id = $1 and ${IS_RESPONSIVE})
         and exists (select 1 from replicas where id <> $1 and ${HAS_STOPPED}) as have_others_stopped
     from shared_state`,
    [member.id, generation],
  );
  const [row] = rows;
  if (!row) return undefined;
  if (!row.is_member || row.have_others_stopped) {
    await inTransaction(pool, async (client) => {
      await lockState(client);
      // The others have removed a replica that could not report for too long.
      if (row.is_member) await removeStopped(client);
      else await addMember(client, member, generation);
    });
  }
  return row.is_changed ? { generation: row.generation, value: row.value } : undefined;
}

async function lockState(client: PoolClient): Promise<SharedValue> {
  const { rows } = await client.query<SharedValue>(
    'select generation, value from shared_state for update',
  );
  const [row] = rows;
  if (!row) throw new Error('The shared state of the replicas is missing.');
  return row;
}

async function putState(client: PoolClient, { generation, value }: SharedValue): Promise<void> {
  await client.query('update shared_state set generation = $1, value = $2', [generation, value]);
}

/** Returns a function that runs an action now, or after a pause if it ran just before. */
function throttle(run: () => Promise<unknown>): () => void {
  let isWanted = false;
  let isRunning = false;
  const work = async (): Promise<void> => {
    while (isWanted) {
      isWanted = false;
      // Polling does the same a little later.
      await run().catch(() => undefined);
      await systemClock.sleep(PUBLISH_MS);
    }
    isRunning = false;
  };
  return () => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    void work();
  };
}
