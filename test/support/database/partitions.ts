import { migrateWith } from '../../../src/service/store/postgres/migrate.ts';
import { openPool } from '../../../src/service/store/postgres/pool.ts';

/** The number of partitions of each table. */
const PARTITIONS = 4;

/** A definition of a table whose rows belong to owners, or the default partition of such a table. */
const OWNED_TABLE =
  /create table (\w+) \(\n {2}owner_id [^;]*?\n\)(?=;)|create table (\w+) partition of \w+ default(?=;)/g;

/**
 * Creates the tables of the service in an empty database, with the tables of owners partitioned by
 * the hash of the owner, as an operator may do who has many.
 */
export async function migratePartitioned(url: string): Promise<void> {
  const pool = openPool(url);
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
    Object.assign(client, {
      query: (text: unknown, ...rest: unknown[]) =>
        query(typeof text === 'string' ? partition(text) : text, ...rest),
    });
  });
  try {
    await migrateWith(pool);
  } finally {
    await pool.end();
  }
}

function partition(statements: string): string {
  return statements.replace(OWNED_TABLE, (table, ofTable?: string, ofPartition?: string) => {
    const name = ofTable ?? ofPartition ?? '';
    const partitions = Array.from(
      { length: PARTITIONS },
      (_, nth) =>
        `create table ${name}_p${nth} partition of ${name}
           for values with (modulus ${PARTITIONS}, remainder ${nth})`,
    );
    return [`${table} partition by hash (owner_id)`, ...partitions].join(';\n');
  });
}

/** Returns the table to which a partition belongs; undefined for other tables. */
export function findPartitionedTable(name: string): string | undefined {
  return /^(.+)_p\d$/.exec(name)?.[1];
}
