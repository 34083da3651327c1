import t from 'tap';
import {
  byId,
  failing,
  heldJudge,
  judged,
  pass,
  runnerWorld,
  settle,
  shipped,
} from '../../helpers/job-runner.ts';

void t.test('no more are scored at once than there are places', async (t) => {
  const { jobs, start } = runnerWorld(t);
  const { judge, asked } = heldJudge();
  for (let job = 0; job < 40; job++) jobs.add({ definition: judged, sessionId: `s${job}` });
  const runner = start({ judge, concurrency: 3 });
  let most = 0;
  for (let done = 0; done < 40; done++) {
    await settle();
    most = Math.max(most, asked.length - done);
    asked[done]?.resolve(pass);
  }
  await runner.drain();
  t.equal(most, 3);
  t.equal(jobs.written.length, 40);
});

void t.test('a session whose jobs hang leaves a place to others', async (t) => {
  const { jobs, start } = runnerWorld(t);
  const { judge, sessions } = heldJudge();
  for (let job = 0; job < 6; job++) jobs.add({ definition: judged, sessionId: 'slow' });
  for (let job = 0; job < 8; job++) jobs.add({ sessionId: `quick${job}` });
  start({ judge, readSession: byId });
  await settle();
  t.equal(jobs.written.length, 8);
  t.same(sessions, ['slow', 'slow', 'slow']);
});

void t.test('the places of a session are its own: owners may use the same id', async (t) => {
  const { jobs, start } = runnerWorld(t);
  const { judge, asked } = heldJudge();
  for (let job = 0; job < 3; job++) jobs.add({ definition: judged, ownerId: 'one' });
  jobs.add({ definition: judged, ownerId: 'other' });
  start({ judge });
  await settle();
  t.equal(asked.length, 4);
});

void t.test('a job that waits for its next attempt holds up no other', async (t) => {
  const { jobs, clock, start } = runnerWorld(t);
  for (let job = 0; job < 5; job++) jobs.add({ sessionId: 'broken' });
  jobs.add({ sessionId: 'fine' });
  const readSession = (owner: string, id: string) =>
    id === 'broken' ? failing() : byId(owner, id);
  const runner = start({ readSession, concurrency: 1 });
  await settle();
  t.match(jobs.written, [{ job: { sessionId: 'fine' } }]);
  t.equal(jobs.givenBack.length, 5);
  for (const ms of [1_000, 5_000]) {
    clock.advance(ms);
    await settle();
  }
  await runner.drain();
  t.equal(jobs.written.length, 6, 'and each ends');
});

void t.test('drain waits for what is scored and for what is due later', async (t) => {
  const { jobs, clock, start } = runnerWorld(t);
  const { judge, asked } = heldJudge();
  jobs.add({ definition: judged });
  const runner = start({ judge });
  await settle();
  // Not before the start, which makes due whatever an earlier process put off.
  jobs.add({}, 30_000);
  let drained = 0;
  for (let caller = 0; caller < 2; caller++) void runner.drain().then(() => drained++);
  await settle();
  t.equal(drained, 0);
  asked[0]?.resolve(pass);
  await settle();
  t.equal(drained, 0);
  clock.advance(30_000);
  await settle();
  t.equal(drained, 2);
  await runner.drain();
});

void t.test('stop finishes what ends in time and takes nothing more', async (t) => {
  const { jobs, start } = runnerWorld(t);
  const { judge, asked } = heldJudge();
  for (let job = 0; job < 6; job++) jobs.add({ definition: judged, sessionId: `s${job}` });
  const runner = start({ judge });
  await settle();
  const stopped = runner.stop();
  for (const { resolve } of asked) resolve(pass);
  await stopped;
  t.equal(jobs.written.length, 4);
  t.same(
    jobs.givenBack.map(({ job, dueAtMs }) => [job.sessionId, dueAtMs]),
    [
      ['s4', 0],
      ['s5', 0],
    ],
  );
  const looks = jobs.calls.take;
  runner.wake();
  await settle();
  t.equal(jobs.calls.take, looks);
});

void t.test('stop gives back what does not end within 5 s; another scores it', async (t) => {
  const { jobs, clock, start } = runnerWorld(t);
  const { judge } = heldJudge();
  const deaf = new Promise<never>(() => {});
  jobs.add({ definition: judged, sessionId: 'hangs' });
  jobs.add({ sessionId: 'deaf' });
  const readSession = (_owner: string, id: string) =>
    id === 'deaf' ? deaf : Promise.resolve(shipped);
  const runner = start({ judge, readSession });
  await settle();
  const stopped = runner.stop();
  await settle();
  clock.advance(4_999);
  await settle();
  t.equal(jobs.givenBack.length, 0);
  clock.advance(1);
  await stopped;
  t.equal(jobs.written.length, 0, 'a scoring that was called off has no outcome');
  t.same(
    jobs.givenBack.map(({ dueAtMs }) => dueAtMs),
    [5_000, 5_000],
  );
  await start({ worker: 'w2' }).drain();
  t.equal(jobs.written.length, 2);
});

void t.test('stop may be called twice and at once; drain then rejects', async (t) => {
  const { jobs, clock, start } = runnerWorld(t);
  jobs.add({}, 1_000);
  const runner = start();
  const drained = runner.drain();
  const refused = t.rejects(drained, /has stopped/);
  await Promise.all([runner.stop(), runner.stop()]);
  await refused;
  await t.rejects(runner.drain(), /has stopped/);
  clock.advance(1_000);
  await settle();
  t.equal(jobs.written.length, 0);
});

void t.test('a store that fails is asked again, and nothing is lost', async (t) => {
  for (const call of ['releaseAll', 'take', 'findNextDueAtMs', 'finish', 'release'] as const) {
    const { jobs, clock, lines, start } = runnerWorld(t);
    jobs.add();
    jobs.failNext(call, 1);
    let throws = call === 'release' ? 1 : 0;
    const runner = start({
      readSession: () => (throws-- > 0 ? failing() : Promise.resolve(shipped)),
    });
    for (const ms of [1_000, 60_000]) {
      await settle();
      clock.advance(ms);
    }
    await runner.drain();
    t.match(jobs.written, [{ outcome: { outcome: 'pass' } }], call);
    t.ok(lines.length > 1, `${call}: it is logged`);
    t.notMatch(lines.join('\n'), /customer said/, call);
  }
});
