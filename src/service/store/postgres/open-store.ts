import { createStores } from '../create-stores.ts';
import type { Store } from '../store.ts';
import { connect } from './connect.ts';
import { migrate } from './migrate.ts';
import { openPool } from './pool.ts';
import { createReplicaStore } from './replicas.ts';

/**
 * Opens the store in a PostgreSQL database, and creates or migrates its tables.
 * @throws SchemaTooNewError if the database was migrated by a newer version of the kit.
 */
export async function openPostgresStore(databaseUrl: string): Promise<Store> {
  const pool = openPool(databaseUrl);
  const connections = connect(pool);
  try {
    await migrate(pool);
  } catch (error) {
    await connections.close();
    throw error;
  }
  const replicas = createReplicaStore(pool, databaseUrl);
  return {
    ...createStores(connections),
    replicas,
    async shareValue(name, value) {
      await pool.query(
        'insert into service_values (name, value) values ($1, $2) on conflict do nothing',
        [name, value],
      );
      const { rows } = await pool.query<{ value: string }>(
        'select value from service_values where name = $1',
        [name],
      );
      return rows[0]?.value ?? value;
    },
    describeFileChange: () => undefined,
    async close() {
      await replicas.close();
      await connections.close();
    },
  };
}
