import type { Clock } from '../../platform/clock.ts';
import { RequestError } from '../domain/errors.ts';
import { findLiveEvals } from '../domain/evals.ts';
import { storeSearchText } from '../domain/search-text.ts';
import type { Store } from '../store/store.ts';

export interface BacklogOptions {
  store: Store;
  clock: Clock;
  makeSessionId: (ownerId: string, conversationId: string) => string;
  /** Starts scoring what was queued. */
  wake: () => void;
}

/** What was queued. */
export interface ScoredBacklog {
  conversations: number;
  evaluations_queued: number;
  /** Names of the runs, sorted. */
  runs: string[];
}

const BACKLOG_BATCH = 100;
// Five million conversations. For more, the operation is repeated.
const BACKLOG_BATCHES_MAX = 50_000;

/**
 * Queues the evals of every conversation that was closed while no evals were configured, each in the
 * run of its date (spec 3.1). @throws RequestError `conflict` when there are still no evals.
 */
export async function scoreBacklog(
  { store, clock, makeSessionId, wake }: BacklogOptions,
  ownerId: string,
): Promise<ScoredBacklog> {
  const { evals } = await findLiveEvals(store.evals, ownerId);
  if (evals.length === 0) {
    throw new RequestError(
      'conflict',
      'No evals are configured. Choose some on the page /settings, or with PUT /__admin/settings.',
    );
  }
  const runs = new Set<string>();
  let [conversations, queued] = [0, 0];
  for (let batch = 0; batch < BACKLOG_BATCHES_MAX; batch += 1) {
    const ids = await store.conversations.listUnscored(ownerId, BACKLOG_BATCH);
    for (const conversationId of ids) {
      const atMs = clock.nowMs();
      const sessionId = makeSessionId(ownerId, conversationId);
      const scored = await store.conversations.queueScoring({
        ownerId,
        conversationId,
        atMs,
        evals,
        sessionId,
      });
      if (!scored) continue;
      await storeSearchText(store, { ownerId, conversationId }, sessionId);
      runs.add(scored.run);
      conversations += 1;
      queued += scored.queued;
    }
    if (ids.length < BACKLOG_BATCH) break;
  }
  if (queued > 0) wake();
  return { conversations, evaluations_queued: queued, runs: [...runs].sort() };
}
