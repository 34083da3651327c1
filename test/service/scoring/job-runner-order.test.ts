import t from 'tap';
import {
  readSessionById,
  failToReadSession,
  createPendingJudge,
  judgeEval,
  pass,
  setUpRunner,
  settle,
  shippedSession,
} from '../../support/sessions/job-runner.ts';

void t.test('the number of concurrent scorings is limited', async (t) => {
  const { jobs, start } = setUpRunner(t);
  const { judge, scores } = createPendingJudge();
  for (let job = 0; job < 40; job++) jobs.add({ definition: judgeEval, sessionId: `s${job}` });
  const runner = start({ judge, concurrency: 3 });
  let max = 0;
  for (let done = 0; done < 40; done++) {
    await settle();
    max = Math.max(max, scores.length - done);
    scores[done]?.resolve(pass);
  }
  await runner.drain();
  t.equal(max, 3);
  t.equal(jobs.written.length, 40);
});

void t.test('a session whose jobs hang leaves capacity for others', async (t) => {
  const { jobs, start } = setUpRunner(t);
  const { judge, sessions } = createPendingJudge();
  for (let job = 0; job < 6; job++) jobs.add({ definition: judgeEval, sessionId: 'slow' });
  for (let job = 0; job < 8; job++) jobs.add({ sessionId: `quick${job}` });
  start({ judge, readSession: readSessionById });
  await settle();
  t.equal(jobs.written.length, 8);
  t.same(sessions, ['slow', 'slow', 'slow']);
});

void t.test(
  'the limit per session is per owner: two owners may use the same session id',
  async (t) => {
    const { jobs, start } = setUpRunner(t);
    const { judge, scores } = createPendingJudge();
    for (let job = 0; job < 3; job++) jobs.add({ definition: judgeEval, ownerId: 'one' });
    jobs.add({ definition: judgeEval, ownerId: 'other' });
    start({ judge });
    await settle();
    t.equal(scores.length, 4);
  },
);

void t.test('a job that waits for its next attempt delays no other job', async (t) => {
  const { jobs, clock, start } = setUpRunner(t);
  for (let job = 0; job < 5; job++) jobs.add({ sessionId: 'broken' });
  jobs.add({ sessionId: 'fine' });
  const readSession = (owner: string, id: string) =>
    id === 'broken' ? failToReadSession() : readSessionById(owner, id);
  const runner = start({ readSession, concurrency: 1 });
  await settle();
  t.match(jobs.written, [{ job: { sessionId: 'fine' } }]);
  t.equal(jobs.released.length, 5);
  for (const ms of [1_000, 5_000]) {
    clock.advance(ms);
    await settle();
  }
  await runner.drain();
  t.equal(jobs.written.length, 6, 'and each job ends');
});

void t.test('drain waits for running jobs and for jobs due later', async (t) => {
  const { jobs, clock, start } = setUpRunner(t);
  const { judge, scores } = createPendingJudge();
  jobs.add({ definition: judgeEval });
  const runner = start({ judge });
  await settle();
  // Added after the start, because the start makes jobs of earlier processes due immediately.
  jobs.add({}, 30_000);
  let drained = 0;
  for (let caller = 0; caller < 2; caller++) void runner.drain().then(() => drained++);
  await settle();
  t.equal(drained, 0);
  scores[0]?.resolve(pass);
  await settle();
  t.equal(drained, 0);
  clock.advance(30_000);
  await settle();
  t.equal(drained, 2);
  await runner.drain();
});

void t.test('stop waits for jobs that end in time and takes no new ones', async (t) => {
  const { jobs, start } = setUpRunner(t);
  const { judge, scores } = createPendingJudge();
  for (let job = 0; job < 6; job++) jobs.add({ definition: judgeEval, sessionId: `s${job}` });
  const runner = start({ judge });
  await settle();
  const stopped = runner.stop();
  for (const { resolve } of scores) resolve(pass);
  await stopped;
  t.equal(jobs.written.length, 4);
  t.same(
    jobs.released.map(({ job, dueAtMs }) => [job.sessionId, dueAtMs]),
    [
      ['s4', 0],
      ['s5', 0],
    ],
  );
  const takes = jobs.calls.take;
  runner.wake();
  await settle();
  t.equal(jobs.calls.take, takes);
});

void t.test(
  'stop releases jobs that do not end within 5 s; another runner scores them',
  async (t) => {
    const { jobs, clock, start } = setUpRunner(t);
    const { judge } = createPendingJudge();
    const neverSettles = new Promise<never>(() => {});
    jobs.add({ definition: judgeEval, sessionId: 'hangs' });
    jobs.add({ sessionId: 'ignores-stop' });
    const readSession = (_owner: string, id: string) =>
      id === 'ignores-stop' ? neverSettles : Promise.resolve(shippedSession);
    const runner = start({ judge, readSession });
    await settle();
    const stopped = runner.stop();
    await settle();
    clock.advance(4_999);
    await settle();
    t.equal(jobs.released.length, 0);
    clock.advance(1);
    await stopped;
    t.equal(jobs.written.length, 0, 'an aborted scoring has no outcome');
    t.same(
      jobs.released.map(({ dueAtMs }) => dueAtMs),
      [5_000, 5_000],
    );
    await start({ worker: 'w2' }).drain();
    t.equal(jobs.written.length, 2);
  },
);

void t.test('stop may be called twice concurrently; drain then rejects', async (t) => {
  const { jobs, clock, start } = setUpRunner(t);
  jobs.add({}, 1_000);
  const runner = start();
  const drained = runner.drain();
  const rejected = t.rejects(drained, /has stopped/);
  await Promise.all([runner.stop(), runner.stop()]);
  await rejected;
  await t.rejects(runner.drain(), /has stopped/);
  clock.advance(1_000);
  await settle();
  t.equal(jobs.written.length, 0);
});

void t.test('store failures are retried, and nothing is lost', async (t) => {
  for (const call of ['releaseAll', 'take', 'findNextDueAtMs', 'finishAll', 'release'] as const) {
    const { jobs, clock, lines, start } = setUpRunner(t);
    jobs.add();
    jobs.failNext(call, 1);
    let throws = call === 'release' ? 1 : 0;
    const runner = start({
      readSession: () => (throws-- > 0 ? failToReadSession() : Promise.resolve(shippedSession)),
    });
    for (const ms of [1_000, 60_000]) {
      await settle();
      clock.advance(ms);
    }
    await runner.drain();
    t.match(jobs.written, [{ outcome: { outcome: 'pass' } }], call);
    t.ok(lines.length > 1, `${call}: the failure is logged`);
    t.notMatch(lines.join('\n'), /customer said/, call);
  }
});
