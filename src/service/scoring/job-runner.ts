/**
 * Works off the queue of scoring jobs. States of a leased job:
 *
 *     waiting  -> scoring    immediately; an eval that waits for a model or a thread needs a free slot
 *     scoring  -> finished   it has a score, possibly `error`
 *     scoring  -> released   it threw and has attempts left; due again after a delay
 *     any      -> released   the runner stops; due again immediately
 *
 * Job leases expire on the service clock, so a test can expire them by advancing it. Scoring timeouts and the
 * shutdown timeout use the system clock because they measure real work. A worker can still lose its lease
 * while it runs (for example, after its machine slept); the store therefore accepts an outcome only from the
 * current lease holder (fencing token).
 */
import { limitSignal } from '../../platform/abort.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import { yieldPeriodically } from '../../platform/event-loop.ts';
import type { Log } from '../../platform/log.ts';
import { createDatabaseRetry, type DatabaseRetry } from '../background/database-retry.ts';
import type { Store } from '../store/store.ts';
import { UnreadableConversationError } from '../turns/turn-builder.ts';
import type { ErroredEvals } from './errored-evals.ts';
import { scoreSession } from './eval-kinds.ts';
import { isSlow, LeasedJobs, type LeasedJob } from './leased-jobs.ts';
import {
  SharedSessions,
  type HoldMemory,
  type ReadSession,
  type ReadSessions,
} from './shared-sessions.ts';
import { createOutcomeWriter, type WriteOutcome } from './outcome-writer.ts';
import { createErrorScore, SCORING_MS_MAX, toOutcome, type Judge, type Score } from './score.ts';
import type { Counter } from '../background/metrics.ts';

/** How long a lease lasts unless it is renewed. */
const LEASE_MS = 60_000;

/** Delays before the retries of a scoring that threw. After the last one the outcome is `error`. */
const BACKOFF_MS = [1_000, 5_000] as const;

/** After this many attempts, a job that never ends is assumed to kill its process. */
const ATTEMPTS_MAX = 10;

/** Leased jobs per slot: enough to get past a slow session. */
const LEASES_PER_SLOT = 16;

/** How long rounds may run before other work gets its turn. */
const ROUNDS_MS_MAX = 10;

/** How long `stop` waits for running scorings. */
const STOP_MS_MAX = 5_000;

/** Minimum pause between two rounds, and the pause after the store failed. */
const PAUSE_MS_MIN = 50;
const STORE_FAILED_PAUSE_MS = 1_000;

/** Pauses between two looks at a queue that other processes share: while idle, and while draining. */
const POLL_MS = 1_000;
const DRAIN_POLL_MS = 100;

/** What a runner needs. */
export interface JobRunnerOptions {
  store: Pick<Store, 'jobs'>;
  readSession: ReadSession;
  /** Reads sessions in groups, except those that have to be read alone. Default: reads all alone. */
  readSessions?: ReadSessions;
  /** Waits until there is memory for a session. */
  holdMemory?: HoldMemory;
  judge: Judge | undefined;
  /** Called with each outcome that is an error, after it was written. */
  erroredEvals?: Pick<ErroredEvals, 'report'>;
  /** Counts the jobs that this runner finished. */
  finished?: Pick<Counter, 'add'>;
  /** The service clock: when jobs are due and leases end. */
  clock: Clock;
  /** Default: the system clock. */
  machineClock?: Clock;
  log: Log;
  /** A name that no other process has. */
  worker: string;
  /** Whether other processes work on the same queue. The runner then polls it in real time. */
  isShared?: boolean;
  /** Number of slots for evals that wait for a model or a thread. Default: 4. */
  concurrency?: number;
}

/** A running job runner. */
export interface JobRunner {
  /** Looks at the queue immediately. Call it after queuing jobs. */
  wake(): void;
  /** Resolves when nothing is queued or leased. Rejects if the runner stops first. */
  drain(): Promise<void>;
  /** Takes no more jobs, finishes what it can within 5 s, and releases the rest. */
  stop(): Promise<void>;
}

