import type { Pool, PoolClient } from 'pg';
import { MoveError, movedTableNames, type MovedTable } from '../move/moved-tables.ts';
import { columnsIn } from '../schema/table.ts';
import { tables } from '../schema/tables.ts';
import { migrateWith } from './migrate.ts';
import { MARKER_NAME, type MoveMarker } from './move-marker.ts';
import { openPool } from './pool.ts';
import { HAS_STOPPED } from './replicas.ts';
import { createPartition } from './span-partitions.ts';
import { replaceNul } from './replace-nul.ts';
import { shareValue } from './shared-values.ts';
import { inTransaction } from './transaction.ts';

/** Counting a large table takes minutes. */
const STATEMENT_MS_MAX = 600_000;

/** Tables with data of owners that are not moved. */
const OTHER_TABLES = ['seed_documents', 'simulation_leases', 'span_ids'];

/** A column that rows are copied into. */
interface TargetColumn {
  name: string;
  /** Its type in SQL, such as `bigint`. */
  type: string;
  /** The sequence of its default. */
  sequence: string | undefined;
}

/** A database that receives the rows of another one. */
export interface MoveTarget {
  /**
   * Stores the marker of a new move, or returns that of the move that began earlier.
   * Removes what the start of a service stored, such as its development key.
   * @throws MoveError if the database has other data, or a service runs on it.
   */
  begin: (marker: MoveMarker) => Promise<MoveMarker>;
  columnsOf: (table: MovedTable) => readonly TargetColumn[];
  /**
   * Adds rows, and replaces the marker in the same transaction. Returns the new marker.
   * @throws MoveError if another process changed the marker.
   */
  insert: (batch: {
    table: MovedTable;
    rows: readonly (readonly unknown[])[];
    from: MoveMarker;
    to: MoveMarker;
  }) => Promise<MoveMarker>;
  /** Lets numbers of new rows start above `max` of each sequence. */
  advanceSequences: (max: ReadonlyMap<string, number>) => Promise<void>;
  count: (table: MovedTable) => Promise<number>;
  /**
   * Collects the statistics that the server needs to plan queries. It would do so itself, but minutes
   * later; until then, lists are slow.
   */
  collectStatistics: () => Promise<void>;
  /** Stores a value that all processes of the service share. */
  shareValue: (name: string, value: string) => Promise<string>;
  /** Replaces the marker. */
  mark: (from: MoveMarker, to: MoveMarker) => Promise<void>;
  close: () => Promise<void>;
}

/**
 * Opens a database, and migrates it to the newest version of the tables.
 * @throws UnsupportedSchemaError if a newer or an unpublished version of the kit wrote the database.
 */
export async function openMoveTarget(databaseUrl: string): Promise<MoveTarget> {
  const pool = openPool(databaseUrl, { connectionsMax: 1, statementMsMax: STATEMENT_MS_MAX });
  try {
    await migrateWith(pool);
    return createTarget(pool);
  } catch (error) {
    await pool.end();
    throw error;
  }
}

function createTarget(pool: Pool): MoveTarget {
  return {
    columnsOf,
    begin: (marker) => inTransaction(pool, (client) => begin(client, marker)),
    insert: ({ table, rows, from, to }) =>
      inTransaction(pool, async (client) => {
        const { values, nulCharacters } = transpose(rows, columnsOf(table).length);
        const marker = { ...to, nulCharacters: to.nulCharacters + nulCharacters };
        await replaceMarker(client, from, marker);
        if (table === 'spans') await prepareSpans(client, columnsOf(table), values);
        await client.query(createInsert(table, columnsOf(table)), values);
        return marker;
      }),
    async advanceSequences(max) {
      for (const [sequence, value] of max) {
        await pool.query('select setval($1, greatest($2::bigint, 1), $2 > 0)', [sequence, value]);
      }
    },
    async count(table) {
      const { rows } = await pool.query<{ count: number }>(`select count(*) from "${table}"`);
      return rows[0]?.count ?? 0;
    },
    async collectStatistics() {
      // Also marks pages as visible to all, so that counts read indexes only.
      for (const table of movedTableNames) await pool.query(`vacuum (analyze) "${table}"`);
    },
    shareValue: (name, value) => shareValue(pool, name, value),
    mark: (from, to) => inTransaction(pool, (client) => replaceMarker(client, from, to)),
    close: () => pool.end(),
  };
}

