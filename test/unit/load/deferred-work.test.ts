/** Work that must delay neither a send nor the reading of a response. */
import t from 'tap';
import { createDeferredWork } from '../../../load/phases/deferred-work.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';

void t.test('at a low rate, the tasks of 100 ms run together, in order', async (t) => {
  const clock = manualClock(0);
  const work = createDeferredWork(clock);
  const done: string[] = [];
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let n = 0; n < 20; n++) await Promise.resolve();
  };
  work.add(() => done.push('first'));
  await advance(99);
  work.add(() => done.push('second'));
  t.same(done, []);
  await advance(1);
  t.same(done, ['first', 'second']);
  work.add(() => done.push('third'));
  const all = work.waitUntilDone();
  await advance(100);
  await all;
  t.same(done, ['first', 'second', 'third']);
});

void t.test('at a higher rate, tasks wait less for others', async (t) => {
  const clock = manualClock(0);
  const work = createDeferredWork(clock);
  let done = 0;
  const run = async (count: number, ms: number): Promise<void> => {
    for (let n = 0; n < count; n++) work.add(() => done++);
    clock.advance(ms);
    for (let n = 0; n < 20; n++) await Promise.resolve();
  };
  await run(200, 100);
  await run(1, 4);
  t.equal(done, 200);
  await run(0, 1);
  t.equal(done, 201);
});

void t.test('after 1 ms of work, the event loop handles the network', async (t) => {
  const clock = manualClock(0);
  const work = createDeferredWork(clock);
  let done = 0;
  for (let n = 0; n < 5; n++) {
    work.add(() => {
      done++;
      clock.advance(1);
    });
  }
  clock.advance(100);
  for (let n = 0; n < 20; n++) await Promise.resolve();
  t.equal(done, 1);
  const all = work.waitUntilDone();
  for (let n = 0; n < 100 && done < 5; n++) {
    clock.advance(1);
    await Promise.resolve();
  }
  await all;
  t.equal(done, 5);
});
