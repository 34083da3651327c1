import t from 'tap';
import {
  failToReadSession,
  createPendingJudge,
  judgeEval,
  pass,
  setUpRunner,
  settle,
  shippedSession,
} from '../../support/sessions/job-runner.ts';
import { makeEval } from '../../support/sessions/scoring.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';

void t.test(
  'queued jobs are scored, and the outcome has the eval from when it was queued',
  async (t) => {
    const { jobs, start } = setUpRunner(t);
    const labels = { category: 'task', type: 'turn_level' as const };
    jobs.add({ definition: { ...makeEval('contains', { text: 'shipped' }), ...labels } });
    jobs.add({ definition: makeEval('contains', { text: 'lost' }) });
    await start().drain();
    const outcomes = jobs.written.map(({ outcome }) => outcome);
    t.match(outcomes, [
      { evalId: 'eval-contains', evalName: 'Eval contains', outcome: 'pass', ...labels },
      { category: 'general', type: 'session_level', outcome: 'fail' },
    ]);
  },
);

void t.test('jobs queued later are scored when the runner is woken', async (t) => {
  const { jobs, start } = setUpRunner(t);
  const runner = start();
  await runner.drain();
  const takes = jobs.calls.take;
  jobs.add();
  await settle();
  t.equal(jobs.calls.take, takes, 'the runner does not poll');
  runner.wake();
  await settle();
  t.equal(jobs.written.length, 1);
});

void t.test(
  'a job that is due later is taken when it is due, without polling before',
  async (t) => {
    const { jobs, clock, start } = setUpRunner(t);
    jobs.add({}, 30_000);
    start();
    await settle();
    const takes = jobs.calls.take;
    clock.advance(29_999);
    await settle();
    t.equal(jobs.calls.take, takes);
    clock.advance(1);
    await settle();
    t.equal(jobs.written.length, 1);
  },
);

void t.test(
  'a scoring that throws is retried after 1 s and 5 s, then ends as an error',
  async (t) => {
    const { jobs, clock, lines, start } = setUpRunner(t);
    jobs.add();
    const runner = start({ readSession: failToReadSession });
    for (const [attempt, waitMs] of [1_000, 5_000].entries()) {
      await settle();
      t.equal(jobs.released.length, attempt + 1);
      clock.advance(waitMs - 1);
      await settle();
      t.equal(jobs.calls.release, attempt + 1, 'not before it is due');
      clock.advance(1);
    }
    await settle();
    t.match(jobs.written, [
      { outcome: { outcome: 'error', reasoning: /failed 3 times \(TypeError\)/ } },
    ]);
    await runner.drain();
    t.match(lines.join('\n'), /scoring_failed.*"eval":"eval-contains".*TypeError/);
    t.notMatch(lines.join('\n'), /customer said/, 'no log line quotes a conversation');
  },
);

void t.test('a scoring that throws once succeeds on the next attempt', async (t) => {
  const { jobs, clock, start } = setUpRunner(t);
  jobs.add();
  let calls = 0;
  start({
    readSession: () => (calls++ === 0 ? failToReadSession() : Promise.resolve(shippedSession)),
  });
  await settle();
  clock.advance(1_000);
  await settle();
  t.match(jobs.written, [{ job: { attempt: 2 }, outcome: { outcome: 'pass' } }]);
});

void t.test('an error of the LLM judge is final', async (t) => {
  const { jobs, start } = setUpRunner(t);
  jobs.add({ definition: judgeEval });
  await start().drain();
  t.match(jobs.written, [{ job: { attempt: 1 }, outcome: { outcome: 'error' } }]);
  t.equal(jobs.calls.release, 0);
});

void t.test('a deleted session is an error outcome, not a crash', async (t) => {
  const { jobs, start } = setUpRunner(t);
  jobs.add();
  await start({ readSession: () => Promise.resolve(undefined) }).drain();
  t.match(jobs.written, [{ outcome: { outcome: 'error', reasoning: /no longer exist\./ } }]);
});

void t.test('jobs of a dead process are released at startup and scored immediately', async (t) => {
  const { jobs, start } = setUpRunner(t);
  jobs.add();
  await jobs.take('dead', 0, 60_000, 1);
  await start().drain();
  t.match(jobs.written, [{ job: { attempt: 2 }, outcome: { outcome: 'pass' } }]);
});

