/**
 * The partitions of the table of spans, one for each day. All spans of a conversation are in the
 * partition of the day when its first span was received, so that a whole day is dropped when it is old.
 * Spans of a day without a partition are in the default partition.
 */
import type { Pool, PoolClient } from 'pg';
import { DAY_MS, isoDate, systemClock, toDay } from '../../../platform/clock.ts';
import { inTransaction } from './transaction.ts';
import { errorCode } from '../../../platform/error-origin.ts';

/** Partitions that are created ahead, so that they exist even if the service is busy or stopped. */
const DAYS_AHEAD = 3;

/** The lock that one process holds while it creates partitions: "sbxp". */
const PARTITION_LOCK = 0x73627870;

/** While a change waits for a lock, traces wait for the change. */
const LOCK_MS_MAX = 250;
const ATTEMPTS_MAX = 20;
const RETRY_MS = 250;

/** Rows that one statement deletes. */
const ROWS_MAX = 1_000;

/** Creates the access to the partitions of spans. */
export function createSpanPartitions(pool: Pool) {
  return {
    /**
     * Creates the partitions of this day and the next ones. Without them, spans are stored, too, but
     * deleted row by row. Returns false if the role of the database may not create tables.
     */
    async create(nowMs: number): Promise<boolean> {
      const today = toDay(nowMs);
      const days = Array.from({ length: DAYS_AHEAD }, (_, nth) => today + nth);
      const existing = await listDays(pool);
      const missing = days.filter((day) => !existing.has(day));
      return mayChange(async () => {
        for (const day of missing) {
          await changeTables(pool, (client) => createPartition(client, day));
        }
      });
    },
    /** Drops the partitions of days before a time, after `removeSpans`. Returns how many it dropped. */
    async drop(receivedBeforeMs: number): Promise<number> {
      const beforeDay = toDay(receivedBeforeMs);
      let count = 0;
      await mayChange(async () => {
        for (const day of await listDays(pool)) {
          if (day >= beforeDay) continue;
          await changeTables(pool, async (client) => {
            await lockPartitions(client);
            await client.query(`drop table if exists "${nameOf(day)}"`);
          });
          count += 1;
        }
      });
      return count;
    },
    /** Deletes a part of the spans that were not in a dropped partition. Returns whether there can be more. */
    async deleteOutside(ownerId: string, receivedBeforeMs: number): Promise<boolean> {
      const { rowCount } = await pool.query(DELETE_SPANS, [ownerId, toDay(receivedBeforeMs)]);
      return rowCount === ROWS_MAX;
    },
  };
}

export type SpanPartitions = ReturnType<typeof createSpanPartitions>;

/** Returns the days that have a partition. */
async function listDays(pool: Pool): Promise<Set<number>> {
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = to_regclass('spans') order by relname`,
  );
  return new Set(rows.flatMap(({ name }) => parseName(name) ?? []));
}

const DELETE_SPANS = `
  delete from spans using (
    select conversation_key, span_id from spans
    where owner_id = $1 and received_day < $2 limit ${ROWS_MAX}) as old
  where owner_id = $1 and received_day < $2
    and spans.conversation_key = old.conversation_key and spans.span_id = old.span_id`;

/** Changes tables. Returns false if the role of the database may not do it. */
async function mayChange(change: () => Promise<void>): Promise<boolean> {
  try {
    await change();
    return true;
  } catch (error) {
    if (errorCode(error) === INSUFFICIENT_PRIVILEGE) return false;
    throw error;
  }
}

/**
 * Creates the partition of a day in the transaction of the client, unless it exists or the default
 * partition has spans of that day.
 */
export async function createPartition(client: PoolClient, day: number): Promise<void> {
  await lockPartitions(client);
  const name = nameOf(day);
  const { rows } = await client.query<{ exists: boolean }>(
    `select to_regclass($1) is not null
       or exists (select 1 from spans_default where received_day = $2) as exists`,
    [name, day],
  );
  if (rows[0]?.exists === true) return;
  // Attaching a table locks only the default partition. Creating a partition would lock all of them.
  await client.query(`create table "${name}" (like spans including all)`);
  await client.query(
    `alter table spans attach partition "${name}" for values from (${day}) to (${day + 1})`,
  );
}

/**
 * Makes other processes wait to create or drop partitions until the transaction ends. PostgreSQL reports an
 * internal error if two drop the same one.
 */
async function lockPartitions(client: PoolClient): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
}

/** Returns the name of the partition of a day, such as `spans_20261120`. */
const nameOf = (day: number): string => `spans_${isoDate(day * DAY_MS).replaceAll('-', '')}`;

function parseName(name: string): number | undefined {
  const [, year, month, day] = /^spans_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? [];
  return year === undefined ? undefined : toDay(Date.parse(`${year}-${month}-${day}`));
}

/** Runs a change of tables in a transaction, and repeats it if traces hold a lock for too long. */
async function changeTables(
  pool: Pool,
  change: (client: PoolClient) => Promise<unknown>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await inTransaction(pool, async (client) => {
        await client.query(`set local lock_timeout = ${LOCK_MS_MAX}`);
        await change(client);
      });
      return;
    } catch (error) {
      if (!TRANSIENT.has(errorCode(error)) || attempt === ATTEMPTS_MAX) throw error;
    }
    await systemClock.sleep(RETRY_MS);
  }
}

const INSUFFICIENT_PRIVILEGE = '42501';
const CHECK_VIOLATION = '23514';

/** The lock timed out, it would have caused a deadlock, or the default partition got a span meanwhile. */
const TRANSIENT: ReadonlySet<string> = new Set(['55P03', '40P01', CHECK_VIOLATION]);

/** Returns whether a span was sent to the default partition while the one of its day was attached. */
export const isPartitionAttached = (error: unknown): boolean =>
  errorCode(error) === CHECK_VIOLATION;
