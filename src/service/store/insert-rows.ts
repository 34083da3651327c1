import type { InsertObject } from 'kysely';
import type { WriteTransaction } from './connections.ts';
import type { Tables } from './schema/tables.ts';

// SQLite allows 32,766 parameters in a statement, which is 32 per row.
const ROWS_PER_INSERT = 1000;

/** The transaction of inserts. */
export interface Insertion {
  db: WriteTransaction;
  /** Called after each statement, because one with many rows takes milliseconds in SQLite. */
  yieldIfDue?: () => Promise<void>;
}

/** Inserts many rows with few statements, because each is a round trip to a database server. */
export async function insertRows<Name extends keyof Tables>(
  { db, yieldIfDue }: Insertion,
  table: Name,
  rows: readonly InsertObject<Tables, Name>[],
  /** Whether rows whose keys exist are left out, instead of causing an error. */
  { skipExisting = false } = {},
): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    await db
      .insertInto(table)
      .values(rows.slice(from, from + ROWS_PER_INSERT))
      .$if(skipExisting, (query) => query.onConflict((conflict) => conflict.doNothing()))
      .execute();
    await yieldIfDue?.();
  }
}
