import { toDay } from '../../platform/clock.ts';
import { selectExact, type Reader } from './connections.ts';
import type { Conversation } from './records.ts';

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
