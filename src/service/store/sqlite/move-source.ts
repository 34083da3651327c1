import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { findParent, type MovedTable } from '../move/moved-tables.ts';
import { columnsIn } from '../schema/table.ts';
import { tables } from '../schema/tables.ts';
import { assertFileIntact, assertSameDatabase } from './file-identity.ts';
import { LOCK_WAIT_MS_MAX, openFile } from './open-file.ts';

/** Limits of a batch. It has at least one row. */
const ROWS_MAX = 2_000;
const LENGTH_MAX = 4 * 2 ** 20;

/** The place of the last row of a batch in the order of its table. */
export type Cursor = readonly (string | number)[];

/** Rows of a table, in the order of the given columns. */
export interface Batch {
  rows: unknown[][];
  cursor: Cursor;
}

/** A database file whose rows are moved. */
export interface MoveSource {
  /** The random id of the database. */
  id: string;
  /** Changes when any data changes. */
  version: string;
  count: (table: MovedTable) => number;
  /** Returns the largest number that a column has, or had if numbers are not reused; 0 if none. */
  findMax: (table: MovedTable, column: string) => number;
  /** Returns the rows after a place; undefined at the end of the table. */
  readBatch: (
    table: MovedTable,
    columns: readonly string[],
    after: Cursor | undefined,
  ) => Batch | undefined;
  close: () => void;
}

/**
 * Opens a database file to read all of it, and migrates it to the newest schema. No other process may
 * use it.
 * @throws StoreFileError
 */
export function openMoveSource(file: string): MoveSource {
  assertFileIntact(file);
  const db = openFile(file, { busyMs: LOCK_WAIT_MS_MAX });
  try {
    assertSameDatabase(db, file, false);
    // Afterwards, all data is in the file itself, so that its size and time tell whether it changed.
    db.pragma('wal_checkpoint(TRUNCATE)');
    const { mtimeNs, size } = statSync(file, { bigint: true });
    const readNumber = (query: string): number => Number(db.prepare(query).pluck().get() ?? 0);
    return {
      id: db.prepare<[], string>('select id from store_id').pluck().get() ?? '',
      version: `${mtimeNs}-${size}`,
      count: (table) => readNumber(`select count(*) from "${table}"`),
      findMax: (table, column) =>
        Math.max(
          readNumber(`select max("${column}") from "${table}"`),
          readNumber(`select max(seq) from sqlite_sequence where name = '${table}'`),
        ),
      readBatch: (table, columns, after) => readBatch(db, { table, columns, after }),
      close: () => void db.close(),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

function readBatch(
  db: Database,
  {
    table,
    columns,
    after,
  }: { table: MovedTable; columns: readonly string[]; after: Cursor | undefined },
): Batch | undefined {
  const parent = findParent(table);
  const own = columnsIn(tables[table], 'sqlite');
  const { isClustered, primaryKey } = tables[table];
  // These columns order a table without sorting it.
  const order = (isClustered ? primaryKey : ['rowid']).map((column) => `moved."${column}"`);
  const selected = columns.map((column) =>
    parent && !(column in own) ? `parent."${column}"` : `moved."${column}"`,
  );
  const conditions = [
    ...(parent ? [`parent.key = moved."${parent.column}"`] : []),
    ...(after ? [`(${order.join()}) > (${after.map(() => '?').join()})`] : []),
  ];
  // A cross join keeps the order of the tables.
  const statement = db
    .prepare<unknown[], unknown[]>(
      `select ${[...selected, ...order].join()} from "${table}" as moved` +
        (parent ? ` cross join "${parent.table}" as parent` : '') +
        (conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`) +
        ` order by ${order.join()} limit ${ROWS_MAX}`,
    )
    .raw()
    // Nanoseconds would lose digits as numbers.
    .safeIntegers();
  const rows: unknown[][] = [];
  let length = 0;
  let cursor: Cursor = [];
  for (const values of statement.iterate(...(after ?? []))) {
    const row = values.slice(0, columns.length);
    rows.push(row);
    cursor = values.slice(columns.length).map(toCursorValue);
    length += row.reduce<number>((sum, value) => sum + lengthOf(value), 0);
    if (length >= LENGTH_MAX) break;
  }
  return rows.length === 0 ? undefined : { rows, cursor };
}

const toCursorValue = (value: unknown): string | number =>
  typeof value === 'bigint' ? Number(value) : String(value);

const lengthOf = (value: unknown): number =>
  typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
