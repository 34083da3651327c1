import type { EvalDefinition } from '../../src/contract/index.ts';
import type { Job, JobStore, Outcome } from '../../src/service/store/store.ts';
import { makeEval } from './scoring.ts';

interface Kept {
  job: Job;
  dueAtMs: number;
  /** Undefined while nobody holds it. */
  holder: { worker: string; untilMs: number } | undefined;
}

/** Jobs in memory, with the leases and the fencing that the store promises. */
export interface MemoryJobs extends JobStore {
  /** Queues a job that is due at once, or later. */
  add(parts?: Partial<Job>, dueAtMs?: number): Job;
  /** What was written, in order. */
  written: { job: Job; outcome: Outcome }[];
  /** How often each call came, e.g. `take`. */
  calls: Record<'take' | 'renew' | 'finish' | 'release' | 'releaseAll' | 'findNextDueAtMs', number>;
  /** When given back jobs are due, in order. */
  givenBack: { job: Job; dueAtMs: number }[];
  /** Throws in the next calls of this name. */
  failNext(call: keyof MemoryJobs['calls'], times: number): void;
  /** How many outcomes came together, of each group. */
  groups: number[];
  /** Lets every group fail from now on; what comes alone is written. */
  refuseGroups(): void;
}

const definition: EvalDefinition = makeEval('contains', { text: 'shipped' });
const valid = { ownerId: 'owner', sessionId: 's1', definition, attempt: 0 };

/** An empty queue. */
export function createMemoryJobs(): MemoryJobs {
  const kept = new Map<number, Kept>();
  const written: MemoryJobs['written'] = [];
  const givenBack: MemoryJobs['givenBack'] = [];
  const { groupCame, called, ...counted } = countedCalls();
  let lastId = 0;
  const heldBy = (worker: string, job: Job): Kept | undefined => {
    const found = kept.get(job.id);
    const mine = found?.holder?.worker === worker && found.job.attempt === job.attempt;
    return mine ? found : undefined;
  };
  return {
    written,
    givenBack,
    ...counted,
    add(parts = {}, dueAtMs = 0) {
      const id = ++lastId;
      const job = { ...valid, id, ...parts };
      kept.set(job.id, { job, dueAtMs, holder: undefined });
      return job;
    },
    async take(worker, nowMs, leaseMs, limit) {
      await called('take');
      const due = dueIn(kept, nowMs).slice(0, limit);
      for (const one of due) {
        one.holder = { worker, untilMs: nowMs + leaseMs };
        one.job = { ...one.job, attempt: one.job.attempt + 1 };
      }
      return due.map(({ job }) => job);
    },
    async renew(worker, jobs, untilMs) {
      await called('renew');
      for (const job of jobs) {
        const found = heldBy(worker, job);
        if (found?.holder) found.holder.untilMs = untilMs;
      }
    },
    async finish(worker, job, outcome) {
      await called('finish');
      if (!heldBy(worker, job)) return false;
      kept.delete(job.id);
      written.push({ job, outcome });
      return true;
    },
    async finishAll(worker, finished, atMs) {
      groupCame(finished.length);
      return await oneByOne(finished, (one) => this.finish(worker, one.job, one.outcome, atMs));
    },
    async release(worker, job, dueAtMs) {
      await called('release');
      const found = heldBy(worker, job);
      if (!found) return;
      Object.assign(found, { holder: undefined, dueAtMs });
      givenBack.push({ job, dueAtMs });
    },
    async releaseAll(nowMs) {
      await called('releaseAll');
      const freed = [...kept.values()].filter(({ holder, dueAtMs }) => holder ?? dueAtMs > nowMs);
      for (const one of freed) Object.assign(one, { holder: undefined, dueAtMs: 0 });
      return freed.length;
    },
    async findNextDueAtMs() {
      await called('findNextDueAtMs');
      return nextIn(kept);
    },
    getBacklog: () => Promise.resolve({ count: kept.size, nextDueAtMs: nextIn(kept) }),
  };
}

/** When the next is due: a job at its time, one that is held when its lease has ended. */
function nextIn(kept: ReadonlyMap<number, Kept>): number | undefined {
  const due = [...kept.values()].map(({ dueAtMs, holder }) => holder?.untilMs ?? dueAtMs);
  return due.length > 0 ? Math.min(...due) : undefined;
}

async function oneByOne<One, Result>(
  all: readonly One[],
  act: (one: One) => Promise<Result>,
): Promise<Result[]> {
  const results = [];
  for (const one of all) results.push(await act(one));
  return results;
}

/** Counts calls, and lets the next of a name fail. */
function countedCalls() {
  const calls: MemoryJobs['calls'] = {
    ...{ take: 0, renew: 0, finish: 0, release: 0, releaseAll: 0, findNextDueAtMs: 0 },
  };
  const failing = new Map<string, number>();
  const groups: number[] = [];
  let failGroups = false;
  return {
    calls,
    groups,
    refuseGroups: () => void (failGroups = true),
    groupCame: (size: number): void => {
      groups.push(size);
      if (failGroups) throw new Error('the store cannot finishAll');
    },
    failNext: (name: keyof typeof calls, times: number) => void failing.set(name, times),
    called: async (name: keyof typeof calls): Promise<void> => {
      calls[name]++;
      await Promise.resolve();
      const left = failing.get(name) ?? 0;
      if (left === 0) return;
      failing.set(name, left - 1);
      throw new Error(`the store cannot ${name}: customer said "hello"`);
    },
  };
}

/** A job is due at its time, and one that is held when its lease has ended. */
function dueIn(kept: ReadonlyMap<number, Kept>, nowMs: number): Kept[] {
  return [...kept.values()].filter(({ dueAtMs, holder }) => (holder?.untilMs ?? dueAtMs) <= nowMs);
}
