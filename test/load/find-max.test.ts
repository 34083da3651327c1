/** The rate that a sandbox holds: how it is searched for, and what is said of it. */
import t from 'tap';
import { searchRate, type Bracket } from '../../load/find-max/search.ts';
import { scaledClock } from '../../src/platform/clock.ts';
import { loaded, targetIn, withTarget, workers } from '../helpers/load.ts';

t.setTimeout(110_000);

const BOUNDS = { startPerSecond: 10, minPerSecond: 1, maxPerSecond: 2_000 };

/** The search for a capacity that is known, with the rates that it tried. */
async function searched(capacity: number, bounds = BOUNDS): Promise<Bracket & { tried: number[] }> {
  const tried: number[] = [];
  const bracket = await searchRate(bounds, (rate) => {
    tried.push(rate);
    return Promise.resolve({ holds: rate <= capacity });
  });
  return { ...bracket, tried };
}

void t.test('any capacity is found within 10 %, from below and from above', async (t) => {
  for (const capacity of [1, 3.3, 9.9, 10, 42, 100, 333, 1_234, 1_999]) {
    for (const startPerSecond of [10, 500]) {
      const {
        sustains = 0,
        fails = 0,
        tried,
      } = await searched(capacity, { ...BOUNDS, startPerSecond });
      const title = `${capacity} from ${startPerSecond}: ${tried.join(', ')}`;
      t.ok(sustains <= capacity && capacity < fails, title);
      t.ok(fails / sustains <= 1.1 + 1e-9, title);
      t.ok(tried.length <= 25, title);
    }
  }
});

void t.test('the search ends at its bounds, and where it is told to', async (t) => {
  t.match(await searched(5_000), { sustains: 2_000, fails: undefined });
  t.match(await searched(0.5), { sustains: undefined, fails: 1 });
  let tries = 0;
  const stopped = await searchRate(BOUNDS, () =>
    Promise.resolve({ holds: ++tries < 3, last: tries === 3 }),
  );
  t.equal(tries, 3);
  t.same(stopped, { sustains: 15, fails: 22.5 });
});

void t.test('a sandbox that holds 30 requests/s is found out, and misses the target', async (t) => {
  // Four times as fast as the machine: a worker's 25 ms are 100.
  const { url } = await withTarget(t, workers(3, 25));
  const report = await loaded(url, {
    clock: scaledClock(4),
    windowMs: 8_000,
    findMax: { stepMs: 4_000 },
  });
  const { sustains, fails, steps = [], summary = '', probePerSecond } = report.findMax ?? {};
  t.ok(
    steps.length >= 3,
    steps.map(({ ratePerSecond, reason }) => `${ratePerSecond}: ${reason}`).join('; '),
  );
  t.ok((fails ?? 999) <= 60, summary);
  t.ok(sustains === null || (sustains ?? 0) < (fails ?? 0), summary);
  // The closed loop is autocannon's, which knows the machine's own time alone: 120 a second there.
  t.ok((probePerSecond ?? 0) > 0 && (probePerSecond ?? 999) < 125, `${probePerSecond} in a loop`);
  t.equal(targetIn(report, 'chat-throughput').verdict, 'FAIL', 'it is below 100 requests/s');
  t.equal(report.exitCode, 1);
  t.match(report.sentence, /^(Sustains|Held for a step|Not even) .*requests\/s/);
});

void t.test('interrupted, a search judges nothing', async (t) => {
  const stop = new AbortController();
  const { url } = await withTarget(t, ({ nth, answer }) => {
    answer();
    if (nth === 30) stop.abort();
  });
  const over = { windowMs: 2_000, findMax: { stepMs: 2_000 }, signal: stop.signal };
  const report = await loaded(url, over);
  t.equal(report.verdict, 'INVALID RUN');
  t.equal(report.exitCode, 3);
  t.same(report.findMax?.sustains, null, 'a step that was broken off shows nothing');
});

void t.test('interrupted as it confirms a rate, it says so, and that a step held it', async (t) => {
  const stop = new AbortController();
  const { url } = await withTarget(t);
  const report = await loaded(url, {
    windowMs: 30_000,
    findMax: { stepMs: 1_000 },
    // Only the confirmation has so much left.
    onTick: ({ phase, leftMs }) => {
      if (phase === 'window' && leftMs > 5_000) stop.abort();
    },
    signal: stop.signal,
  });
  const { sustains, confirmed, steps = [] } = report.findMax ?? {};
  t.equal(confirmed, false);
  t.notSame(sustains, null);
  t.ok(
    steps.length > 0 && steps.every(({ reason }) => !/confirm/.test(reason)),
    'nor a step of it',
  );
  t.match(
    report.sentence,
    /^Not judged: The run was interrupted after \d+ of 30 s\. \d[\d,.]* requests\/s held for a step, which is not confirmed\.$/,
  );
});
