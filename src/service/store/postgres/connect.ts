import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Pool } from 'pg';
import type { Connections, Reader, WriteTransaction } from '../connections.ts';
import type { Tables } from '../schema/tables.ts';
import { limitPool } from './limited-pool.ts';
import { nulReplacement } from './nul-plugin.ts';
import { ownerScope } from './owner-scope.ts';
import { retryConflicts } from './retry-conflicts.ts';

/** Opens the connections of the store on a pool, and closes the pool with them. */
export function connect(pool: Pool): Connections {
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: limitPool(pool) }),
    plugins: [nulReplacement],
  });
  const snapshot = <Result>(from: Reader, run: (db: Reader) => Promise<Result>): Promise<Result> =>
    from.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(run);
  const of = (ownerId: string): Reader => db.withPlugin(ownerScope(ownerId));
  const write: Connections['write'] = (ownerId, change) =>
    retryConflicts(() => of(ownerId).transaction().execute(change));
  return {
    dialect: 'postgres',
    reader: of,
    read: (ownerId, run) => snapshot(of(ownerId), run),
    write,
    writeAlone: (ownerId, change) =>
      write(ownerId, async (transaction) => {
        await lock(transaction, ownerId);
        return change(transaction);
      }),
    directory: {
      reader: db,
      read: (run) => snapshot(db, run),
      write: (change) =>
        retryConflicts(() =>
          db.transaction().execute(async (transaction) => {
            await lock(transaction, '');
            return change(transaction);
          }),
        ),
    },
    async close() {
      await db.destroy();
      // Kysely leaves a pool open that it sent nothing through; others may have used it.
      if (!pool.ended) await pool.end();
    },
  };
}

/** Locks an owner until the transaction ends; an empty id is the directory. */
async function lock(db: WriteTransaction, ownerId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${ownerId}, 0))`.execute(db);
}
