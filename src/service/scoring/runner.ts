import { errorOrigin } from '../../platform/error-origin.ts';
/**
 * Works off the queue of jobs. A job that is taken is *held*; what moves it:
 *
 *     waiting  -> scoring   at once; an eval that others answer, when a place is free, and its
 *                           session does not have too many already
 *     scoring  -> finished  it has a score, be it `error`
 *     scoring  -> given back, due later: it threw, and has attempts left
 *     any      -> given back, due now: the runner stops
 *
 * Leases are on the service's clock, so that what a dead process held is free when that clock says
 * so. How long a scoring and a stop may take is on the machine's: they take real time, wherever the
 * service's clock stands. Whoever holds a job may be overtaken still (its machine slept), so the
 * store fences: only the latest holder's outcome is written.
 */
import { yieldPeriodically } from '../../platform/event-loop.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Store } from '../store/store.ts';
import type { ErroredEvals } from './errored-evals.ts';
import { finishInGroups, type Finish } from './finish-groups.ts';
import { HeldJobs, type Held } from './held-jobs.ts';
import { outcomeOf } from './outcome.ts';
import { hasPlace, isSlow } from './places.ts';
import { rest } from './rest.ts';
import { scoreSession } from './score-session.ts';
import { unscored, type Judge, type Score } from './score.ts';
import { sharedReading, type ReadSession } from './shared-sessions.ts';

/** How long a job is held before another runner may take it, unless the lease is renewed. */
const leaseMs = 60_000;

/** The waits after a scoring that threw; when they are used up, the outcome is `error`. */
const backoffMs = [1_000, 5_000] as const;

/** A job that was taken so often and never came to an end kills its process. */
const takesMax = 10;

/** How long a scoring may take: longer than the judge, than a pattern, than any that ends. */
const scoringMsMax = 120_000;

/**
 * Jobs held for each place to score in: enough to pass by a session that is slow, and to write the
 * outcomes of many at once.
 */
const heldPerPlace = 16;

/** How long the rounds may go on before everything else has its turn. */
const roundsMsMax = 10;

/** How long `stop` waits for what is being scored. */
const stopMsMax = 5_000;

/** The shortest rest between two looks at the queue, and the one after the store failed. */
const restMsMin = 50;
const storeFailedRestMs = 1_000;

/** What a runner needs. */
export interface RunnerOptions {
  store: Pick<Store, 'jobs'>;
  sessionOf: ReadSession;
  judge: Judge | undefined;
  /** Told of each outcome that is an error, once it is written. */
  errored?: Pick<ErroredEvals, 'tell'>;
  /** The service's clock: when jobs are due, when leases end. */
  clock: Clock;
  /** The machine's clock, unless given. */
  machineClock?: Clock;
  log: Log;
  /** A name that no other process has. */
  worker: string;
  /** Scorings at once of evals that others answer; 4 when left out. */
  concurrency?: number;
}

/** A runner that has been started. */
export interface Runner {
  /** Looks at the queue at once. To be called when jobs were queued. */
  wake(): void;
  /** Resolves when nothing is queued or held; rejects when the runner stops before that. */
  drain(): Promise<void>;
  /** Takes nothing more, finishes what it can within 5 s, and gives back the rest. */
  stop(): Promise<void>;
}

/** Starts to work off the queue. First frees what a process that died still holds. */
export function startRunner(options: RunnerOptions): Runner {
  const runner = new JobRunner(options);
  runner.start();
  return runner;
}

class JobRunner implements Runner {
  readonly #options: RunnerOptions;
  readonly #places: number;
  readonly #machineClock: Clock;
  readonly #held: HeldJobs;
  readonly #finishHeld: Finish;
  readonly #sessionOf: ReadSession;
  readonly #scorings = new Set<Promise<void>>();
  #drains: PromiseWithResolvers<undefined>[] = [];
  #alarm = new AbortController();
  #loop: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#places = options.concurrency ?? 4;
    this.#machineClock = options.machineClock ?? systemClock;
    const { store, worker, clock } = options;
    this.#finishHeld = finishInGroups({ jobs: store.jobs, worker, clock });
    this.#sessionOf = sharedReading(options.sessionOf);
    this.#held = new HeldJobs({ jobs: store.jobs, worker, leaseMs });
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  wake(): void {
    this.#alarm.abort();
  }

