import t from 'tap';
import type { Job, Store } from '../../../src/service/store/store.ts';
import { finishJob } from '../../support/database/finish-job.ts';
import {
  newCloseRequest,
  newEval,
  newOutcome,
  newSession,
  newSpan,
  newSpans,
  NOON_MS,
} from '../../support/database/rows.ts';
import { isPostgres, testStore, withStore } from '../../support/database/store.ts';

const LEASE_MS = 1_000;

function take(store: Store, nowMs: number, worker = 'worker', limit = 9): Promise<Job[]> {
  return store.jobs.take(worker, nowMs, LEASE_MS, limit);
}

/** Opens a store with a session whose evals a, b, and c are queued and due. */
async function withQueue(t: Parameters<typeof withStore>[0]) {
  const open = await withStore(t);
  const evals = ['a', 'b', 'c'].map((id) => newEval(id));
  await open.store.sessions.add(newSession(open.ownerId, 'one', { outcomes: [], evals }));
  const statusOf = async () => (await open.store.sessions.find(open.ownerId, 'one'))?.status;
  return { ...open, statusOf };
}

testStore('jobs are taken in order', async (t) => {
  const { store, ownerId } = await withQueue(t);
  t.match(await take(store, NOON_MS, 'one', 2), [
    { ownerId, sessionId: 'one', definition: newEval('a'), attempt: 1 },
    { definition: newEval('b'), attempt: 1 },
  ]);
  t.match(await take(store, NOON_MS, 'two', 2), [{ definition: newEval('c'), attempt: 1 }]);
});

testStore('each job is taken by one of two workers that ask concurrently', async (t) => {
  const { store } = await withQueue(t);
  const taken = await Promise.all([take(store, NOON_MS, 'one', 2), take(store, NOON_MS, 'two', 2)]);
  // With PostgreSQL, either worker may get two of them.
  const ids = taken.map((jobs) => jobs.map(({ definition }) => definition.id));
  for (const each of ids) t.ok(each.length <= 2 && each.join() === each.toSorted().join());
  t.same(ids.flat().toSorted(), ['a', 'b', 'c']);
  t.same(await take(store, NOON_MS), []);
  t.same(await store.jobs.getBacklog(), { count: 3, nextDueAtMs: NOON_MS + LEASE_MS });
});

testStore('a job has the definition from when it was queued', async (t) => {
  const { store, ownerId } = await withStore(t);
  await store.evals.put(ownerId, newEval('a', { params: { max: 1 } }));
  const evals = await store.evals.list(ownerId);
  await store.sessions.add(newSession(ownerId, 'one', { outcomes: [], evals }));
  await store.evals.put(ownerId, newEval('a', { params: { max: 2 } }));
  await store.evals.remove(ownerId, 'a');
  t.match(await take(store, NOON_MS), [{ definition: { params: { max: 1 } } }]);
});

testStore('jobs of a closed conversation are due from the close on', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  await sink.insert([newSpans(ownerId, [newSpan('1')])]);
  await store.conversations.close(newCloseRequest(ownerId, { atMs: NOON_MS }));
  t.same(await store.jobs.getBacklog(), { count: 2, nextDueAtMs: NOON_MS });
  t.same(await take(store, NOON_MS - 1), []);
  t.equal((await take(store, NOON_MS)).length, 2);
});

testStore('a session completes with its last job, not before', async (t) => {
  const { store, ownerId, statusOf } = await withQueue(t);
  const [a, b, c] = await take(store, NOON_MS);
  const steps: [Job | undefined, 'pass' | 'fail' | 'error', string][] = [
    [c, 'fail', 'evaluating'],
    [a, 'error', 'evaluating'],
    [b, 'pass', 'completed'],
  ];
  t.equal(await statusOf(), 'evaluating');
  for (const [job, outcome, status] of steps) {
    if (!job) throw new Error('A job is missing.');
    const finished = newOutcome(job.definition.id, outcome);
    t.equal(await finishJob(store, 'worker', job, finished, NOON_MS), true);
    t.equal(await statusOf(), status);
  }
  const session = await store.sessions.find(ownerId, 'one');
  t.same(
    session?.outcomes.map(({ evalId, outcome }) => [evalId, outcome]),
    [
      ['a', 'error'],
      ['b', 'pass'],
      ['c', 'fail'],
    ],
    'in the order of the evals, not of completion',
  );
  t.same(await store.jobs.getBacklog(), { count: 0, nextDueAtMs: undefined });
});

