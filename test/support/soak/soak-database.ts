/** Sizes and row counts of the database of a long run. */
import { readFileSync, statSync } from 'node:fs';
import { listFamily } from '../../../bench/processes.ts';
import type { Dialect, Table } from '../../../src/service/store/schema/table.ts';
import { tables } from '../../../src/service/store/schema/tables.ts';
import type { Query } from '../crashes/crash-audit.ts';
import { execute } from '../database/postgres.ts';
import { runSql } from '../database/run-sql.ts';

/** A database whose size is measured. */
export interface SoakDatabase {
  dialect: Dialect;
  query: Query;
  /** Returns sizes in bytes by name. */
  readSizes: () => Promise<Record<string, number>>;
}

/** The database in a data directory. */
export function createFileDatabase(file: string): SoakDatabase {
  const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return {
    dialect: 'sqlite',
    query: (statement) => runSql({ file, readonly: true }, statement),
    readSizes: () =>
      Promise.resolve({ 'database file': sizeOf(file), 'write-ahead log': sizeOf(`${file}-wal`) }),
  };
}

/** A PostgreSQL database, on a separate server. */
export function createServerDatabase(
  { url, superuserUrl }: { url: string; superuserUrl: string },
  serverPid: () => number,
): SoakDatabase {
  return {
    dialect: 'postgres',
    query: (statement) => execute(url, statement),
    async readSizes() {
      const [row] = await execute(
        superuserUrl,
        `select pg_database_size('${new URL(url).pathname.slice(1)}')::float8 as database,
           (select sum(size)::float8 from pg_ls_waldir()) as log`,
      );
      return {
        'database file': Number(row?.['database']),
        'write-ahead log': Number(row?.['log']),
        'database memory': readProportionalBytes(serverPid()),
      };
    },
  };
}

/** Returns the memory of a process and its children, in which shared memory counts once. */
function readProportionalBytes(pid: number): number {
  const read = (path: string): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // The process has just ended.
      return '';
    }
  };
  return listFamily(pid)
    .map((each) => Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${each.pid}/smaps_rollup`))?.[1] ?? 0))
    .reduce((sum, kib) => sum + kib * 1_024, 0);
}

/** Returns the number of rows of each table, and the bytes of all recordings. */
export async function countRows({ dialect, query }: SoakDatabase): Promise<Record<string, number>> {
  const counts = listTables(dialect).map((name) => `(select count(*) from ${name}) as "${name}"`);
  const [row] = await query(
    `select ${counts.join()},
       (select coalesce(sum(audio_bytes), 0) from recordings) as recorded`,
  );
  const { recorded, ...rows } = row ?? {};
  return {
    'recorded bytes': Number(recorded),
    ...Object.fromEntries(
      Object.entries(rows).map(([name, count]) => [`rows of ${name}`, Number(count)]),
    ),
  };
}

/** Returns the names of the tables of a database. */
export const listTables = (dialect: Dialect): string[] =>
  Object.entries<Table>(tables)
    .filter(([, { only }]) => only === undefined || only === dialect)
    .map(([name]) => name);
