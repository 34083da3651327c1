import { sql } from 'kysely';
import type { Connections, Reader } from './connections.ts';
import { isUnscored } from './find-conversation.ts';
import type { SessionKind } from './records.ts';

/** Counts of the data of an owner. */
export interface OwnerCounts {
  openConversations: number;
  /** Closed conversations that no session scores, because no evals were chosen. */
  unscoredConversations: number;
  /** Sessions that wait for evals. */
  evaluatingSessions: number;
  production: SessionCounts;
  simulation: SessionCounts;
}

/** Counts of the sessions of one kind. */
export interface SessionCounts {
  total: number;
  /** Those that the list contains: without a filter, it omits production sessions without results. */
  listed: number;
  /** Those with a failed eval. */
  failed: number;
}

/** Creates the store of the counts that the pages show. The interface has no endpoint for them. */
export function createOverviewStore({ reader }: Connections) {
  return {
    async count(ownerId: string): Promise<OwnerCounts> {
      const conversations = reader(ownerId)
        .selectFrom('conversations')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('owner_id', '=', ownerId);
      const [open, unscored, evaluating, production, simulation] = await Promise.all([
        conversations.where('state', '=', sql.lit('open')).executeTakeFirstOrThrow(),
        conversations.where(isUnscored).executeTakeFirstOrThrow(),
        reader(ownerId)
          .selectFrom('jobs')
          .select(({ fn }) => fn.count<number>('session_key').distinct().as('count'))
          .where('state', '<>', sql.lit('done'))
          .where('owner_id', '=', ownerId)
          .executeTakeFirstOrThrow(),
        countSessions(reader(ownerId), ownerId, 'production'),
        countSessions(reader(ownerId), ownerId, 'simulation'),
      ]);
      return {
        openConversations: open.count,
        unscoredConversations: unscored.count,
        evaluatingSessions: evaluating.count,
        production,
        simulation,
      };
    },
  };
}

/** Counts the sessions of one kind. */
async function countSessions(
  reader: Reader,
  ownerId: string,
  kind: SessionKind,
): Promise<SessionCounts> {
  const [stored, uncounted] = await Promise.all([
    reader
      .selectFrom('session_counts')
      .select(({ fn }) => [
        fn.sum<number | null>('sessions').as('total'),
        fn.sum<number | null>('scored').as('scored'),
        fn.sum<number | null>('failed').as('failed'),
      ])
      .where('owner_id', '=', ownerId)
      .where('kind', '=', kind)
      .executeTakeFirstOrThrow(),
    reader
      .selectFrom('sessions')
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .select(sql<number>`count(*) filter (where total > 0)`.as('scored'))
      .select(sql<number>`count(*) filter (where failed > 0)`.as('failed'))
      .where('owner_id', '=', ownerId)
      .where('kind', '=', kind)
      .where('eval_set_key', 'is', null)
      .executeTakeFirstOrThrow(),
  ]);
  const total = (stored.total ?? 0) + uncounted.total;
  return {
    total,
    listed: kind === 'simulation' ? total : (stored.scored ?? 0) + uncounted.scored,
    failed: (stored.failed ?? 0) + uncounted.failed,
  };
}
