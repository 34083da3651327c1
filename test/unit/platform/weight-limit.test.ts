import t from 'tap';
import { createWeightLimit } from '../../../src/platform/weight-limit.ts';

/** Returns whether a promise has resolved after all that is due. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(() => (done = true));
  await new Promise((resolve) => setImmediate(resolve));
  return done;
}

void t.test('work waits in order until there is room', async (t) => {
  const limit = createWeightLimit(10);
  const first = await limit.hold(6);
  const second = limit.hold(5);
  const third = limit.hold(1);
  t.notOk(await isDone(second), 'the sum would exceed the limit');
  t.notOk(await isDone(third), 'the second one is first');
  first[Symbol.dispose]();
  t.ok(await isDone(second));
  t.ok(await isDone(third));
});

void t.test('a weight above the limit waits until it is alone', async (t) => {
  const limit = createWeightLimit(10);
  const small = await limit.hold(1);
  const large = limit.hold(99);
  t.notOk(await isDone(large));
  small[Symbol.dispose]();
  t.ok(await isDone(large));
  t.notOk(await isDone(limit.hold(1)));
});

void t.test('no weight never waits, and room is made only once', async (t) => {
  const limit = createWeightLimit(10);
  const first = await limit.hold(10);
  t.ok(await isDone(limit.hold(0)));
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await limit.hold(10);
  t.notOk(await isDone(limit.hold(10)));
});