  async drain(): Promise<void> {
    if (this.#stopped) throw new Error('the runner has stopped');
    const drained = Promise.withResolvers<undefined>();
    this.#drains.push(drained);
    this.wake();
    await drained.promise;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    await Promise.resolve();
    this.wake();
    await this.#loop;
    const waiting = this.#held.all().filter(({ scoring }) => !scoring);
    await Promise.all(waiting.map((held) => this.#giveBack(held, 0)));
    const ended = new AbortController();
    const scorings = Promise.allSettled(this.#scorings).then(() => ended.abort());
    await rest(this.#machineClock, stopMsMax, ended.signal);
    for (const { control } of this.#held.all()) control.abort(new Error('the runner stops'));
    await scorings;
    for (const { reject } of this.#drains) reject(new Error('the runner has stopped'));
  }

  async #run(): Promise<void> {
    const { store, clock, log } = this.#options;
    const breathe = yieldPeriodically(this.#machineClock, roundsMsMax);
    let freed = false;
    while (!this.#stopped) {
      this.#alarm = new AbortController();
      let restMs: number | undefined;
      try {
        if (!freed) log.info('leases_freed', { count: await store.jobs.releaseAll(clock.nowMs()) });
        freed = true;
        restMs = await this.#round();
      } catch (fault) {
        log.error('job_store_failed', { ...errorOrigin(fault) });
        restMs = storeFailedRestMs;
      }
      await rest(clock, restMs, this.#alarm.signal);
      await breathe();
    }
  }

  /** Takes what is due and starts it; how long to rest, undefined for until it is woken. */
  async #round(): Promise<number | undefined> {
    const { store, clock } = this.#options;
    const heldMax = this.#places * heldPerPlace;
    await this.#held.take(clock.nowMs(), heldMax - this.#held.size);
    if (!this.#stopped) this.#startWaiting();
    const nextDueAtMs = await store.jobs.findNextDueAtMs();
    if (nextDueAtMs === undefined && this.#held.size === 0) {
      if (!this.#alarm.signal.aborted) {
        for (const { resolve } of this.#drains.splice(0)) resolve(undefined);
      }
      return undefined;
    }
    // With no room, the first scoring that ends wakes it.
    const dueMs = this.#held.size < heldMax ? (nextDueAtMs ?? Infinity) : Infinity;
    const nextMs = Math.min(dueMs, this.#held.renewAtMs() ?? Infinity);
    return Math.min(leaseMs, Math.max(restMsMin, nextMs - clock.nowMs()));
  }

  #startWaiting(): void {
    const all = this.#held.all();
    const inPlace = all.filter((held) => held.scoring && isSlow(held));
    for (const held of all) {
      if (held.scoring) continue;
      if (isSlow(held)) {
        if (!hasPlace(held, inPlace, this.#places)) continue;
        inPlace.push(held);
      }
      held.scoring = true;
      const work = this.#work(held).finally(() => {
        this.#scorings.delete(work);
        this.wake();
      });
      this.#scorings.add(work);
    }
  }

  async #work(held: Held): Promise<void> {
    try {
      await this.#finish(held, await this.#score(held));
    } catch (fault) {
      await this.#failed(held, fault);
    }
    this.#held.drop(held);
  }

  /** Ends with the abort or its deadline, even where the scoring does not heed it. */
  async #score({ job, control }: Held): Promise<Score> {
    const { judge } = this.#options;
    if (job.attempt > takesMax) return neverEnds(`was begun ${takesMax} times and`);
    using deadline = this.#machineClock.deadline(scoringMsMax);
    const signal = AbortSignal.any([control.signal, deadline.signal]);
    const scored = async (): Promise<Score> => {
      const session = await this.#sessionOf(job.ownerId, job.sessionId);
      if (!session) return unscored('The session is no longer kept.');
      return await scoreSession(job.definition, session, judge, signal);
    };
    const calledOff = Promise.withResolvers<Score>();
    control.signal.addEventListener('abort', () => calledOff.reject(control.signal.reason));
    deadline.signal.addEventListener('abort', () =>
      calledOff.resolve(neverEnds(`took more than ${scoringMsMax / 1000} s and`)),
    );
    // It comes first: a judge that is called off has an answer, too, and it is no outcome.
    return await Promise.race([calledOff.promise, scored()]);
  }

  /** A scoring that threw, or was called off. */
  async #failed(held: Held, fault: unknown): Promise<void> {
    const { job, control } = held;
    const { name, at } = errorOrigin(fault);
    this.#options.log.warn('scoring_failed', {
      job: job.id,
      eval: job.definition.id,
      attempt: job.attempt,
      fault: name,
      at,
    });
    const waitMs = backoffMs[job.attempt - 1];
    if (control.signal.aborted) await this.#giveBack(held, 0);
    else if (waitMs !== undefined) await this.#giveBack(held, waitMs);
    else {
      const why = `Scoring failed ${job.attempt} times (${name}); this is a fault of the service.`;
      await this.#tryFinish(held, unscored(why));
    }
  }

  async #finish(held: Held, score: Score): Promise<void> {
    const { log, errored } = this.#options;
    const { job } = held;
    if (await this.#finishHeld({ job, outcome: outcomeOf(job.definition, score) })) {
      if (score.outcome === 'error') await errored?.tell(job, score.reasoning);
      return;
    }
    // It may have been overtaken, and have come back at the last moment.
    if (held.job !== job) await this.#finish(held, score);
    else log.info('job_overtaken', { job: job.id, attempt: job.attempt });
  }

  /** When the store fails here, the lease runs out, and the job is taken again. */
  async #tryFinish(held: Held, score: Score): Promise<void> {
    try {
      await this.#finish(held, score);
    } catch (fault) {
      this.#options.log.error('job_store_failed', { job: held.job.id, ...errorOrigin(fault) });
    }
  }

  async #giveBack(held: Held, waitMs: number): Promise<void> {
    const { store, worker, clock, log } = this.#options;
    const { job } = held;
    // Before it is free, so that it can come again as another.
    this.#held.drop(held);
    try {
      await store.jobs.release(worker, job, clock.nowMs() + waitMs);
    } catch (fault) {
      log.error('job_store_failed', { job: job.id, ...errorOrigin(fault) });
    }
  }
}

const neverEnds = (how: string): Score =>
  unscored(`Scoring ${how} never came to an end; this is a fault of the service.`);
