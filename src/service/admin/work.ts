import type { FastifyInstance } from 'fastify';
import { isoTime, systemClock, type Clock } from '../../platform/clock.ts';
import { RequestError } from '../domain/errors.ts';
import { findLiveEvals } from '../domain/evals.ts';
import { storeSearchText } from '../domain/search-text.ts';
import type { Store } from '../store/store.ts';
import type { Owners } from './owners.ts';

export interface WorkOptions {
  store: Store;
  clock: Clock;
  /** Clock for the drain timeout (default: the system clock). */
  machineClock?: Clock;
  owners: Owners;
  makeSessionId: (ownerId: string, conversationId: string) => string;
  /** Starts scoring what was queued. */
  wake: () => void;
  /** Resolves when nothing is queued or running. */
  drain: () => Promise<void>;
  /** Returns whether simulations are running. */
  isSimulating: () => boolean;
}

const BACKLOG_BATCH = 100;
// Five million conversations. For more, the route is called again.
const BACKLOG_BATCHES_MAX = 50_000;
const DRAIN_TIMEOUT_MS = 120_000;

/** `/drain` and `/score-backlog`: waits for queued work, and queues what was never scored. */
export function addWorkRoutes(app: FastifyInstance, options: WorkOptions): void {
  app.post('/drain', () => drain(options));
  app.post('/score-backlog', async (request) =>
    scoreBacklog(options, await options.owners.find(request)),
  );
}

/** Waits until nothing is queued or running. @throws RequestError `busy` after two minutes. */
export async function drain(
  options: Pick<WorkOptions, 'clock' | 'machineClock' | 'wake' | 'drain' | 'isSimulating'> & {
    store: { jobs: Pick<Store['jobs'], 'getBacklog'> };
  },
): Promise<{ drained: true }> {
  const { store, clock, machineClock = systemClock } = options;
  options.wake();
  // Callers wait in real time, whatever the service clock shows.
  using deadline = machineClock.deadline(DRAIN_TIMEOUT_MS);
  await Promise.race([options.drain(), untilAborted(deadline.signal)]);
  const { count, nextDueAtMs = 0 } = await store.jobs.getBacklog();
  if (!deadline.signal.aborted || (count === 0 && !options.isSimulating()))
    return { drained: true };
  const left = options.isSimulating()
    ? 'simulations are still running'
    : `${count} evals are still not scored`;
  const due =
    nextDueAtMs > clock.nowMs()
      ? `. The next one is due at ${isoTime(nextDueAtMs)} on the service clock. Advance it with POST /__admin/clock`
      : '';
  throw new RequestError('busy', `After ${DRAIN_TIMEOUT_MS} ms, ${left}${due}.`);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Queues the evals of every conversation that was closed while no evals were configured, each in the
 * run of its own date (spec 3.1). @throws RequestError `conflict` when there are still no evals.
 */
async function scoreBacklog(
  { store, clock, makeSessionId, wake }: WorkOptions,
  ownerId: string,
): Promise<{ conversations: number; evaluations_queued: number; runs: string[] }> {
  const { evals } = await findLiveEvals(store.evals, ownerId);
  if (evals.length === 0) {
    throw new RequestError(
      'conflict',
      'No evals are configured. Choose some with PUT /__admin/settings.',
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
