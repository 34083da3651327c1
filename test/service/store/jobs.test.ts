import t from 'tap';
import type { Job, Store } from '../../../src/service/store/store.ts';
import {
  newClosing,
  newEval,
  newOutcome,
  newSession,
  newSpan,
  newSpans,
} from '../../helpers/store.ts';
import { noonMs, withStore } from '../../helpers/store.ts';

const leaseMs = 1_000;

function take(store: Store, nowMs: number, worker = 'worker', limit = 9): Promise<Job[]> {
  return store.jobs.take(worker, nowMs, leaseMs, limit);
}

/** A session that waits for the evals a, b and c, due at once. */
async function withQueue(t: Parameters<typeof withStore>[0]) {
  const open = await withStore(t);
  const evals = ['a', 'b', 'c'].map((id) => newEval(id));
  await open.store.sessions.add(newSession(open.ownerId, 'one', { outcomes: [], evals }));
  const statusOf = async () => (await open.store.sessions.find(open.ownerId, 'one'))?.status;
  return { ...open, statusOf };
}

void t.test('jobs are taken in order, each by one worker at a time', async (t) => {
  const { store, ownerId } = await withQueue(t);
  const [first, second] = await Promise.all([
    take(store, noonMs, 'one', 2),
    take(store, noonMs, 'two', 2),
  ]);
  t.match(first, [
    { ownerId, sessionId: 'one', definition: newEval('a'), attempt: 1 },
    { definition: newEval('b'), attempt: 1 },
  ]);
  t.match(second, [{ definition: newEval('c'), attempt: 1 }]);
  t.same(await take(store, noonMs), []);
  t.same(await store.jobs.getBacklog(), { count: 3, nextDueAtMs: noonMs + leaseMs });
});

void t.test('the definition is the one of when it was queued', async (t) => {
  const { store, ownerId } = await withStore(t);
  await store.evals.put(ownerId, newEval('a', { params: { max: 1 } }));
  const evals = await store.evals.list(ownerId);
  await store.sessions.add(newSession(ownerId, 'one', { outcomes: [], evals }));
  await store.evals.put(ownerId, newEval('a', { params: { max: 2 } }));
  await store.evals.remove(ownerId, 'a');
  t.match(await take(store, noonMs), [{ definition: { params: { max: 1 } } }]);
});

void t.test('jobs of a closed conversation are due from its closing on', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  sink.insert([newSpans(ownerId, [newSpan('1')])]);
  await store.conversations.close(newClosing(ownerId, { atMs: noonMs }));
  t.same(await store.jobs.getBacklog(), { count: 2, nextDueAtMs: noonMs });
  t.same(await take(store, noonMs - 1), []);
  t.equal((await take(store, noonMs)).length, 2);
});

void t.test('a session is completed with its last job, not before', async (t) => {
  const { store, ownerId, statusOf } = await withQueue(t);
  const [a, b, c] = await take(store, noonMs);
  const steps: [Job | undefined, 'pass' | 'fail' | 'error', string][] = [
    [c, 'fail', 'evaluating'],
    [a, 'error', 'evaluating'],
    [b, 'pass', 'completed'],
  ];
  t.equal(await statusOf(), 'evaluating');
  for (const [job, outcome, status] of steps) {
    if (!job) throw new Error('a job is missing');
    const found = newOutcome(job.definition.id, outcome);
    t.equal(await store.jobs.finish('worker', job, found, noonMs), true);
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
    'in the order of the evals, whichever was first',
  );
  t.same(await store.jobs.getBacklog(), { count: 0, nextDueAtMs: undefined });
});

void t.test('a session that failed or was cancelled stays so when its jobs are done', async (t) => {
  const { store, ownerId } = await withStore(t);
  const evals = [newEval('a')];
  for (const status of ['failed', 'cancelled', 'completed'] as const) {
    await store.sessions.add(newSession(ownerId, status, { status, outcomes: [], evals }));
  }
  t.equal((await store.sessions.find(ownerId, 'completed'))?.status, 'evaluating');
  for (const job of await take(store, noonMs)) {
    await store.jobs.finish('worker', job, newOutcome('a'), noonMs);
    t.equal((await store.sessions.find(ownerId, job.sessionId))?.status, job.sessionId);
  }
});

void t.test('a job is finished once; who comes too late writes nothing', async (t) => {
  const { store, ownerId } = await withQueue(t);
  const [job] = await take(store, noonMs, 'one');
  if (!job) throw new Error('a job is missing');
  const finish = (worker: string, held: Job, outcome: 'pass' | 'fail') =>
    store.jobs.finish(worker, held, newOutcome('a', outcome), noonMs);
  t.equal(await finish('two', job, 'fail'), false, 'not the worker that holds it');
  t.equal(await finish('one', { ...job, id: 99 }, 'fail'), false, 'no job');
  t.equal(await finish('one', job, 'pass'), true);
  t.equal(await finish('one', job, 'fail'), false, 'finished before');
  const session = await store.sessions.find(ownerId, 'one');
  t.match(session?.outcomes, [newOutcome('a', 'pass')]);
});

