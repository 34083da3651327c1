/** The rate limit of a key is exact across replicas, and holds per process without the database. */
import pg from 'pg';
import t, { type Test } from 'tap';
import {
  createAdjustableClock,
  type AdjustableClock,
} from '../../../../src/platform/adjustable-clock.ts';
import { systemClock, type Clock } from '../../../../src/platform/clock.ts';
import { manualClock, type ManualClock } from '../../../../src/platform/manual-clock.ts';
import type { RateLimitResult } from '../../../../src/service/requests/rate-limiter.ts';
import { openPool } from '../../../../src/service/store/postgres/pool.ts';
import {
  CREATE_RATE_LIMITS,
  createSharedRateLimiter,
  type SharedRateLimiter,
} from '../../../../src/service/store/postgres/rate-limit.ts';
import { execute, withPostgres, withPostgresServer } from '../../../support/database/postgres.ts';
import { NOON_MS } from '../../../support/database/rows.ts';
import { createLineLog } from '../../../support/services/log-lines.ts';

const caller = { ownerId: 'owner', keyDigest: 'digest' };

interface Replica {
  limiter: SharedRateLimiter;
  pool: pg.Pool;
  lines: string[];
  /** The clock with which the replica limits how long the database takes. */
  machineClock: ManualClock;
}

function openReplica(
  t: Test,
  url: string,
  { clock, isClockInjected = false }: { clock: AdjustableClock; isClockInjected?: boolean },
): Replica {
  const pool = openPool(url);
  t.teardown(() => pool.end());
  const machineClock = manualClock(NOON_MS);
  const { log, lines } = createLineLog();
  const limiter = createSharedRateLimiter({
    pool,
    clock,
    isClockInjected,
    machineClock,
    log,
  });
  return { limiter, pool, lines, machineClock };
}

const repeat = <Result>(times: number, run: (nth: number) => Result): Result[] =>
  Array.from({ length: times }, (_, nth) => run(nth));

/** Sends requests concurrently, to the replicas in turn. */
const sendAll = (
  replicas: readonly Replica[],
  count: number,
  who = caller,
): Promise<RateLimitResult[]> =>
  Promise.all(
    replicas.flatMap(({ limiter }, nth) => {
      const share = Math.ceil((count - nth) / replicas.length);
      return repeat(share, () => limiter.countRequest(who));
    }),
  );

const countAdmitted = (results: readonly RateLimitResult[]): number =>
  results.filter(({ admitted }) => admitted).length;

interface Replicas {
  url: string;
  replicas: Replica[];
  /** The first replica. */
  replica: Replica;
  clock: AdjustableClock;
}

/** Opens three replicas on a database, which follow the system clock or an injected one. */
async function withReplicas(t: Test, injected?: Clock): Promise<Replicas> {
  const { url } = await withPostgres(t);
  await execute(url, CREATE_RATE_LIMITS);
  const clock = createAdjustableClock(injected ?? systemClock);
  const open = (): Replica =>
    openReplica(t, url, { clock, isClockInjected: injected !== undefined });
  const replica = open();
  return { url, replica, replicas: [replica, ...repeat(2, open)], clock };
}

void t.test('of 200 concurrent requests to 3 replicas, exactly 120 are admitted', async (t) => {
  const { replicas } = await withReplicas(t);
  const results = await sendAll(replicas, 200);
  t.equal(results.length, 200);
  t.equal(countAdmitted(results), 120);
  const rejected = results.filter((each) => !each.admitted);
  t.equal(rejected.filter(({ isFirst }) => isFirst).length, 1, 'one rejection is the first');
  for (const { retryAfterS } of rejected) t.ok(retryAfterS >= 1 && retryAfterS <= 60);
  for (const { lines } of replicas) t.same(lines, [], 'the database decided about all');
  const other = { ...caller, keyDigest: 'other' };
  t.equal(countAdmitted(await sendAll(replicas, 3, other)), 3, 'another key has its own limit');
});

void t.test('the check of a request does not count it, and asks no database', async (t) => {
  const { url, replicas } = await withReplicas(t);
  const [one, two, three] = replicas.map(({ limiter }) => limiter);
  if (!one || !two || !three) throw new Error('There are three replicas.');
  await Promise.all(repeat(150, () => one.checkRequest(caller)));
  await Promise.all(repeat(119, () => one.countRequest(caller)));
  await execute(url, 'alter table rate_limits rename to away');
  t.match(await one.checkRequest(caller), { admitted: true });
  await execute(url, 'alter table away rename to rate_limits');
  t.match(await two.countRequest(caller), { admitted: true }, 'the 120th');
  t.match(await three.checkRequest(caller), { admitted: true }, 'it does not know the others');
  t.match(await three.countRequest(caller), { admitted: false, isFirst: true });
  t.match(await three.checkRequest(caller), { admitted: false, isFirst: false });
  t.match(await two.countRequest(caller), { admitted: false, isFirst: false });
});