void t.test('the outcome of a runner that lost its lease is not written', async (t) => {
  const { jobs, clock, lines, start } = setUpRunner(t);
  const [slow, quick] = [createPendingJudge(), createPendingJudge()];
  jobs.add({ definition: judgeEval });
  start({ judge: slow.judge, worker: 'w1' });
  await settle();
  t.equal(slow.scores.length, 1);
  start({ judge: quick.judge, worker: 'w2' });
  await settle();
  t.equal(quick.scores.length, 1, 'the second runner takes over the job');
  slow.scores[0]?.resolve({ outcome: 'fail', reasoning: 'from the first' });
  await settle();
  t.equal(jobs.written.length, 0);
  t.match(lines.join('\n'), /job_overtaken/);
  quick.scores[0]?.resolve(pass);
  await settle();
  t.match(jobs.written, [{ outcome: { outcome: 'pass' } }]);
  clock.advance(60_000);
  await settle();
  t.equal(jobs.written.length, 1);
});

void t.test('a running job keeps its lease, however far the clock is advanced', async (t) => {
  const { jobs, clock, start } = setUpRunner(t);
  const { judge, scores } = createPendingJudge();
  jobs.add({ definition: judgeEval });
  start({ judge, machineClock: manualClock(0) });
  await settle();
  for (const ms of [30_000, 59_999, 60_000, 24 * 3_600_000]) {
    for (let time = 0; time < 5; time += 1) {
      clock.advance(ms);
      await settle();
    }
  }
  t.equal(scores.length, 1);
  scores[0]?.resolve(pass);
  await settle();
  t.match(jobs.written, [{ job: { attempt: 1 }, outcome: { outcome: 'pass' } }]);
});

void t.test('a lease is renewed before another runner can take the job', async (t) => {
  const { jobs, clock, start } = setUpRunner(t);
  const [first, second] = [createPendingJudge(), createPendingJudge()];
  const machineClock = manualClock(0);
  start({ judge: second.judge, machineClock, worker: 'w2' });
  await settle();
  jobs.add({ definition: judgeEval });
  start({ judge: first.judge, machineClock, worker: 'w1' });
  await settle();
  for (let seconds = 0; seconds < 600; seconds += 20) {
    clock.advance(20_000);
    await settle();
    jobs.add({ sessionId: `meanwhile ${seconds}` });
  }
  t.equal(first.scores.length, 1);
  t.equal(second.scores.length, 0);
  t.ok(jobs.calls.renew < 60, `${jobs.calls.renew} renewals, not one per poll`);
  first.scores[0]?.resolve(pass);
  await settle();
  const written = jobs.written.filter(({ job }) => job.definition === judgeEval);
  t.match(written, [{ job: { attempt: 1 } }]);
});

void t.test(
  'a job that a runner lost and gets again is not scored twice concurrently',
  async (t) => {
    const { jobs, clock, start } = setUpRunner(t);
    const { judge, scores } = createPendingJudge();
    const job = jobs.add({ definition: judgeEval });
    start({ judge, machineClock: manualClock(0) });
    await settle();
    await jobs.releaseAll(clock.nowMs());
    const [leased] = await jobs.take('w2', clock.nowMs(), 1_000, 1);
    t.match(leased, { id: job.id, attempt: 2 });
    clock.advance(60_000);
    await settle();
    t.equal(scores.length, 1);
    scores[0]?.resolve(pass);
    await settle();
    t.match(jobs.written, [{ job: { attempt: 3 }, outcome: { outcome: 'pass' } }]);
  },
);

void t.test('a lease that expires while its outcome is written has no effect', async (t) => {
  const { jobs, clock, start } = setUpRunner(t);
  jobs.add();
  let late = true;
  const slowStore: typeof jobs = {
    ...jobs,
    async finishAll(...finishing) {
      if (late) {
        late = false;
        clock.advance(60_000);
        await settle();
      }
      return await jobs.finishAll(...finishing);
    },
  };
  start({ store: { jobs: slowStore } });
  await settle();
  await settle();
  t.match(jobs.written, [{ job: { attempt: 1 }, outcome: { outcome: 'pass' } }]);
});

void t.test('an endless scoring is aborted after 2 minutes of system time', async (t) => {
  const { jobs, clock, start } = setUpRunner(t);
  const machineClock = manualClock(0);
  jobs.add();
  const runner = start({ machineClock, readSession: () => new Promise<never>(() => {}) });
  await settle();
  clock.advance(3_600_000);
  machineClock.advance(119_999);
  await settle();
  t.equal(jobs.written.length, 0);
  machineClock.advance(1);
  await settle();
  t.match(jobs.written, [{ outcome: { outcome: 'error', reasoning: /120 s.*never ended/ } }]);
  await runner.drain();
});

void t.test('a job that kills its process every time ends as an error', async (t) => {
  const { jobs, start } = setUpRunner(t);
  jobs.add({ attempt: 10 });
  await start().drain();
  t.match(jobs.written, [{ outcome: { outcome: 'error', reasoning: /never ended/ } }]);
});
