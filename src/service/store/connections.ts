import { sql, type Kysely, type Transaction } from 'kysely';
import type { Dialect } from './schema/table.ts';
import type { Tables } from './schema/tables.ts';

/** Reads, outside a transaction or on one snapshot. */
export type Reader = Kysely<Tables>;

/** A write transaction. */
export type WriteTransaction = Transaction<Tables>;

/**
 * The access of the modules of the store to one database, in SQLite or PostgreSQL.
 *
 * All data but that of the directory belongs to an owner, and no transaction spans two owners. With
 * PostgreSQL, each statement for an owner reads and changes only rows of that owner, whatever its
 * conditions are; SQLite has one file for all, so the conditions of a query must suffice.
 */
export interface Connections {
  readonly dialect: Dialect;
  /** Reads data of one owner. Each query sees its own snapshot. */
  reader: (ownerId: string) => Reader;
  /** Runs several queries about one owner on one snapshot, regardless of concurrent writes. */
  read: <Result>(ownerId: string, run: (db: Reader) => Promise<Result>) => Promise<Result>;
  /**
   * Runs `change` in a transaction on the data of one owner: either all of it is committed durably, or
   * none of it. PostgreSQL runs it again after a conflict, so it changes nothing but the database.
   */
  write: <Result>(
    ownerId: string,
    change: (db: WriteTransaction) => Promise<Result>,
  ) => Promise<Result>;
  /**
   * Runs `change` like `write`, but one at a time for each owner: for changes that depend on rows they
   * read, such as a limit or a count. `write` is enough where a unique key or a condition of the change
   * decides.
   */
  writeAlone: <Result>(
    ownerId: string,
    change: (db: WriteTransaction) => Promise<Result>,
  ) => Promise<Result>;
  /** The owners and their keys, and lists of due work of all owners. */
  readonly directory: {
    reader: Reader;
    read: <Result>(run: (db: Reader) => Promise<Result>) => Promise<Result>;
    write: <Result>(change: (db: WriteTransaction) => Promise<Result>) => Promise<Result>;
  };
  close: () => Promise<void>;
}

/** The connections to a database, and how many callers wait for one. */
export interface ConnectionCounts {
  total: number;
  idle: number;
  waiting: number;
}

/** Selects a nanosecond column as text, because a number above 2^53 would lose digits. */
export function selectExact<Name extends string>(column: Name) {
  return sql<string>`cast(${sql.ref(column)} as text)`.as(column.replace(/^.*\./, '') as Name);
}