void t.test('the check of a full window asks whether it is the first rejection', async (t) => {
  const { replicas } = await withReplicas(t);
  const [one, two] = replicas.map(({ limiter }) => limiter);
  if (!one || !two) throw new Error('There are three replicas.');
  await Promise.all(repeat(120, () => one.countRequest(caller)));
  t.match(await two.countRequest(caller), { admitted: false, isFirst: true });
  t.match(await one.checkRequest(caller), { admitted: false, isFirst: false });
});

void t.test('the window slides: rejected requests do not extend it', async (t) => {
  const { replicas, clock } = await withReplicas(t);
  await sendAll(replicas, 100);
  clock.advance(30_000);
  t.equal(countAdmitted(await sendAll(replicas, 40)), 20);
  clock.advance(30_000);
  t.equal(countAdmitted(await sendAll(replicas, 110)), 100, 'the first 100 have left');
  clock.advance(600_000);
  t.equal(countAdmitted(await sendAll(replicas, 130)), 120);
});

void t.test('an injected clock decides about the window, to the millisecond', async (t) => {
  const injected = manualClock(NOON_MS);
  const { replicas, replica, clock } = await withReplicas(t, injected);
  await sendAll(replicas, 60);
  injected.advance(30_500);
  t.equal(countAdmitted(await sendAll(replicas, 61)), 60);
  t.match(await replica.limiter.countRequest(caller), { admitted: false, retryAfterS: 30 });
  clock.advance(29_499);
  t.match(await replica.limiter.countRequest(caller), { admitted: false, retryAfterS: 1 });
  injected.advance(1);
  t.equal(countAdmitted(await sendAll(replicas, 61)), 60, 'the first 60 have left');
});

void t.test('a rejected key does not reach the database again', async (t) => {
  const { url, replica } = await withReplicas(t);
  await sendAll([replica], 121);
  await execute(url, 'alter table rate_limits rename to away');
  t.match(await replica.limiter.checkRequest(caller), { admitted: false, isFirst: false });
  t.match(await replica.limiter.countRequest(caller), { admitted: false, isFirst: false });
  t.same(replica.lines, []);
});

void t.test('clearing an owner clears only its keys', async (t) => {
  const { replicas } = await withReplicas(t);
  const other = { ownerId: 'other', keyDigest: 'of other' };
  for (const who of [caller, other]) await sendAll(replicas, 130, who);
  await replicas[0]?.limiter.clear(caller.ownerId);
  for (const { limiter } of replicas.slice(1)) limiter.forgetOwner(caller.ownerId);
  t.equal(countAdmitted(await sendAll(replicas, 130)), 120);
  t.equal(countAdmitted(await sendAll(replicas, 10, other)), 0);
});

void t.test(
  'while the database is unreachable, each replica limits its own requests',
  async (t) => {
    const { url, stop, start } = await withPostgresServer(t);
    await execute(url, CREATE_RATE_LIMITS);
    const replica = openReplica(t, url, { clock: createAdjustableClock(systemClock) });
    await sendAll([replica], 50);
    await stop();
    t.equal(countAdmitted(await sendAll([replica], 90)), 70, 'it remembers the first 50');
    t.equal(replica.lines.length, 1, 'the log says so once');
    t.match(
      replica.lines[0],
      /"rate_limit_not_shared","reason":"(ECONNREFUSED|57P01|connection_lost)"/,
    );
    replica.machineClock.advance(60_000);
    await replica.limiter.checkRequest(caller);
    t.equal(replica.lines.length, 2, 'the log repeats it after a minute');
    await start();
    t.match(await replica.limiter.countRequest({ ...caller, keyDigest: 'new' }), {
      admitted: true,
    });
    t.equal(replica.lines.length, 2, 'the database decides again');
  },
);

void t.test('a slow database delays a request by at most 250 ms', async (t) => {
  const { url, replica } = await withReplicas(t);
  await replica.limiter.countRequest(caller);
  const locker = new pg.Client({ connectionString: url });
  await locker.connect();
  t.teardown(() => locker.end());
  await locker.query('begin');
  await locker.query('select * from rate_limits for update');
  const waiting = sendAll([replica], 130);
  replica.machineClock.advance(249);
  t.same(replica.lines, []);
  replica.machineClock.advance(1);
  t.equal(countAdmitted(await waiting), 119, 'the window of this process has one request already');
  t.match(replica.lines, [/"reason":"(slow|too_many_pending)"/]);
  await locker.query('rollback');
});
