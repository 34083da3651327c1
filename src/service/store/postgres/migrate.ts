import type { Pool, PoolClient } from 'pg';
import {
  changesSince,
  describeUnsupported,
  newestVersion,
  schemaChanges,
  type SchemaChange,
} from '../schema/changes.ts';
import { CREATE_COUNTERS } from './count-sessions.ts';
import { createTables } from './create-tables.ts';
import {
  DatabaseEncodingError,
  MissingGrantsError,
  UnsupportedSchemaError,
} from './database-problem.ts';
import { openPool } from './pool.ts';
import { inTransaction } from './transaction.ts';

/** The lock that one process holds while it migrates: "sbxk". */
const MIGRATION_LOCK = 0x7362786b;

/** Time limit of a statement, and of the wait for another process that migrates. */
const MIGRATION_MS_MAX = 600_000;

/** The versions of the tables before and after a migration; 0 is an empty database. */
export interface Migration {
  from: number;
  to: number;
}

/**
 * Migrates a database to the newest version of the tables in one transaction. Concurrent processes wait.
 * A database with the newest version needs no right to create tables.
 * @throws DatabaseEncodingError
 * @throws UnsupportedSchemaError if a newer or an unpublished version of the kit wrote the database.
 */
export async function migrate(databaseUrl: string): Promise<Migration> {
  const limits = { statementMsMax: MIGRATION_MS_MAX, lockMsMax: MIGRATION_MS_MAX };
  const pool = openPool(databaseUrl, { connectionsMax: 1, ...limits });
  try {
    return await migrateWith(pool);
  } finally {
    await pool.end();
  }
}

/** Migrates with a connection of a pool, within its time limits. */
export const migrateWith = (
  pool: Pool,
  changes: readonly SchemaChange[] = schemaChanges,
): Promise<Migration> => inTransaction(pool, (client) => migrateOn(client, changes));

async function migrateOn(client: PoolClient, changes: readonly SchemaChange[]): Promise<Migration> {
  await assertUtf8(client);
  await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  const from = await findVersion(client);
  const to = newestVersion(changes);
  if (from === 0) await client.query(createTables());
  else {
    assertSupported(from, changes);
    for (const { postgres } of changesSince(from, changes)) await client.query(postgres);
  }
  if (from < to) {
    await client.query(CREATE_COUNTERS);
    await client.query(
      'insert into schema_version (version) values ($1) on conflict (only_row) do update set version = $1',
      [to],
    );
  }
  return { from, to };
}

/** @throws UnsupportedSchemaError */
function assertSupported(version: number, changes: readonly SchemaChange[]): void {
  const advice = 'Start with an empty database.';
  const problem = describeUnsupported({ name: 'The database', version, advice }, changes);
  if (problem !== undefined) throw new UnsupportedSchemaError(problem);
}

/** @throws DatabaseEncodingError */
async function assertUtf8(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>(
    "select current_setting('server_encoding') as encoding",
  );
  const encoding = rows[0]?.encoding ?? '';
  if (encoding !== 'UTF8') throw new DatabaseEncodingError(encoding);
}

async function findVersion(client: PoolClient): Promise<number> {
  const known = await client.query<{ is_known: boolean }>(
    "select to_regclass('schema_version') is not null as is_known",
  );
  if (known.rows[0]?.is_known !== true) {
    await assertSchemaUsable(client);
    await client.query(
      'create table schema_version (version integer not null, only_row boolean primary key default true check (only_row))',
    );
  }
  const { rows } = await client.query<{ version: number }>('select version from schema_version');
  return rows[0]?.version ?? 0;
}

/**
 * PostgreSQL hides the tables of a schema that the role may not use, so they would seem to be missing.
 * @throws MissingGrantsError
 */
async function assertSchemaUsable(client: PoolClient): Promise<void> {
  const { rowCount } = await client.query(
    `select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relname = 'schema_version' and nspname in ('public', current_user)
       and not has_schema_privilege(pg_namespace.oid, 'usage')`,
  );
  if (rowCount !== 0) throw new MissingGrantsError();
}
