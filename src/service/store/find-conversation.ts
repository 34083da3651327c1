import { sql, type Expression, type ExpressionBuilder, type SqlBool } from 'kysely';
import { toDay } from '../../platform/clock.ts';
import { selectExact, type Reader } from './connections.ts';
import type { Tables } from './schema/tables.ts';

/** A conversation built from live traces (spec 3.1). */
export interface Conversation {
  conversationId: string;
  state: 'open' | 'closed';
  /** Start of its first span, in nanoseconds since the Unix epoch. */
  firstStartNs: bigint;
  /** End of its last span. */
  lastEndNs: bigint;
  /** Server time at which its most recent span was received. */
  lastReceivedAtMs: number;
  spanCount: number;
  closedAtMs: number | undefined;
  /** Name of the daily run that it joined when it was closed. */
  run: string | undefined;
  /** The session that scores it; undefined while it is unscored. */
  sessionId: string | undefined;
  /** When its spans were removed because of their age, and how many days after the first one. */
  spansRemoved: { atMs: number; afterDays: number } | undefined;
}

/**
 * Selects conversations that are closed, that no session scores, and whose spans are still there, so
 * that they can be scored. States are literals, because SQLite uses a partial index only if the query
 * repeats its condition.
 */
export const isUnscored = (eb: ExpressionBuilder<Tables, 'conversations'>): Expression<SqlBool> =>
  eb.and([
    eb('state', '=', sql.lit('closed')),
    eb('session_key', 'is', null),
    eb('spans_removed_at_ms', 'is', null),
  ]);

/** Finds a conversation with its run and its session. */
export async function findConversation(
  db: Reader,
  ownerId: string,
  conversationId: string,
): Promise<Conversation | undefined> {
  const row = await db
    .selectFrom('conversations')
    .leftJoin('runs', 'runs.key', 'conversations.run_key')
    .leftJoin('sessions', 'sessions.key', 'conversations.session_key')
    .select(['state', 'last_received_at_ms', 'span_count', 'closed_at_ms'])
    .select(['received_day', 'spans_removed_at_ms'])
    .select(['runs.name as run', 'sessions.id as session_id'])
    .select([selectExact('first_start_ns'), selectExact('last_end_ns')])
    .where('conversations.owner_id', '=', ownerId)
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst();
  const removedAtMs = row?.spans_removed_at_ms ?? undefined;
  return (
    row && {
      conversationId,
      state: row.state,
      firstStartNs: BigInt(row.first_start_ns),
      lastEndNs: BigInt(row.last_end_ns),
      lastReceivedAtMs: row.last_received_at_ms,
      spanCount: row.span_count,
      closedAtMs: row.closed_at_ms ?? undefined,
      run: row.run ?? undefined,
      sessionId: row.session_id ?? undefined,
      spansRemoved:
        removedAtMs === undefined
          ? undefined
          : { atMs: removedAtMs, afterDays: toDay(removedAtMs) - row.received_day },
    }
  );
}
