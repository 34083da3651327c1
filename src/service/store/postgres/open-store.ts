import { sql } from 'kysely';
import type { Reader } from '../connections.ts';
import { createStore, type Store } from '../store.ts';
import { limitDatabaseWaits } from '../wait-limit.ts';
import { connect } from './connect.ts';
import { ReadOnlyError } from './database-problem.ts';
import { migrate } from './migrate.ts';
import { assertMoveComplete } from './move-marker.ts';
import { countConnections, openPool } from './pool.ts';
import { createReplicaStore } from './replicas.ts';
import { shareValue } from './shared-values.ts';
import { createSpanPartitions } from './span-partitions.ts';

/** Programs that ask whether a service is ready wait for a few seconds. */
const PING_MS_MAX = 2_000;

/**
 * Opens the store in a PostgreSQL database, and creates or migrates its tables.
 * @throws UnsupportedSchemaError if a newer or an unpublished version of the kit wrote the database.
 * @throws UnfinishedMoveError if data is being moved into the database.
 */
export async function openPostgresStore(databaseUrl: string): Promise<Store> {
  await migrate(databaseUrl);
  const pool = openPool(databaseUrl);
  const connections = connect(pool);
  try {
    await assertMoveComplete(pool);
  } catch (error) {
    await connections.close();
    throw error;
  }
  const replicas = createReplicaStore(pool, databaseUrl);
  const checkDatabase = (): Promise<void> =>
    limitDatabaseWaits(PING_MS_MAX, () => ping(connections.directory.reader));
  return createStore(connections, {
    replicas,
    spanPartitions: createSpanPartitions(pool),
    shareValue: (name, value) => shareValue(pool, name, value),
    describeFileChange: () => undefined,
    countConnections: () => countConnections(pool),
    ping: checkDatabase,
    checkWrites: checkDatabase,
    async close() {
      await replicas.close();
      await connections.close();
    },
  });
}

/** @throws ReadOnlyError, and what the driver throws. */
async function ping(db: Reader): Promise<void> {
  const { rows } = await sql<{ setting: string }>`
    select current_setting('transaction_read_only') as setting`.execute(db);
  if (rows[0]?.setting === 'on') throw new ReadOnlyError();
}
