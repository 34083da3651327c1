import type { EvalDefinition } from '../../contract/index.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import { yieldPeriodically } from '../../platform/event-loop.ts';
import { forgetOldest } from '../../platform/forget-oldest.ts';
import type { Log } from '../../platform/log.ts';
import { findLiveEvals } from '../evals/definitions.ts';
import { RequestError, toRequestError } from '../requests/errors.ts';
import type { Store } from '../store/store.ts';
import { pauseForWriter } from '../background/writer-pause.ts';

export interface BacklogOptions {
  store: Store;
  clock: Clock;
  log: Log;
  makeSessionId: (ownerId: string, conversationId: string) => string;
  /** Starts scoring what was queued. */
  wake: () => void;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

/** What was queued. */
export interface ScoredBacklog {
  conversations: number;
  evaluations_queued: number;
  /** Names of the runs, sorted. */
  runs: string[];
}

/** The newest time that an owner's backlog was queued. */
export interface BacklogProgress extends ScoredBacklog {
  isRunning: boolean;
  /** Why it ended early. */
  problem: string | undefined;
}

/** Queues the evals of conversations that were closed while no evals were configured (spec 3.1). */
export interface Backlog {
  /**
   * Starts to queue the evals of an owner's conversations, each in the run of its date, unless that is
   * under way. @throws RequestError `conflict` when there are still no evals.
   */
  start(ownerId: string): Promise<void>;
  /** Like `start`, and returns what was queued when all is. @throws RequestError. */
  score(ownerId: string): Promise<ScoredBacklog>;
  /** Returns undefined if nothing was started since the service started. */
  find(ownerId: string): BacklogProgress | undefined;
  /** Resolves when nothing is under way. */
  drain(): Promise<void>;
  /** Forgets what has ended. */
  clear(): void;
}

/** The progress of queueing, which changes until it has ended. */
interface Job {
  conversations: number;
  queued: number;
  runs: Set<string>;
  isRunning: boolean;
  error?: RequestError;
  ended: Promise<void>;
}

/** Conversations that are queued between two pauses. */
const BATCH = 100;
/** Other requests are served at least this often. */
const SLICE_MS = 20;
// Five million conversations. For more, the operation is repeated.
const BATCHES_MAX = 50_000;
/** The owners whose progress is known. With more, the oldest is forgotten. */
const JOBS_MAX = 1_000;

/** Creates the backlog of a service. */
export function createBacklog(options: BacklogOptions): Backlog {
  const { store, log, wake, stopping } = options;
  const jobs = new Map<string, Job>();

  const queueAll = async (ownerId: string, job: Job): Promise<void> => {
    const yieldToOthers = yieldPeriodically(systemClock, SLICE_MS);
    for (let batch = 0; batch < BATCHES_MAX && !stopping.aborted; batch += 1) {
      const evals = await findEvals(store, ownerId);
      const ids = await store.conversations.listUnscored(ownerId, BATCH);
      const before = job.conversations;
      for (const conversationId of ids) {
        await queueOne(options, { ownerId, conversationId, evals }, job);
        await yieldToOthers();
      }
      if (job.queued > 0) wake();
      if (ids.length < BATCH || job.conversations === before) return;
      await pauseForWriter();
    }
  };
  const start = async (ownerId: string): Promise<Job> => {
    await findEvals(store, ownerId);
    const known = jobs.get(ownerId);
    if (known?.isRunning === true) return known;
    const job: Job = {
      conversations: 0,
      queued: 0,
      runs: new Set(),
      isRunning: true,
      ended: Promise.resolve(),
    };
    job.ended = queueAll(ownerId, job)
      .catch((error: unknown) => {
        job.error = toRequestError(error);
        log.error('backlog_failed', { owner: ownerId, code: job.error.code });
      })
      .finally(() => (job.isRunning = false));
    jobs.delete(ownerId);
    jobs.set(ownerId, job);
    forgetOldest(jobs, JOBS_MAX);
    return job;
  };
  return {
    async start(ownerId) {
      await start(ownerId);
    },
    async score(ownerId) {
      const job = await start(ownerId);
      await job.ended;
      if (job.error) throw job.error;
      return toScored(job);
    },
    find(ownerId) {
      const job = jobs.get(ownerId);
      if (!job) return undefined;
      return { ...toScored(job), isRunning: job.isRunning, problem: job.error?.message };
    },
    async drain() {
      await Promise.all([...jobs.values()].map(({ ended }) => ended));
    },
    clear() {
      for (const [ownerId, { isRunning }] of jobs) if (!isRunning) jobs.delete(ownerId);
    },
  };
}

const toScored = ({ conversations, queued, runs }: Job): ScoredBacklog => ({
  conversations,
  evaluations_queued: queued,
  runs: [...runs].sort(),
});

/** Returns the evals that score conversations. @throws RequestError `conflict` if no eval is chosen. */
async function findEvals(store: Store, ownerId: string): Promise<EvalDefinition[]> {
  const { evals } = await findLiveEvals(store, ownerId);
  if (evals.length > 0) return evals;
  throw new RequestError(
    'conflict',
    'No evals are configured. Choose some on the page /settings, or with PUT /__admin/settings.',
  );
}

/** Queues the evals of a conversation, unless that has happened meanwhile. */
async function queueOne(
  { store, clock, makeSessionId }: BacklogOptions,
  conversation: { ownerId: string; conversationId: string; evals: EvalDefinition[] },
  job: Job,
): Promise<void> {
  const { ownerId, conversationId } = conversation;
  const sessionId = makeSessionId(ownerId, conversationId);
  const request = { ...conversation, atMs: clock.nowMs(), sessionId };
  const scored = await store.conversations.queueScoring(request);
  if (!scored) return;
  job.runs.add(scored.run);
  job.conversations += 1;
  job.queued += scored.queued;
}
