/** The search for the maximum rate that a sandbox sustains, and its report. */
import t from 'tap';
import { searchBracket, type Bracket } from '../../load/find-max/search.ts';
import { createScaledClock } from '../../src/platform/clock.ts';
import { withTarget, workers } from '../support/measurements/load-target.ts';
import { runLoad, findTarget } from '../support/measurements/run-load.ts';

const BOUNDS = { start: 10, min: 1, max: 2_000 };

/** Searches for a known capacity, and records the rates that the search tries. */
async function searchCapacity(
  capacity: number,
  bounds = BOUNDS,
): Promise<Bracket & { tried: number[] }> {
  const tried: number[] = [];
  const bracket = await searchBracket(bounds, (rate) => {
    tried.push(rate);
    return Promise.resolve({ holds: rate <= capacity });
  });
  return { ...bracket, tried };
}

void t.test('the search finds any capacity within 10%, from below and from above', async (t) => {
  for (const capacity of [1, 3.3, 9.9, 10, 42, 100, 333, 1_234, 1_999]) {
    for (const start of [10, 500]) {
      const {
        sustains = 0,
        fails = 0,
        tried,
      } = await searchCapacity(capacity, { ...BOUNDS, start });
      const title = `${capacity} from ${start}: ${tried.join(', ')}`;
      t.ok(sustains <= capacity && capacity < fails, title);
      t.ok(fails / sustains <= 1.1 + 1e-9, title);
      t.ok(tried.length <= 25, title);
    }
  }
});

void t.test(
  'the search ends at its bounds, and when an attempt is marked as the last',
  async (t) => {
    t.match(await searchCapacity(5_000), { sustains: 2_000, fails: undefined });
    t.match(await searchCapacity(0.5), { sustains: undefined, fails: 1 });
    let tries = 0;
    const stopped = await searchBracket(BOUNDS, () =>
      Promise.resolve({ holds: ++tries < 3, last: tries === 3 }),
    );
    t.equal(tries, 3);
    t.same(stopped, { sustains: 15, fails: 22.5 });
  },
);

void t.test(
  'the search finds the limit of a sandbox with 30 requests/s, which misses the target',
  async (t) => {
    // The clock runs four times as fast as real time, so 25 ms of a worker count as 100 ms.
    const { url } = await withTarget(t, workers(3, 25));
    const report = await runLoad(url, {
      clock: createScaledClock(4),
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
    t.ok(
      (probePerSecond ?? 0) > 0 && (probePerSecond ?? 999) < 32,
      `${probePerSecond} requests/s in the closed loop`,
    );
    t.equal(findTarget(report, 'chat-throughput').verdict, 'FAIL', 'below 100 requests/s');
    t.equal(report.exitCode, 1);
    t.match(
      report.sentence,
      /^The sandbox (sustains|sustained|does not sustain even) \d.*requests\/s/,
    );
  },
);

void t.test('an interrupted search gives no verdict', async (t) => {
  const stop = new AbortController();
  const { url } = await withTarget(t, ({ nth, answer }) => {
    answer();
    if (nth === 30) stop.abort();
  });
  const over = { windowMs: 2_000, findMax: { stepMs: 2_000 }, signal: stop.signal };
  const report = await runLoad(url, over);
  t.equal(report.verdict, 'INVALID RUN');
  t.equal(report.exitCode, 3);
  t.same(report.findMax?.sustains, null, 'an incomplete step does not count');
});

void t.test(
  'a search interrupted during the confirmation reports the unconfirmed rate',
  async (t) => {
    const stop = new AbortController();
    const { url } = await withTarget(t, workers(2, 20));
    const report = await runLoad(url, {
      windowMs: 30_000,
      findMax: { stepMs: 1_000 },
      // Only the confirmation lasts longer than 5 s.
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
      'the confirmation is not listed as a step',
    );
    t.match(
      report.sentence,
      /^Not judged: The run was interrupted after \d+ s of 30 s\. The sandbox sustained \d[\d,.]* requests\/s for one step; this rate is not confirmed\.$/,
    );
  },
);
