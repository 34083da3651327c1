import type { FastifyInstance } from 'fastify';
import { brief } from '../../contract/index.ts';
import { isoTime, systemClock, type Clock } from '../../platform/clock.ts';
import { RequestError } from '../domain/errors.ts';
import { findLiveEvals } from '../domain/evals.ts';
import type { Store } from '../store/store.ts';
import type { Owners } from './owners.ts';

/** What work is looked after with. */
export interface WorkDeps {
  store: Store;
  clock: Clock;
  /** The machine's clock, unless given. */
  machineClock?: Clock;
  owners: Owners;
  sessionIdOf: (ownerId: string, conversationId: string) => string;
  wake: () => void;
  /** Resolves when nothing is queued or running. */
  drain: () => Promise<void>;
  cancelSimulation: (ownerId: string, id: string) => Promise<unknown>;
  /** Whether simulated users are talking. */
  isTalking: () => boolean;
}

const backlogBatch = 100;
// Some millions of conversations; who has more calls again.
const backlogBatchesMax = 50_000;
const drainMsMax = 120_000;

/** `/drain`, `/score-backlog`, `/simulations/{id}`: what is queued, what never was, what goes. */
export function workRoutes(app: FastifyInstance, deps: WorkDeps): void {
  const { owners, store } = deps;
  app.post('/drain', () => drain(deps));
  app.post('/score-backlog', async (request) => scoreBacklog(deps, await owners.find(request)));
  app.delete<{ Params: { id: string } }>('/simulations/:id', async (request) => {
    const { id } = request.params;
    const ownerId = await owners.find(request);
    await deps.cancelSimulation(ownerId, id);
    if (!(await store.sessions.deleteSimulation(ownerId, id))) {
      throw new RequestError('not_found', `there is no simulation ${brief(id)}`);
    }
    return { deleted: id };
  });
}

/** Waits for all that is queued or running. @throws RequestError `busy` after two minutes. */
export async function drain(
  deps: Pick<WorkDeps, 'clock' | 'machineClock' | 'wake' | 'drain' | 'isTalking'> & {
    store: { jobs: Pick<Store['jobs'], 'getBacklog'> };
  },
): Promise<{ drained: true }> {
  const { store, clock, machineClock = systemClock } = deps;
  deps.wake();
  // Who waits for it waits in real time, wherever the service's clock stands or is moved.
  using deadline = machineClock.deadline(drainMsMax);
  await Promise.race([deps.drain(), aborted(deadline.signal)]);
  const { count, nextDueAtMs = 0 } = await store.jobs.getBacklog();
  if (!deadline.signal.aborted || (count === 0 && !deps.isTalking())) return { drained: true };
  const left = deps.isTalking()
    ? 'simulated users are talking'
    : `${count} evals are still to be scored`;
  const due =
    nextDueAtMs > clock.nowMs()
      ? `, the next at ${isoTime(nextDueAtMs)} by the clock of the service; move it on with /clock`
      : '';
  throw new RequestError('busy', `after ${drainMsMax} ms ${left}${due}`);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Scores every conversation that was closed while no evals were configured, each in the run of its
 * own date (spec 3.1). @throws RequestError `conflict` while there are still none.
 */
async function scoreBacklog(
  { store, clock, sessionIdOf, wake }: WorkDeps,
  ownerId: string,
): Promise<{ conversations: number; evaluations_queued: number; runs: string[] }> {
  const { evals } = await findLiveEvals(store.evals, ownerId);
  if (evals.length === 0) {
    throw new RequestError(
      'conflict',
      'no evals are configured; pick some with PUT /__admin/settings',
    );
  }
  const runs = new Set<string>();
  let [conversations, queued] = [0, 0];
  for (let batch = 0; batch < backlogBatchesMax; batch += 1) {
    const ids = await store.conversations.listUnscored(ownerId, backlogBatch);
    for (const conversationId of ids) {
      const atMs = clock.nowMs();
      const sessionId = sessionIdOf(ownerId, conversationId);
      const scored = await store.conversations.queueScoring({
        ownerId,
        conversationId,
        atMs,
        evals,
        sessionId,
      });
      if (!scored) continue;
      runs.add(scored.run);
      conversations += 1;
      queued += scored.queued;
    }
    if (ids.length < backlogBatch) break;
  }
  if (queued > 0) wake();
  return { conversations, evaluations_queued: queued, runs: [...runs].sort() };
}
