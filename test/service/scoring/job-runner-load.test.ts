/** Many jobs: they do not block the thread, are written in groups, and fail independently. */
import t from 'tap';
import {
  readSessionById,
  judgeEval,
  setUpRunner,
  settle,
  shippedSession,
} from '../../support/sessions/job-runner.ts';
import { systemClock } from '../../../src/platform/clock.ts';

void t.test('any number of jobs leaves the thread time for other work', async (t) => {
  const { jobs, start } = setUpRunner(t);
  for (let job = 0; job < 5_000; job++) jobs.add({ sessionId: `s${job}` });
  // A store that works for a while and then returns synchronously, as SQLite does.
  const blockFor = (ms: number): void => {
    const endMs = systemClock.monotonicMs() + ms;
    while (systemClock.monotonicMs() < endMs);
  };
  const store = { jobs: { ...jobs, findNextDueAtMs: () => (blockFor(1), jobs.findNextDueAtMs()) } };
  const runner = start({ store, machineClock: systemClock });
  const drained = runner.drain().then(() => 'drained');
  const yieldOnce = async (): Promise<string> => {
    await new Promise((resolve) => setImmediate(resolve));
    return 'yielded';
  };
  await yieldOnce();
  t.equal(await Promise.race([drained, yieldOnce()]), 'yielded', 'before all jobs are scored');
  t.ok(jobs.written.length < 5_000, `${jobs.written.length} were scored`);
  await drained;
  t.equal(jobs.written.length, 5_000);
});

void t.test(
  'simultaneous outcomes are written together, and each session is read once',
  async (t) => {
    const { jobs, start } = setUpRunner(t);
    for (let job = 0; job < 100; job++) jobs.add({ sessionId: `s${job % 20}` });
    let reads = 0;
    const readSession = (...args: Parameters<typeof readSessionById>) => (
      reads++,
      readSessionById(...args)
    );
    await start({ readSession }).drain();
    t.equal(jobs.written.length, 100);
    t.ok(Math.max(...jobs.groups) >= 10, `groups of ${jobs.groups.join(', ')}`);
    t.ok(reads < 60, `${reads} reads of 20 sessions`);
  },
);

void t.test('when a group write fails, outcomes are written one by one', async (t) => {
  const { jobs, start } = setUpRunner(t);
  jobs.failGroups();
  for (let job = 0; job < 30; job++) jobs.add({ sessionId: `s${job}` });
  await start().drain();
  t.ok(Math.max(...jobs.groups) > 1, 'group writes were attempted');
  t.equal(jobs.written.length, 30);
  t.equal(jobs.calls.release, 0, 'no job is retried because of it');
});

void t.test('local evals do not use the concurrency limit', async (t) => {
  const { jobs, start } = setUpRunner(t);
  const never = { score: () => new Promise<never>(() => {}) };
  for (let job = 0; job < 10; job++) jobs.add({ definition: judgeEval, sessionId: `slow${job}` });
  for (let job = 0; job < 10; job++) jobs.add({ sessionId: `quick${job}` });
  start({ judge: never, readSession: () => Promise.resolve(shippedSession) });
  await settle();
  t.equal(jobs.written.length, 10);
});