/** Starts to work off the queue. First releases what a dead process still leases. */
export function startJobRunner(options: JobRunnerOptions): JobRunner {
  const runner = new QueueRunner(options);
  runner.start();
  return runner;
}

class QueueRunner implements JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #slots: number;
  readonly #machineClock: Clock;
  readonly #leased: LeasedJobs;
  readonly #writeOutcome: WriteOutcome;
  readonly #sessions: SharedSessions;
  readonly #database: DatabaseRetry;
  readonly #scorings = new Set<Promise<void>>();
  #drains: PromiseWithResolvers<undefined>[] = [];
  #alarm = new AbortController();
  #loop: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    this.#slots = options.concurrency ?? 4;
    this.#machineClock = options.machineClock ?? systemClock;
    const { store, worker, clock } = options;
    this.#writeOutcome = createOutcomeWriter({ jobs: store.jobs, worker, clock });
    this.#database = createDatabaseRetry(options, 'job_runner');
    this.#sessions = new SharedSessions(options.readSession, options.holdMemory);
    this.#leased = new LeasedJobs({
      jobs: store.jobs,
      worker,
      leaseMs: LEASE_MS,
      slowMax: this.#slots * LEASES_PER_SLOT,
    });
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  wake(): void {
    this.#alarm.abort();
  }

  async drain(): Promise<void> {
    if (this.#stopping) throw new Error('The job runner has stopped.');
    const drained = Promise.withResolvers<undefined>();
    this.#drains.push(drained);
    this.wake();
    await drained.promise;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    await Promise.resolve();
    this.wake();
    await this.#loop;
    const waiting = this.#leased.list().filter(({ isScoring }) => !isScoring);
    await Promise.all(waiting.map((leased) => this.#release(leased, 0)));
    const ended = new AbortController();
    const scorings = Promise.allSettled(this.#scorings).then(() => ended.abort());
    await pause(this.#machineClock, STOP_MS_MAX, ended.signal);
    for (const { control } of this.#leased.list())
      control.abort(new Error('The job runner stops.'));
    await scorings;
    for (const { reject } of this.#drains) reject(new Error('The job runner has stopped.'));
  }

  async #run(): Promise<void> {
    const { store, clock, log } = this.#options;
    const yieldToOthers = yieldPeriodically(this.#machineClock, ROUNDS_MS_MAX);
    let areLeasesFreed = false;
    while (!this.#stopping) {
      this.#alarm = new AbortController();
      let pauseMs: number | undefined;
      let pauseClock = clock;
      try {
        if (!areLeasesFreed) {
          log.info('leases_freed', { count: await store.jobs.releaseAll(clock.nowMs()) });
        }
        areLeasesFreed = true;
        pauseMs = await this.#runRound();
        this.#database.reportSuccess();
      } catch (error) {
        if (this.#database.report(error)) pauseClock = this.#machineClock;
        else log.error('job_store_failed', { ...errorOrigin(error) });
        pauseMs = STORE_FAILED_PAUSE_MS;
      }
      await this.#pause(pauseClock, pauseMs);
      await yieldToOthers();
    }
  }

  /** Ends early when other processes may have changed the queue. */
  async #pause(clock: Clock, ms: number | undefined): Promise<void> {
    const alarm = this.#alarm;
    if (this.#options.isShared !== true) return pause(clock, ms, alarm.signal);
    const pollMs = this.#drains.length > 0 ? DRAIN_POLL_MS : POLL_MS;
    await Promise.race([
      pause(clock, ms, alarm.signal),
      pause(this.#machineClock, pollMs, alarm.signal),
    ]);
    // Ends the other pause, too.
    alarm.abort();
  }

  /** Takes and starts due jobs. Returns how long to pause; undefined means until `wake`. */
  async #runRound(): Promise<number | undefined> {
    const { store, clock } = this.#options;
    await this.#leased.take(clock.nowMs());
    if (!this.#stopping) this.#startWaiting();
    const nextDueAtMs = await store.jobs.findNextDueAtMs();
    if (nextDueAtMs === undefined && this.#leased.size === 0) {
      if (!this.#alarm.signal.aborted) {
        for (const { resolve } of this.#drains.splice(0)) resolve(undefined);
      }
      return undefined;
    }
    // With no free lease, the end of a scoring wakes the loop.
    const dueMs = this.#leased.isFull ? Infinity : (nextDueAtMs ?? Infinity);
    const nextMs = Math.min(dueMs, this.#leased.findRenewalAtMs() ?? Infinity);
    return Math.min(LEASE_MS, Math.max(PAUSE_MS_MIN, nextMs - clock.nowMs()));
  }

  #startWaiting(): void {
    const all = this.#leased.list();
    const running = all.filter(({ isScoring, job }) => isScoring && isSlow(job));
    const quick: LeasedJob[] = [];
    for (const leased of all) {
      if (leased.isScoring) continue;
      if (isSlow(leased.job)) {
        if (!hasFreeSlot(leased, running, this.#slots)) continue;
        running.push(leased);
        this.#start(this.#work(leased));
      } else quick.push(leased);
      leased.isScoring = true;
    }
    for (const [ownerId, ofOwner] of Map.groupBy(quick, ({ job }) => job.ownerId)) {
      this.#start(this.#workTogether(ownerId, ofOwner));
    }
  }

  #start(scoring: Promise<void>): void {
    const ended = scoring.finally(() => {
      this.#scorings.delete(ended);
      this.wake();
    });
    this.#scorings.add(ended);
  }

  /** Scores jobs of one owner that need no slot, with sessions that are read together. */
  async #workTogether(ownerId: string, jobs: readonly LeasedJob[]): Promise<void> {
    const { readSessions, judge, log } = this.#options;
    const alone = new Set(jobs);
    const working: Promise<void>[] = [];
    const together = jobs.filter(({ job }) => job.attempt <= ATTEMPTS_MAX);
    const bySession = Map.groupBy(together, ({ job }) => job.sessionId);
    const yieldToOthers = yieldPeriodically(this.#machineClock, ROUNDS_MS_MAX);
    try {
      for await (const sessions of readSessions?.(ownerId, [...bySession.keys()]) ?? []) {
        for (const session of sessions) {
          for (const leased of bySession.get(session.sessionId) ?? []) {
            const { job, control } = leased;
            const score = () => scoreSession(job.definition, session, judge, control.signal);
            working.push(this.#work(leased, score));
            alone.delete(leased);
          }
          await yieldToOthers();
        }
      }
    } catch (error) {
      // Reading them alone finds out which one is the cause, and repeats it.
      log.info('sessions_read_alone', { ...errorOrigin(error) });
    }
    working.push(...Array.from(alone, (leased) => this.#work(leased)));
    await Promise.all(working);
  }

  async #work(
    leased: LeasedJob,
    score: () => Promise<Score> = () => this.#score(leased),
  ): Promise<void> {
    try {
      const { signal } = leased.control;
      const result = await this.#database.retry(score, signal);
      await this.#database.retry(() => this.#finish(leased, result), signal);
    } catch (error) {
      await this.#handleFailure(leased, error);
    }
    this.#leased.drop(leased);
  }

  /** Ends with the abort or the time limit, even if the scoring ignores both. */
  async #score({ job, control }: LeasedJob): Promise<Score> {
    const { judge } = this.#options;
    if (job.attempt > ATTEMPTS_MAX)
      return createUnendedScore(`was started ${ATTEMPTS_MAX} times and`);
    using shared = this.#sessions.open(job.ownerId, job.sessionId);
    await waitUnlessAborted(shared.hasMemory, control.signal);
    using limit = limitSignal(this.#machineClock, SCORING_MS_MAX, control.signal);
    const score = async (): Promise<Score> => {
      const session = await shared.read().catch((error: unknown) => {
        if (error instanceof UnreadableConversationError) return error;
        throw error;
      });
      if (session instanceof UnreadableConversationError) return createErrorScore(session.message);
      if (!session) return createErrorScore('The session or its spans no longer exist.');
      return await scoreSession(job.definition, session, judge, limit.signal);
    };
    const canceled = Promise.withResolvers<Score>();
    limit.signal.addEventListener('abort', () => {
      if (limit.isOver())
        canceled.resolve(createUnendedScore(`took more than ${SCORING_MS_MAX / 1000} s and`));
      else canceled.reject(control.signal.reason);
    });
    // Listed first: an aborted judge also returns a score, which is not an outcome.
    return await Promise.race([canceled.promise, score()]);
  }

  async #handleFailure(leased: LeasedJob, error: unknown): Promise<void> {
    const { job, control } = leased;
    const origin = errorOrigin(error);
    this.#options.log.warn('scoring_failed', {
      job: job.id,
      eval: job.definition.id,
      attempt: job.attempt,
      ...origin,
    });
    const delayMs = BACKOFF_MS[job.attempt - 1];
    if (control.signal.aborted) await this.#release(leased, 0);
    else if (delayMs !== undefined) await this.#release(leased, delayMs);
    else {
      const reason = `Scoring failed ${job.attempt} times (${origin.error}). This is a bug in the service.`;
      await this.#tryFinish(leased, createErrorScore(reason));
    }
  }

  async #finish(leased: LeasedJob, score: Score): Promise<void> {
    const { log, erroredEvals } = this.#options;
    const { job } = leased;
    if (await this.#writeOutcome({ job, outcome: toOutcome(job.definition, score) })) {
      this.#options.finished?.add(score.outcome);
      if (score.outcome === 'error') await erroredEvals?.report(job, score.reasoning);
      return;
    }
    // Another worker may have taken the job, and this one may have got it back in the meantime.
    if (leased.job !== job) await this.#finish(leased, score);
    else log.info('job_overtaken', { job: job.id, attempt: job.attempt });
  }

  /** If the store fails here, the lease expires and the job is taken again. */
  async #tryFinish(leased: LeasedJob, score: Score): Promise<void> {
    try {
      await this.#finish(leased, score);
    } catch (error) {
      this.#options.log.error('job_store_failed', { job: leased.job.id, ...errorOrigin(error) });
    }
  }

  async #release(leased: LeasedJob, delayMs: number): Promise<void> {
    const { store, worker, clock, log } = this.#options;
    const { job } = leased;
    // Dropped before the store releases it, so that it can be taken again as a new lease.
    this.#leased.drop(leased);
    try {
      await store.jobs.release(worker, job, clock.nowMs() + delayMs);
    } catch (error) {
      if (this.#database.report(error)) return;
      log.error('job_store_failed', { job: job.id, ...errorOrigin(error) });
    }
  }
}

/** Returns whether a job may start. One session never takes the last slot, however many jobs it has. */
function hasFreeSlot({ job }: LeasedJob, running: readonly LeasedJob[], slots: number): boolean {
  if (running.length >= slots) return false;
  const ofSession = running.filter(
    (other) => other.job.sessionId === job.sessionId && other.job.ownerId === job.ownerId,
  );
  return ofSession.length < Math.max(1, slots - 1);
}

/** Waits for a promise. Rejects with the reason of the signal if it aborts first. */
async function waitUnlessAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Resolves after a time or when the signal aborts; without a time, only when the signal aborts. */
async function pause(clock: Clock, ms: number | undefined, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const aborted = Promise.withResolvers<undefined>();
  signal.addEventListener('abort', () => aborted.resolve(undefined), { once: true });
  const elapsed = ms === undefined ? aborted.promise : clock.sleep(ms, signal);
  await Promise.race([elapsed.catch(() => undefined), aborted.promise]);
}

const createUnendedScore = (what: string): Score =>
  createErrorScore(`Scoring ${what} never ended. This is a bug in the service.`);
