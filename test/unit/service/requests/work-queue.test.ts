import t from 'tap';
import { manualClock, type ManualClock } from '../../../../src/platform/manual-clock.ts';
import {
  createWorkQueue,
  WAITING_MIN,
  type WorkQueue,
  type WorkQueueOptions,
} from '../../../../src/service/requests/work-queue.ts';
import { limitDatabaseWaits } from '../../../../src/service/store/wait-limit.ts';

interface ControlledQueue {
  queue: WorkQueue;
  clock: ManualClock;
  /** Adds requests; returns the errors of those that were refused. */
  add: (count: number) => Promise<Error[]>;
  /** Ends requests, one after each `ms`. */
  end: (count: number, ms: number) => Promise<void>;
  endTurn: () => Promise<void>;
}

/** Creates a queue with a clock and turns of the event loop that the test controls. */
function createControlledQueue(options: Partial<WorkQueueOptions> = {}): ControlledQueue {
  const clock = manualClock(0);
  const turnEnds: (() => void)[] = [];
  const queue = createWorkQueue(clock, {
    runningMax: 1,
    mayBlock: false,
    waitMsMax: 1_000,
    message: 'Too much.',
    onTurnEnd: (endTurn) => void turnEnds.push(endTurn),
    ...options,
  });
  const running: Disposable[] = [];
  return {
    queue,
    clock,
    async add(count: number): Promise<Error[]> {
      const refusals: Error[] = [];
      for (let nth = 0; nth < count; nth += 1) {
        void queue.enter().then(
          (work) => running.push(work),
          (error: unknown) => refusals.push(error as Error),
        );
      }
      await settle();
      return refusals;
    },
    async end(count: number, ms: number): Promise<void> {
      for (let nth = 0; nth < count; nth += 1) {
        clock.advance(ms);
        running.shift()?.[Symbol.dispose]();
        await settle();
      }
    },
    async endTurn(): Promise<void> {
      for (const endTurn of turnEnds.splice(0)) endTurn();
      await settle();
    },
  };
}

/** Lets promises continue. */
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

void t.test('requests run in order, a limited number at a time', async (t) => {
  const { queue, add, end } = createControlledQueue({ runningMax: 2 });
  await add(5);
  t.same(queue.count(), { waiting: 3, running: 2, refused: 0 });
  await end(1, 10);
  t.same(queue.count(), { waiting: 2, running: 2, refused: 0 });
  await end(4, 10);
  t.same(queue.count(), { waiting: 0, running: 0, refused: 0 });
  const order: number[] = [];
  const enter = async (nth: number): Promise<void> => {
    using _work = await queue.enter();
    order.push(nth);
  };
  await Promise.all([enter(1), enter(2), enter(3), enter(4)]);
  t.same(order, [1, 2, 3, 4]);
});

void t.test('a request that would wait too long is refused with Retry-After', async (t) => {
  const { add, end } = createControlledQueue();
  await add(101);
  await end(50, 10);
  t.same(await add(49), [], '99 requests of 10 ms wait, and one runs');
  const [refusal, ...others] = await add(2);
  t.match(refusal, { code: 'busy', message: 'Too much.', headers: { 'retry-after': '1' } });
  t.equal(others.length, 0, 'the first one of them would still be finished after 1 s');
});

void t.test('the check before a request costs anything refuses the same requests', async (t) => {
  const { queue, add, end } = createControlledQueue();
  await add(150);
  await end(49, 10);
  t.throws(() => queue.checkRoom(), { code: 'busy' });
  t.same(queue.count(), { waiting: 100, running: 1, refused: 1 });
  await end(1, 10);
  t.doesNotThrow(() => queue.checkRoom());
  t.equal(queue.count().refused, 1);
});

void t.test('few requests are never refused, however slow they are', async (t) => {
  const { queue, add, end } = createControlledQueue();
  await add(2);
  await end(1, 60_000);
  await add(WAITING_MIN);
  t.same(queue.count(), { waiting: WAITING_MIN, running: 1, refused: 0 });
  t.throws(() => queue.checkRoom(), { code: 'busy' }, 'one more is');
});