void t.test('a lease that ended lets another take the job, and fences the first off', async (t) => {
  const { store, ownerId } = await withQueue(t);
  const [held] = await take(store, noonMs, 'one', 1);
  t.equal((await take(store, noonMs + leaseMs - 1, 'two')).length, 2, 'the others only');
  const [again] = await take(store, noonMs + leaseMs, 'two', 1);
  if (!held || !again) throw new Error('a job is missing');
  t.match(again, { id: held.id, attempt: 2 });
  const outcome = newOutcome('a', 'fail');
  t.equal(await store.jobs.finish('one', held, outcome, noonMs), false);
  await store.jobs.release('one', held, 0);
  t.same(await take(store, noonMs + leaseMs), [], 'giving back is fenced, too');
  t.equal(await store.jobs.finish('two', held, outcome, noonMs), false, 'nor by the older taking');
  t.equal(await store.jobs.finish('two', again, newOutcome('a'), noonMs), true);
  t.match((await store.sessions.find(ownerId, 'one'))?.outcomes, [newOutcome('a', 'pass')]);
});

void t.test('an expired lease that nobody took up is still good for finishing', async (t) => {
  const { store } = await withQueue(t);
  const [job] = await take(store, noonMs, 'one', 1);
  if (!job) throw new Error('a job is missing');
  t.equal(await store.jobs.finish('one', job, newOutcome('a'), noonMs + 5 * leaseMs), true);
});

void t.test('a lease that is renewed holds on; one that was lost is not had back', async (t) => {
  const { store } = await withQueue(t);
  const held = await take(store, noonMs, 'one');
  const [first] = held;
  if (!first) throw new Error('a job is missing');
  await store.jobs.finish('one', first, newOutcome('a'), noonMs);
  await store.jobs.renew('one', held, noonMs + 5 * leaseMs);
  t.same(await store.jobs.getBacklog(), { count: 2, nextDueAtMs: noonMs + 5 * leaseMs });
  t.same(await take(store, noonMs + 5 * leaseMs - 1, 'two'), []);
  const others = await take(store, noonMs + 5 * leaseMs, 'two');
  t.match(others, [{ attempt: 2 }, { attempt: 2 }]);
  await store.jobs.renew('one', held, noonMs + 99 * leaseMs);
  await store.jobs.renew('two', held, noonMs + 99 * leaseMs);
  t.equal((await take(store, noonMs + 6 * leaseMs, 'three')).length, 2);
});

void t.test('what is given back is taken again when it is due', async (t) => {
  const { store } = await withQueue(t);
  const [job] = await take(store, noonMs, 'one', 1);
  await take(store, noonMs, 'two');
  if (!job) throw new Error('a job is missing');
  await store.jobs.release('one', job, noonMs + 500);
  t.same(await store.jobs.getBacklog(), { count: 3, nextDueAtMs: noonMs + 500 });
  t.same(await take(store, noonMs + 499), []);
  t.match(await take(store, noonMs + 500), [{ id: job.id, attempt: 2 }]);
});

void t.test('what workers of an earlier process hold is freed at once', async (t) => {
  const { store } = await withQueue(t);
  const [done] = await take(store, noonMs, 'dead');
  if (!done) throw new Error('a job is missing');
  await store.jobs.finish('dead', done, newOutcome('a'), noonMs);
  t.equal(await store.jobs.releaseAll(noonMs), 2);
  t.equal(await store.jobs.releaseAll(noonMs), 0);
  t.match(await take(store, 0, 'alive'), [{ attempt: 2 }, { attempt: 2 }]);
});

void t.test('what was queued by a clock that was ahead is due at once', async (t) => {
  const { store } = await withQueue(t);
  const [job] = await take(store, noonMs, 'ahead', 1);
  if (!job) throw new Error('a job is missing');
  await store.jobs.release('ahead', job, noonMs + 99 * leaseMs);
  t.equal(await store.jobs.releaseAll(noonMs), 1);
  t.equal((await take(store, noonMs)).length, 3);
});

void t.test('a job of a session that was replaced or forgotten is nobody’s', async (t) => {
  const { store, ownerId } = await withQueue(t);
  const [old] = await take(store, noonMs);
  if (!old) throw new Error('a job is missing');
  const evals = [newEval('a')];
  await store.sessions.add(newSession(ownerId, 'one', { outcomes: [], evals }));
  const [fresh] = await take(store, noonMs);
  t.not(fresh?.id, old.id, 'ids are never used again');
  t.equal(await store.jobs.finish('worker', old, newOutcome('a', 'fail'), noonMs), false);
  await store.deleteOwnerData(ownerId);
  if (!fresh) throw new Error('a job is missing');
  t.equal(await store.jobs.finish('worker', fresh, newOutcome('a'), noonMs), false);
  t.equal((await store.jobs.getBacklog()).count, 0);
});

void t.test('an outcome that came with the session stands', async (t) => {
  const { store, ownerId } = await withStore(t);
  const outcomes = [newOutcome('a', 'fail')];
  await store.sessions.add(newSession(ownerId, 'one', { outcomes, evals: [newEval('a')] }));
  const [job] = await take(store, noonMs);
  if (!job) throw new Error('a job is missing');
  t.equal(await store.jobs.finish('worker', job, newOutcome('a', 'pass'), noonMs), true);
  const session = await store.sessions.find(ownerId, 'one');
  t.match(session, { status: 'completed', outcomes });
});
