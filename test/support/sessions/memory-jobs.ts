import type { EvalDefinition } from '../../../src/contract/index.ts';
import type { Job, JobStore, Outcome } from '../../../src/service/store/store.ts';
import { makeEval } from './scoring.ts';

interface QueuedJob {
  job: Job;
  dueAtMs: number;
  /** The worker with the lease; undefined if the job is not leased. */
  holder: { worker: string; untilMs: number } | undefined;
}

/** An in-memory job store with the leases and the fencing of the real one. */
export interface MemoryJobs extends JobStore {
  /** Queues a job that is due at `dueAtMs` (default: immediately). */
  add(parts?: Partial<Job>, dueAtMs?: number): Job;
  /** The written outcomes, in order. */
  written: { job: Job; outcome: Outcome }[];
  /** The number of calls by method. */
  calls: Record<
    'take' | 'renew' | 'finishAll' | 'release' | 'releaseAll' | 'findNextDueAtMs',
    number
  >;
  /** The released jobs with the times when they are due again, in order. */
  released: { job: Job; dueAtMs: number }[];
  /** Makes the next calls of a method throw. */
  failNext(call: keyof MemoryJobs['calls'], times: number): void;
  /** The number of outcomes in each call of `finishAll`. */
  groups: number[];
  /** Makes every later call of `finishAll` with several outcomes throw. */
  failGroups(): void;
}

const definition: EvalDefinition = makeEval('contains', { text: 'shipped' });
const valid = { ownerId: 'owner', sessionId: 's1', sessionKey: 1, definition, attempt: 0 };

/** Creates an empty queue. */
export function createMemoryJobs(): MemoryJobs {
  const queue = new Map<number, QueuedJob>();
  const written: MemoryJobs['written'] = [];
  const released: MemoryJobs['released'] = [];
  const { countGroup, countCall, ...counters } = createCallCounter();
  let lastId = 0;
  const findLeased = (worker: string, job: Job): QueuedJob | undefined => {
    const queued = queue.get(job.id);
    const isLeased = queued?.holder?.worker === worker && queued.job.attempt === job.attempt;
    return isLeased ? queued : undefined;
  };
  return {
    written,
    released,
    ...counters,
    add(parts = {}, dueAtMs = 0) {
      const id = ++lastId;
      const job = { ...valid, id, ...parts };
      queue.set(job.id, { job, dueAtMs, holder: undefined });
      return job;
    },
    async take(worker, nowMs, leaseMs, limit, choose = (due) => due) {
      await countCall('take');
      const due = dueIn(queue, nowMs).slice(0, limit);
      const jobs = due.map(({ job }) => ({ ...job, attempt: job.attempt + 1 }));
      const chosen = choose(jobs, []);
      for (const job of chosen) {
        queue.set(job.id, { job, dueAtMs: 0, holder: { worker, untilMs: nowMs + leaseMs } });
      }
      return [...chosen];
    },
    async renew(worker, jobs, untilMs) {
      await countCall('renew');
      for (const job of jobs) {
        const leased = findLeased(worker, job);
        if (leased?.holder) leased.holder.untilMs = untilMs;
      }
    },
    async finishAll(worker, finished) {
      await countCall('finishAll');
      countGroup(finished.length);
      return finished.map(({ job, outcome }) => {
        if (!findLeased(worker, job)) return false;
        queue.delete(job.id);
        written.push({ job, outcome });
        return true;
      });
    },
    async release(worker, job, dueAtMs) {
      await countCall('release');
      const leased = findLeased(worker, job);
      if (!leased) return;
      Object.assign(leased, { holder: undefined, dueAtMs });
      released.push({ job, dueAtMs });
    },
    async releaseAll(nowMs) {
      await countCall('releaseAll');
      const freed = [...queue.values()].filter(({ holder, dueAtMs }) => holder ?? dueAtMs > nowMs);
      for (const queued of freed) Object.assign(queued, { holder: undefined, dueAtMs: 0 });
      return freed.length;
    },
    async findNextDueAtMs() {
      await countCall('findNextDueAtMs');
      return nextIn(queue);
    },
    getBacklog: () => Promise.resolve({ count: queue.size, nextDueAtMs: nextIn(queue) }),
  };
}

/** Returns when the next job can be taken: when it is due, or when its lease ends. */
function nextIn(queue: ReadonlyMap<number, QueuedJob>): number | undefined {
  const due = [...queue.values()].map(({ dueAtMs, holder }) => holder?.untilMs ?? dueAtMs);
  return due.length > 0 ? Math.min(...due) : undefined;
}

/** Counts calls by method, and makes selected calls fail. */
function createCallCounter() {
  const calls: MemoryJobs['calls'] = {
    take: 0,
    renew: 0,
    finishAll: 0,
    release: 0,
    releaseAll: 0,
    findNextDueAtMs: 0,
  };
  const failing = new Map<string, number>();
  const groups: number[] = [];
  let groupsFail = false;
  return {
    calls,
    groups,
    failGroups: () => void (groupsFail = true),
    countGroup: (size: number): void => {
      groups.push(size);
      if (groupsFail && size > 1) throw new Error('The store cannot finishAll.');
    },
    failNext: (name: keyof typeof calls, times: number) => void failing.set(name, times),
    countCall: async (name: keyof typeof calls): Promise<void> => {
      calls[name]++;
      await Promise.resolve();
      const left = failing.get(name) ?? 0;
      if (left === 0) return;
      failing.set(name, left - 1);
      throw new Error(`the store cannot ${name}: customer said "hello"`);
    },
  };
}

/** Returns the jobs that are due and not leased. */
function dueIn(queue: ReadonlyMap<number, QueuedJob>, nowMs: number): QueuedJob[] {
  return [...queue.values()].filter(({ dueAtMs, holder }) => (holder?.untilMs ?? dueAtMs) <= nowMs);
}