async function begin(client: PoolClient, marker: MoveMarker): Promise<MoveMarker> {
  const { rowCount } = await client.query(
    'insert into service_values (name, value) values ($1, $2) on conflict do nothing',
    [MARKER_NAME, JSON.stringify(marker)],
  );
  if (rowCount === 0) {
    // Waits for the last transaction of a process that was killed.
    const { rows } = await client.query<{ value: string }>(
      'select value from service_values where name = $1 for update',
      [MARKER_NAME],
    );
    return JSON.parse(rows[0]?.value ?? '') as MoveMarker;
  }
  const isUsed = await isUsedByService(client);
  await assertNoData(client);
  if (isUsed) {
    throw new MoveError(
      'A service uses the database. Stop it, and move again. After kill -9, wait 15 s first.',
    );
  }
  await client.query('delete from keys');
  await client.query('delete from owners');
  await client.query('delete from service_values where name <> $1', [MARKER_NAME]);
  return marker;
}

/** Returns whether a service runs on the database. */
async function isUsedByService(client: PoolClient): Promise<boolean> {
  // A service that starts now waits for this row.
  await client.query('select 1 from shared_state for update');
  const { rowCount } = await client.query(`select 1 from replicas where not ${HAS_STOPPED}`);
  return rowCount !== 0;
}

/**
 * Checks that the database has only what the start of a service stores: its owners, its configured
 * keys, and its development key.
 * @throws MoveError
 */
async function assertNoData(client: PoolClient): Promise<void> {
  const tables = movedTableNames.filter((table) => table !== 'owners' && table !== 'keys');
  const conditions = [
    ...[...tables, ...OTHER_TABLES].map((table) => `exists (select 1 from "${table}")`),
    'exists (select 1 from keys where configured = 0)',
  ];
  const { rows } = await client.query<{ has_data: boolean }>(
    `select ${conditions.join(' or ')} as has_data`,
  );
  if (rows[0]?.has_data !== true) return;
  throw new MoveError(
    'The database has other data, from a service or another program. Create an empty database, and ' +
      'move to it before a service stores data there.',
  );
}

/** @throws MoveError if the stored marker is not `from`. */
async function replaceMarker(client: PoolClient, from: MoveMarker, to: MoveMarker): Promise<void> {
  const { rowCount } = await client.query(
    'update service_values set value = $3 where name = $1 and value = $2',
    [MARKER_NAME, JSON.stringify(from), JSON.stringify(to)],
  );
  if (rowCount === 1) return;
  throw new MoveError('Another process moves data into the database. Wait until it has finished.');
}

/** Returns the columns of a table, but not those that the database computes. */
const columnsOf = (table: MovedTable): TargetColumn[] =>
  Object.entries(columnsIn(tables[table], 'postgres')).map(([name, { types, sequence }]) => ({
    name,
    type: types.postgres,
    sequence,
  }));

/** Creates the partitions of spans, and inserts their ids. */
async function prepareSpans(
  client: PoolClient,
  columns: readonly TargetColumn[],
  values: readonly unknown[][],
): Promise<void> {
  const valuesOf = (name: string): unknown[] =>
    values[columns.findIndex((column) => column.name === name)] ?? [];
  for (const day of new Set(valuesOf('received_day'))) await createPartition(client, Number(day));
  await client.query(
    `insert into span_ids (owner_id, span_id, conversation_key)
     select * from unnest($1::text[], $2::text[], $3::bigint[]) on conflict do nothing`,
    [valuesOf('owner_id'), valuesOf('span_id'), valuesOf('conversation_key')],
  );
}

function createInsert(table: string, columns: readonly TargetColumn[]): string {
  const names = columns.map(({ name }) => `"${name}"`).join();
  const arrays = columns.map(({ type }, nth) => `$${nth + 1}::${type}[]`).join();
  return `insert into "${table}" (${names}) select * from unnest(${arrays}) on conflict do nothing`;
}

/** Returns the values of each column, with NUL characters replaced and counted. */
function transpose(
  rows: readonly (readonly unknown[])[],
  width: number,
): { values: unknown[][]; nulCharacters: number } {
  let nulCharacters = 0;
  const values = Array.from({ length: width }, (_, nth) =>
    rows.map((row) => {
      const value = row[nth];
      const replaced = replaceNul(value);
      if (replaced !== value) nulCharacters += String(value).split('\0').length - 1;
      return replaced;
    }),
  );
  return { values, nulCharacters };
}
