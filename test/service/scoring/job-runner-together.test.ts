/** Jobs that need no slot: their sessions are read together, and each job still ends on its own. */
import t from 'tap';
import type { ReadSessions } from '../../../src/service/scoring/shared-sessions.ts';
import {
  createPendingJudge,
  failToReadSession,
  judgeEval,
  readSessionById,
  setUpRunner,
  settle,
  shippedSession,
} from '../../support/sessions/job-runner.ts';

/** Reads all sessions but some, ten at a time, and records the calls. */
function readTogether({ except = [] }: { except?: readonly string[] } = {}) {
  const calls: { ownerId: string; sessionIds: readonly string[] }[] = [];
  const readSessions: ReadSessions = async function* (ownerId, sessionIds) {
    calls.push({ ownerId, sessionIds });
    const found = sessionIds.filter((id) => !except.includes(id));
    for (let at = 0; at < found.length; at += 10) {
      yield found.slice(at, at + 10).map((sessionId) => ({ ...shippedSession, sessionId }));
      await Promise.resolve();
    }
  };
  return { calls, readSessions };
}

void t.test('sessions of an owner are read once and together, and not alone', async (t) => {
  const { jobs, start } = setUpRunner(t);
  const { calls, readSessions } = readTogether();
  for (let job = 0; job < 60; job++) jobs.add({ sessionId: `s${job % 20}` });
  jobs.add({ ownerId: 'other', sessionId: 's0' });
  await start({ readSessions, readSession: failToReadSession }).drain();
  t.match(calls, [
    { ownerId: 'owner', sessionIds: { length: 20 } },
    { ownerId: 'other', sessionIds: ['s0'] },
  ]);
  t.equal(jobs.written.length, 61);
  t.ok(Math.max(...jobs.groups) >= 30, `groups of ${jobs.groups.join(', ')}`);
});

void t.test('a session that has to be read alone delays no other', async (t) => {
  const { jobs, start } = setUpRunner(t);
  const { readSessions } = readTogether({ except: ['large'] });
  const large = Promise.withResolvers<typeof shippedSession>();
  for (const sessionId of ['large', 'small', 'small']) jobs.add({ sessionId });
  const runner = start({ readSessions, readSession: () => large.promise });
  await settle();
  t.equal(jobs.written.length, 2);
  large.resolve({ ...shippedSession, sessionId: 'large' });
  await runner.drain();
  t.match(jobs.written[2], { job: { sessionId: 'large' }, outcome: { outcome: 'pass' } });
});

void t.test('a scoring that throws is repeated alone; the others end', async (t) => {
  const { jobs, clock, start } = setUpRunner(t);
  const readSessions: ReadSessions = async function* (_ownerId, sessionIds) {
    await Promise.resolve();
    yield sessionIds.map((sessionId) => ({
      ...shippedSession,
      sessionId,
      ...(sessionId === 'broken' && { turns: null as never }),
    }));
  };
  for (const sessionId of ['one', 'broken', 'two']) jobs.add({ sessionId });
  const runner = start({ readSessions });
  await settle();
  t.same(
    jobs.written.map(({ job }) => job.sessionId),
    ['one', 'two'],
  );
  t.match(jobs.released, [{ job: { sessionId: 'broken' }, dueAtMs: 1_000 }]);
  for (const ms of [1_000, 5_000]) {
    clock.advance(ms);
    await settle();
  }
  await runner.drain();
  t.match(jobs.written[2], { job: { attempt: 3 }, outcome: { outcome: 'error' } });
});

void t.test('when sessions can not be read together, each is read alone', async (t) => {
  const { jobs, lines, start } = setUpRunner(t);
  const readSessions: ReadSessions = async function* (_ownerId, [first = '']) {
    yield [{ ...shippedSession, sessionId: first }];
    await failToReadSession();
  };
  for (let job = 0; job < 5; job++) jobs.add({ sessionId: `s${job}` });
  const read: string[] = [];
  const readSession: typeof readSessionById = (ownerId, id) => {
    read.push(id);
    return readSessionById(ownerId, id);
  };
  await start({ readSessions, readSession }).drain();
  t.same(read, ['s1', 's2', 's3', 's4']);
  t.equal(jobs.written.length, 5);
  t.equal(jobs.calls.release, 0);
  t.notMatch(lines.join('\n'), /customer said/);
});

void t.test('evals that wait for a model are scored alone, and hide no others', async (t) => {
  const { jobs, start } = setUpRunner(t);
  const { calls, readSessions } = readTogether();
  const { judge, scores } = createPendingJudge();
  for (let job = 0; job < 300; job++) jobs.add({ definition: judgeEval, sessionId: `slow${job}` });
  for (let job = 0; job < 10; job++) jobs.add({ sessionId: `quick${job}` });
  start({ judge, readSessions, readSession: readSessionById, concurrency: 2 });
  await settle();
  t.equal(jobs.written.length, 10);
  t.equal(scores.length, 2);
  t.ok(
    calls.every(({ sessionIds }) => sessionIds.every((id) => id.startsWith('quick'))),
    'only sessions of the others are read together',
  );
  const { count } = await jobs.getBacklog();
  const free = await jobs.take('other', 0, 1_000, 1_000);
  t.equal(free.length, count - 32, 'a worker leases only some jobs that it can not start');
});
