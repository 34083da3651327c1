import type { FastifyInstance } from 'fastify';
import { isoTime, type Clock } from '../../platform/clock.ts';
import { formatCount } from '../../report-kit/format.ts';
import type { Backlog } from '../operations/backlog.ts';
import { RequestError } from '../requests/errors.ts';
import type { Store } from '../store/store.ts';
import type { RequestOwners } from './request-owners.ts';

export interface WorkOptions {
  store: Store;
  clock: Clock;
  /** Starts scoring what was queued. */
  wake: () => void;
  backlog: Backlog;
  /** Limits how long a drain may take in real time, even if the service clock was moved. */
  machineClock: Clock;
  owners: RequestOwners;
  /** Resolves when nothing is queued or running. */
  drain: () => Promise<void>;
  /** Returns whether simulations are running. */
  isSimulating: () => boolean;
}

const DRAIN_TIMEOUT_MS = 120_000;

/** `/drain` and `/score-backlog`: waits for queued work, and queues what was never scored. */
export function addWorkRoutes(app: FastifyInstance, options: WorkOptions): void {
  app.post('/drain', () => drain(options));
  app.post('/score-backlog', async (request) =>
    options.backlog.score(await options.owners.find(request)),
  );
}

/** Waits until nothing is queued or running. @throws RequestError `busy` after two minutes. */
export async function drain(
  options: Pick<WorkOptions, 'clock' | 'machineClock' | 'wake' | 'drain' | 'isSimulating'> & {
    store: { jobs: Pick<Store['jobs'], 'getBacklog'> };
  },
): Promise<{ drained: true }> {
  const { store, clock, machineClock } = options;
  options.wake();
  using deadline = machineClock.deadline(DRAIN_TIMEOUT_MS);
  await Promise.race([options.drain(), untilAborted(deadline.signal)]);
  const { count, nextDueAtMs = 0 } = await store.jobs.getBacklog();
  if (!deadline.signal.aborted || (count === 0 && !options.isSimulating()))
    return { drained: true };
  const left = options.isSimulating()
    ? 'simulations are still running'
    : `${formatCount(count, 'eval')} ${count === 1 ? 'is' : 'are'} still not scored`;
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