testStore('a failed or canceled session keeps its status when its jobs are done', async (t) => {
  const { store, ownerId } = await withStore(t);
  const evals = [newEval('a')];
  for (const status of ['failed', 'canceled', 'completed'] as const) {
    await store.sessions.add(newSession(ownerId, status, { status, outcomes: [], evals }));
  }
  t.equal((await store.sessions.find(ownerId, 'completed'))?.status, 'evaluating');
  for (const job of await take(store, NOON_MS)) {
    await finishJob(store, 'worker', job, newOutcome('a'), NOON_MS);
    t.equal((await store.sessions.find(ownerId, job.sessionId))?.status, job.sessionId);
  }
});

testStore('a job is finished once; a late worker writes nothing', async (t) => {
  const { store, ownerId } = await withQueue(t);
  const [job] = await take(store, NOON_MS, 'one');
  if (!job) throw new Error('A job is missing.');
  const finish = (worker: string, leased: Job, outcome: 'pass' | 'fail') =>
    finishJob(store, worker, leased, newOutcome('a', outcome), NOON_MS);
  t.equal(await finish('two', job, 'fail'), false, 'another worker has the lease');
  t.equal(await finish('one', { ...job, id: 99 }, 'fail'), false, 'no such job');
  t.equal(await finish('one', job, 'pass'), true);
  t.equal(await finish('one', job, 'fail'), false, 'already finished');
  const session = await store.sessions.find(ownerId, 'one');
  t.match(session?.outcomes, [newOutcome('a', 'pass')]);
});

testStore(
  'after a lease expires, another worker can take the job and the first one is fenced off',
  async (t) => {
    const { store, ownerId } = await withQueue(t);
    const [leased] = await take(store, NOON_MS, 'one', 1);
    t.equal((await take(store, NOON_MS + LEASE_MS - 1, 'two')).length, 2, 'only the other jobs');
    const [again] = await take(store, NOON_MS + LEASE_MS, 'two', 1);
    if (!leased || !again) throw new Error('A job is missing.');
    t.match(again, { id: leased.id, attempt: 2 });
    const outcome = newOutcome('a', 'fail');
    t.equal(await finishJob(store, 'one', leased, outcome, NOON_MS), false);
    await store.jobs.release('one', leased, 0);
    t.same(await take(store, NOON_MS + LEASE_MS), [], 'releasing is fenced, too');
    t.equal(
      await finishJob(store, 'two', leased, outcome, NOON_MS),
      false,
      'the earlier lease is fenced for every worker',
    );
    t.equal(await finishJob(store, 'two', again, newOutcome('a'), NOON_MS), true);
    t.match((await store.sessions.find(ownerId, 'one'))?.outcomes, [newOutcome('a', 'pass')]);
  },
);

testStore(
  'a worker can finish with an expired lease if no other worker took the job',
  async (t) => {
    const { store } = await withQueue(t);
    const [job] = await take(store, NOON_MS, 'one', 1);
    if (!job) throw new Error('A job is missing.');
    t.equal(await finishJob(store, 'one', job, newOutcome('a'), NOON_MS + 5 * LEASE_MS), true);
  },
);

