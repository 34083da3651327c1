import t from 'tap';
import {
  failing,
  heldJudge,
  judged,
  pass,
  runnerWorld as world,
  settle,
  shipped,
} from './helpers/runner-world.ts';
import { evalOf } from './helpers/scoring.ts';

void t.test('what is queued is scored, and the outcome carries the eval as it was', async (t) => {
  const { jobs, start } = world(t);
  const named = { category: 'task', type: 'turn_level' as const };
  jobs.add({ definition: { ...evalOf('contains', { text: 'shipped' }), ...named } });
  jobs.add({ definition: evalOf('contains', { text: 'lost' }) });
  await start().drain();
  const found = jobs.written.map(({ outcome }) => outcome);
  t.match(found, [
    { evalId: 'eval-contains', evalName: 'Eval contains', outcome: 'pass', ...named },
    { category: 'general', type: 'session_level', outcome: 'fail' },
  ]);
});

void t.test('jobs that are queued later are scored when the runner is woken', async (t) => {
  const { jobs, start } = world(t);
  const runner = start();
  await runner.drain();
  const looks = jobs.calls.take;
  jobs.add();
  await settle();
  t.equal(jobs.calls.take, looks, 'it does not poll');
  runner.wake();
  await settle();
  t.equal(jobs.written.length, 1);
});

void t.test(
  'a job that is due later is taken when it is due, and not looked for before',
  async (t) => {
    const { jobs, clock, start } = world(t);
    jobs.add({}, 30_000);
    start();
    await settle();
    const looks = jobs.calls.take;
    clock.advance(29_999);
    await settle();
    t.equal(jobs.calls.take, looks);
    clock.advance(1);
    await settle();
    t.equal(jobs.written.length, 1);
  },
);

void t.test(
  'a scoring that throws is tried again after 1 s and 5 s, then it is an error',
  async (t) => {
    const { jobs, clock, lines, start } = world(t);
    jobs.add();
    const runner = start({ sessionOf: failing });
    for (const [attempt, waitMs] of [1_000, 5_000].entries()) {
      await settle();
      t.equal(jobs.givenBack.length, attempt + 1);
      clock.advance(waitMs - 1);
      await settle();
      t.equal(jobs.calls.giveBack, attempt + 1, 'not before its time');
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

void t.test('a scoring that throws once has its outcome with the next attempt', async (t) => {
  const { jobs, clock, start } = world(t);
  jobs.add();
  let calls = 0;
  start({ sessionOf: () => (calls++ === 0 ? failing() : Promise.resolve(shipped)) });
  await settle();
  clock.advance(1_000);
  await settle();
  t.match(jobs.written, [{ job: { attempt: 2 }, outcome: { outcome: 'pass' } }]);
});

void t.test('an error of the judge is final', async (t) => {
  const { jobs, start } = world(t);
  jobs.add({ definition: judged });
  await start().drain();
  t.match(jobs.written, [{ job: { attempt: 1 }, outcome: { outcome: 'error' } }]);
  t.equal(jobs.calls.giveBack, 0);
});

void t.test('a session that is no longer kept is an error, not a fault', async (t) => {
  const { jobs, start } = world(t);
  jobs.add();
  await start({ sessionOf: () => Promise.resolve(undefined) }).drain();
  t.match(jobs.written, [{ outcome: { outcome: 'error', reasoning: /no longer kept/ } }]);
});

void t.test('what a dead process held is freed at start and scored at once', async (t) => {
  const { jobs, start } = world(t);
  jobs.add();
  await jobs.take('dead', 0, 60_000, 1);
  await start().drain();
  t.match(jobs.written, [{ job: { attempt: 2 }, outcome: { outcome: 'pass' } }]);
});

void t.test('the outcome of a runner that was overtaken is not written', async (t) => {
  const { jobs, clock, lines, start } = world(t);
  const [slow, quick] = [heldJudge(), heldJudge()];
  jobs.add({ definition: judged });
  start({ judge: slow.judge, worker: 'w1' });
  await settle();
  t.equal(slow.asked.length, 1);
  start({ judge: quick.judge, worker: 'w2' });
  await settle();
  t.equal(quick.asked.length, 1, 'the second frees what it takes for dead');
  slow.asked[0]?.resolve({ outcome: 'fail', reasoning: 'from the first' });
  await settle();
  t.equal(jobs.written.length, 0);
  t.match(lines.join('\n'), /job_overtaken/);
  quick.asked[0]?.resolve(pass);
  await settle();
  t.match(jobs.written, [{ outcome: { outcome: 'pass' } }]);
  clock.advance(60_000);
  await settle();
  t.equal(jobs.written.length, 1);
});

void t.test(
  'a lease that runs out in our own hands is taken up again without a second scoring',
  async (t) => {
    const { jobs, clock, start } = world(t);
    const { judge, asked } = heldJudge();
    jobs.add({ definition: judged });
    start({ judge });
    await settle();
    clock.advance(24 * 3_600_000);
    await settle();
    t.equal(asked.length, 1);
    asked[0]?.resolve(pass);
    await settle();
    t.match(jobs.written, [{ job: { attempt: 2 }, outcome: { outcome: 'pass' } }]);
  },
);

void t.test('a lease that runs out while its outcome is written costs nothing', async (t) => {
  const { jobs, clock, start } = world(t);
  jobs.add();
  let late = true;
  const slowStore: typeof jobs = {
    ...jobs,
    async finish(...finishing) {
      if (late) {
        late = false;
        clock.advance(60_000);
        await settle();
      }
      return await jobs.finish(...finishing);
    },
  };
  start({ store: { jobs: slowStore } });
  await settle();
  await settle();
  t.match(jobs.written, [{ job: { attempt: 2 }, outcome: { outcome: 'pass' } }]);
});

void t.test('a scoring that never ends is called off after ten leases', async (t) => {
  const { jobs, clock, start } = world(t);
  jobs.add();
  const runner = start({ sessionOf: () => new Promise<never>(() => {}) });
  for (let lease = 0; lease < 10; lease++) {
    await settle();
    t.equal(jobs.written.length, 0);
    clock.advance(60_000);
  }
  await settle();
  t.match(jobs.written, [{ outcome: { outcome: 'error', reasoning: /never came to an end/ } }]);
  await runner.drain();
});

void t.test('a job that kills its process each time ends as an error', async (t) => {
  const { jobs, start } = world(t);
  jobs.add({ attempt: 10 });
  await start().drain();
  t.match(jobs.written, [{ outcome: { outcome: 'error', reasoning: /never came to an end/ } }]);
});
