import type { Pool, PoolClient } from 'pg';
import { SchemaTooNewError } from './database-problem.ts';
import { CREATE_TABLES } from './migrations/001-create-tables.ts';

/** All migrations, in order. Never change a published migration. */
const migrations: readonly string[] = [CREATE_TABLES];

/** The lock that one process holds while it migrates: "sbxk". */
const MIGRATION_LOCK = 0x7362786b;

/** Migrates a database to the newest schema in one transaction. Concurrent processes wait. */
export async function migrate(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await migrateOn(client);
  } finally {
    client.release();
  }
}

async function migrateOn(client: PoolClient): Promise<void> {
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query(
      'create table if not exists schema_version (version integer not null, only_row boolean primary key default true check (only_row))',
    );
    const { rows } = await client.query<{ version: number }>('select version from schema_version');
    const version = rows[0]?.version ?? 0;
    if (version > migrations.length) {
      throw new SchemaTooNewError(version, migrations.length);
    }
    for (const statements of migrations.slice(version)) await client.query(statements);
    await client.query(
      'insert into schema_version (version) values ($1) on conflict (only_row) do update set version = $1',
      [migrations.length],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}