testStore('a renewed lease stays valid; a lost lease cannot be renewed', async (t) => {
  const { store } = await withQueue(t);
  const leased = await take(store, NOON_MS, 'one');
  const [first] = leased;
  if (!first) throw new Error('A job is missing.');
  await finishJob(store, 'one', first, newOutcome('a'), NOON_MS);
  await store.jobs.renew('one', leased, NOON_MS + 5 * LEASE_MS);
  t.same(await store.jobs.getBacklog(), { count: 2, nextDueAtMs: NOON_MS + 5 * LEASE_MS });
  t.same(await take(store, NOON_MS + 5 * LEASE_MS - 1, 'two'), []);
  const others = await take(store, NOON_MS + 5 * LEASE_MS, 'two');
  t.match(others, [{ attempt: 2 }, { attempt: 2 }]);
  await store.jobs.renew('one', leased, NOON_MS + 99 * LEASE_MS);
  await store.jobs.renew('two', leased, NOON_MS + 99 * LEASE_MS);
  t.equal((await take(store, NOON_MS + 6 * LEASE_MS, 'three')).length, 2);
});

testStore('a released job can be taken again when it is due', async (t) => {
  const { store } = await withQueue(t);
  const [job] = await take(store, NOON_MS, 'one', 1);
  await take(store, NOON_MS, 'two');
  if (!job) throw new Error('A job is missing.');
  await store.jobs.release('one', job, NOON_MS + 500);
  t.same(await store.jobs.getBacklog(), { count: 3, nextDueAtMs: NOON_MS + 500 });
  t.same(await take(store, NOON_MS + 499), []);
  t.match(await take(store, NOON_MS + 500), [{ id: job.id, attempt: 2 }]);
});

/** Why a test of a start has nothing to test: leases that other replicas hold must stay. */
const ofReplicas = isPostgres && 'replicas keep the leases of each other until they expire';

void t.test(
  'jobs of workers of an earlier process are released immediately',
  { skip: ofReplicas },
  async (t) => {
    const { store } = await withQueue(t);
    const [done] = await take(store, NOON_MS, 'dead');
    if (!done) throw new Error('A job is missing.');
    await finishJob(store, 'dead', done, newOutcome('a'), NOON_MS);
    t.equal(await store.jobs.releaseAll(NOON_MS), 2);
    t.equal(await store.jobs.releaseAll(NOON_MS), 0);
    t.match(await take(store, NOON_MS, 'alive'), [{ attempt: 2 }, { attempt: 2 }]);
  },
);

void t.test(
  'after a restart, jobs that were queued while the clock was ahead are due immediately',
  { skip: ofReplicas },
  async (t) => {
    const { store } = await withQueue(t);
    const [job] = await take(store, NOON_MS, 'ahead', 1);
    if (!job) throw new Error('A job is missing.');
    await store.jobs.release('ahead', job, NOON_MS + 99 * LEASE_MS);
    t.equal(await store.jobs.releaseAll(NOON_MS), 1);
    t.equal((await take(store, NOON_MS)).length, 3);
  },
);

testStore('jobs of a replaced or deleted session are deleted', async (t) => {
  const { store, ownerId } = await withQueue(t);
  const [old] = await take(store, NOON_MS);
  if (!old) throw new Error('A job is missing.');
  const evals = [newEval('a')];
  await store.sessions.add(newSession(ownerId, 'one', { outcomes: [], evals }));
  const [fresh] = await take(store, NOON_MS);
  t.not(fresh?.id, old.id, 'ids are never reused');
  t.equal(await finishJob(store, 'worker', old, newOutcome('a', 'fail'), NOON_MS), false);
  await store.deleteOwnerData(ownerId);
  if (!fresh) throw new Error('A job is missing.');
  t.equal(await finishJob(store, 'worker', fresh, newOutcome('a'), NOON_MS), false);
  t.equal((await store.jobs.getBacklog()).count, 0);
});

testStore('an outcome added with the session is not overwritten', async (t) => {
  const { store, ownerId } = await withStore(t);
  const outcomes = [newOutcome('a', 'fail')];
  await store.sessions.add(newSession(ownerId, 'one', { outcomes, evals: [newEval('a')] }));
  const [job] = await take(store, NOON_MS);
  if (!job) throw new Error('A job is missing.');
  t.equal(await finishJob(store, 'worker', job, newOutcome('a', 'pass'), NOON_MS), true);
  const session = await store.sessions.find(ownerId, 'one');
  t.match(session, { status: 'completed', outcomes });
});