void t.test('requests are refused while none ends', async (t) => {
  const { clock, add } = createControlledQueue();
  t.same(await add(1 + WAITING_MIN), []);
  clock.advance(1_000);
  t.same(await add(1), []);
  clock.advance(1);
  t.equal((await add(1)).length, 1);
});

void t.test('after an overload, new requests are admitted again', async (t) => {
  const { queue, add, end, clock } = createControlledQueue();
  await add(201);
  await end(201, 1);
  await add(1 + WAITING_MIN);
  clock.advance(30_000);
  t.equal((await add(10)).length, 10, 'the database did not answer for 30 s');
  await end(1 + WAITING_MIN, 1);
  t.same(queue.count(), { waiting: 0, running: 0, refused: 10 });
  t.same(await add(2 * WAITING_MIN), [], 'one pause is not the pace');
});

void t.test('a long idle time does not count as slow work', async (t) => {
  const { add, end, clock } = createControlledQueue();
  await add(1 + WAITING_MIN);
  await end(1 + WAITING_MIN, 2);
  clock.advance(3_600_000);
  t.same(await add(1 + 2 * WAITING_MIN), []);
});

void t.test('an overload that lasts keeps the queue short', async (t) => {
  const { queue, add, end } = createControlledQueue();
  let longest = 0;
  for (let nth = 0; nth < 2_000; nth += 1) {
    await add(3);
    await end(1, 10);
    longest = Math.max(longest, queue.count().waiting);
  }
  t.ok(longest <= 100, `${longest} requests waited`);
  t.ok(longest >= 98, `${longest} requests waited`);
});

void t.test('requests that may block start in separate turns of the event loop', async (t) => {
  const { queue, add, end, endTurn } = createControlledQueue({ mayBlock: true, runningMax: 9 });
  await add(3);
  t.same(queue.count(), { waiting: 2, running: 1, refused: 0 });
  await end(1, 10);
  t.equal(queue.count().running, 0, 'even if the one before has ended');
  await endTurn();
  t.same(queue.count(), { waiting: 1, running: 1, refused: 0 });
  await endTurn();
  t.same(queue.count(), { waiting: 0, running: 2, refused: 0 });
  await endTurn();
  await add(1);
  t.equal(queue.count().running, 3, 'a request in a turn without another starts immediately');
});

void t.test('while many requests wait, several turns pass between two starts', async (t) => {
  const { queue, add, endTurn } = createControlledQueue({ mayBlock: true, runningMax: 9 });
  await add(1 + WAITING_MIN);
  for (let turn = 1; turn < 8; turn += 1) {
    await endTurn();
    t.equal(queue.count().running, 1, `turn ${turn}`);
  }
  await endTurn();
  t.equal(queue.count().running, 2);
  await endTurn();
  t.equal(queue.count().running, 3, 'fewer wait now');
});

void t.test('a request that ends twice counts once', async (t) => {
  const { queue } = createControlledQueue();
  const work = await queue.enter();
  work[Symbol.dispose]();
  work[Symbol.dispose]();
  t.equal(queue.count().running, 0);
});

void t.test('a request waits no longer than it may wait for the database', async (t) => {
  const { queue, add, end, clock } = createControlledQueue();
  await add(1);
  const refused = limitDatabaseWaits(0, () => queue.enter());
  const waiting = limitDatabaseWaits(60_000, () => queue.enter());
  await t.rejects(refused, { code: 'busy', message: 'Too much.' });
  t.same(queue.count(), { waiting: 1, running: 1, refused: 1 });
  await end(1, 10);
  (await waiting)[Symbol.dispose]();
  t.same(queue.count(), { waiting: 0, running: 0, refused: 1 });
  await add(1);
  await t.rejects(limitDatabaseWaits(0, () => queue.enter()));
  clock.advance(60_000);
  t.same(await add(WAITING_MIN + 1), [], 'no request waited during this time');
});
