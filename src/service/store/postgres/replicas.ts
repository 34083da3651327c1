import type { Pool, PoolClient } from 'pg';
import { systemClock } from '../../../platform/clock.ts';
import type { ReplicaStore, ReplicaTopic, SharedValue } from '../replicas.ts';
import { openListener, type Listener } from './listener.ts';
import { createSharedRateLimiter } from './rate-limit.ts';
import { createSimulationLeases } from './simulation-leases.ts';
import { inTransaction } from './transaction.ts';

const CHANNEL = 'sandbox_kit';
const TOPICS: readonly ReplicaTopic[] = ['jobs', 'simulations', 'state'];

/** Pause between two notifications about one topic. */
const PUBLISH_MS = 100;

/** Replicas report every second. Changes don't wait for one that was not seen for this long. */
const IS_RESPONSIVE = "seen_at > clock_timestamp() - interval '3 s'";
/** A replica that was not seen for this long has stopped. */
const IS_RUNNING = "seen_at > clock_timestamp() - interval '15 s'";

/** Creates the access to what the replicas on a database share. */
export function createReplicaStore(pool: Pool, databaseUrl: string): ReplicaStore {
  const publishers = new Map(
    TOPICS.map((topic) => [
      topic,
      throttle(() => pool.query('select pg_notify($1, $2)', [CHANNEL, topic])),
    ]),
  );
  let listener: Listener | undefined;
  return {
    publish: (topic) => publishers.get(topic)?.(),
    listen(onTopic) {
      listener = openListener(databaseUrl, {
        channel: CHANNEL,
        onNotification: (payload) => onTopic(payload as ReplicaTopic),
        onConnected: () => TOPICS.forEach(onTopic),
      });
    },
    join: (id, initial) => inTransaction(pool, (client) => join(client, id, initial)),
    async report(id, generation) {
      const { rows } = await pool.query<SharedValue>(
        `with reported as (
           insert into replicas (id, generation, seen_at) values ($1, $2, clock_timestamp())
           on conflict (id) do update set generation = $2, seen_at = clock_timestamp()
         )
         select generation, value from shared_state where generation <> $2`,
        [id, generation],
      );
      return rows[0];
    },
    async leave(id) {
      await pool.query('delete from replicas where id = $1', [id]);
    },
    change: (change, { isNew }) =>
      inTransaction(pool, async (client) => {
        const { generation, value } = await lockState(client);
        const changed = { generation: generation + (isNew ? 1 : 0), value: change(value) };
        await putState(client, changed);
        if (isNew) await client.query('select pg_notify($1, $2)', [CHANNEL, 'state']);
        return changed;
      }),
    async isApplied(generation) {
      const { rows } = await pool.query(
        `select 1 from replicas where generation < $1 and ${IS_RESPONSIVE} limit 1`,
        [generation],
      );
      return rows.length === 0;
    },
    simulationLeases: createSimulationLeases(pool),
    createRateLimiter: (options) => createSharedRateLimiter({ ...options, pool }),
    async putSeed(ownerId, document) {
      await pool.query(
        `insert into seed_documents (owner_id, document) values ($1, $2)
         on conflict (owner_id) do update set document = $2`,
        [ownerId, document],
      );
    },
    async findSeed(ownerId) {
      const { rows } = await pool.query<{ document: string }>(
        'select document from seed_documents where owner_id = $1',
        [ownerId],
      );
      return rows[0]?.document;
    },
    async close() {
      await listener?.close();
    },
  };
}

async function join(client: PoolClient, id: string, initial: string): Promise<SharedValue> {
  await client.query(
    'insert into shared_state (generation, value) values (1, $1) on conflict do nothing',
    [initial],
  );
  // Replicas join one after the other, because each locks the state.
  const known = await lockState(client);
  await client.query(`delete from replicas where not ${IS_RUNNING}`);
  const { rows } = await client.query('select 1 from replicas limit 1');
  const isFirst = rows.length === 0;
  const state = isFirst ? { generation: known.generation + 1, value: initial } : known;
  if (isFirst) await putState(client, state);
  await client.query(
    'insert into replicas (id, generation, seen_at) values ($1, 0, clock_timestamp())',
    [id],
  );
  return state;
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
