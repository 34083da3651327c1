/** The statistics of a load verdict, against values known from elsewhere. */
import t from 'tap';
import { findOutages } from '../../../load/verdict/availability.ts';
import {
  atMost,
  rankAbove,
  rankBelow,
  samplesNeeded,
  shareAtLeast,
  shareAtMost,
} from '../../../load/verdict/binomial.ts';
import { burstyShareAtMost, type Block } from '../../../load/verdict/share.ts';
import { judgeShare } from '../../../load/verdict/share.ts';
import { measureInFlightTrend } from '../../../load/verdict/throughput.ts';
import { estimateTrend } from '../../../load/verdict/trend.ts';
import { createHistogram } from '../../../load/record/histogram.ts';
import { seededRandom } from '../../../src/platform/random.ts';

const chance = seededRandom('statistics');
const near = (found: number, known: number, within = 1e-6): boolean =>
  Math.abs(found - known) <= within;

void t.test('exact bounds are those of the tables (Clopper-Pearson, one-sided 95 %)', (t) => {
  // Of 0 hits in closed form: 1 - 0.05^(1/n).
  for (const n of [1, 10, 59, 299, 2_995, 100_000]) {
    t.ok(near(shareAtMost(0, n), 1 - 0.05 ** (1 / n), 1e-9), `0 of ${n}`);
    t.ok(near(shareAtLeast(n, n), 0.05 ** (1 / n), 1e-9), `${n} of ${n}`);
  }
  const known: [hits: number, samples: number, low: number, high: number][] = [
    [1, 10, 0.005116197, 0.394163302],
    [5, 10, 0.222441101, 0.777558899],
    [2, 20, 0.018065203, 0.282618525],
    [50, 100, 0.413621715, 0.586378285],
  ];
  for (const [hits, samples, low, high] of known) {
    t.ok(near(shareAtLeast(hits, samples), low), `${hits} of ${samples}, low`);
    t.ok(near(shareAtMost(hits, samples), high), `${hits} of ${samples}, high`);
  }
  t.same(
    [shareAtMost(0, 0), shareAtLeast(0, 0), shareAtMost(7, 7), shareAtLeast(0, 7)],
    [1, 0, 1, 0],
  );
  t.ok(near(atMost(2, 5, 0.5), 0.5), 'half of the coins');
  t.end();
});

void t.test('how many failures a window may have', (t) => {
  const rows: [samples: number, passAtMost: number, failFrom: number][] = [
    [3_000, 0, 7],
    [6_000, 1, 11],
    [12_000, 6, 19],
    [30_000, 20, 40],
    [60_000, 47, 74],
    [360_000, 328, 392],
  ];
  for (const [samples, pass, fail] of rows) {
    // Evenly spread, so that the bound for bursts is not the wider one.
    const word = (hits: number): string => judgeShare([{ samples, hits }], 0.001, chance).verdict;
    t.same(
      [word(pass), word(pass + 1), word(fail - 1), word(fail)],
      ['PASS', 'NOT PROVEN', 'NOT PROVEN', 'FAIL'],
      `${samples} samples`,
    );
  }
  t.same([0.05, 0.01, 0.001].map(samplesNeeded), [59, 299, 2_995]);
  t.end();
});

void t.test('ranks bound a percentile, or there are too few samples for it', (t) => {
  t.same([rankBelow(99, 6_000), rankAbove(99, 6_000)], [5_927, 5_953]);
  t.equal(rankAbove(99, 298), undefined);
  t.equal(rankAbove(99, 299), 299, 'the largest bounds it');
  t.equal(rankAbove(50, 5), 5);
  t.equal(rankAbove(50, 4), undefined);
  t.equal(rankBelow(50, 5), 1);
  t.end();
});

void t.test('failures in bursts are worth less than failures one by one', (t) => {
  const spread: Block[] = Array.from({ length: 60 }, (_, nth) => ({
    samples: 500,
    hits: nth % 3 === 0 ? 1 : 0,
  }));
  const burst: Block[] = spread.map((_, nth) => ({ samples: 500, hits: nth === 30 ? 20 : 0 }));
  t.equal(judgeShare(spread, 0.001, chance).verdict, 'PASS', '20 of 30 000');
  const judged = judgeShare(burst, 0.001, chance);
  t.equal(judged.verdict, 'NOT PROVEN', 'the same 20 at once may come again');
  t.match(judged.because, /bursts/);
  const again = [1, 2].map(() => burstyShareAtMost(burst, seededRandom('same')));
  t.equal(again[0], again[1], 'the same seed gives the same bound');
  t.equal(burstyShareAtMost(burst.slice(0, 3), chance), 0, 'three blocks show nothing');
  t.equal(burstyShareAtMost([], chance), 0);
  t.end();
});

void t.test('a trend is the median of all slopes, and outliers do not move it', (t) => {
  const line = Array.from({ length: 100 }, (_, x) => 2 * x + 5);
  t.match(estimateTrend(line), { slope: 2, low: 2, high: 2 });
  const spiked = line.map((y, x) => (x % 10 === 3 ? y + 10_000 : y));
  t.ok(near(estimateTrend(spiked).slope, 2, 0.2), 'a tenth of wild values');
  const long = Array.from({ length: 3_000 }, (_, x) => x / 10);
  t.ok(near(estimateTrend(long).slope, 0.1, 1e-9), 'a long series is averaged down');
  t.same(estimateTrend([1, 2, 3]), { slope: 0, low: -Infinity, high: Infinity });
  t.end();
});

void t.test('in flight: a stall that comes and goes does not rise, a queue does', (t) => {
  const STEP_MS = 100;
  const stalls = Array.from({ length: 600 }, (_, step) => {
    const inCycle = step % 100;
    return inCycle < 20 ? inCycle * 10 : 5;
  });
  t.equal(measureInFlightTrend(stalls, STEP_MS, 100).rising, false);
  const noise = (step: number): number => Math.sin(step * 12.9898) * 20;
  const queue = Array.from({ length: 200 }, (_, step) => 20 + step * 2 + noise(step));
  const trend = measureInFlightTrend(queue, STEP_MS, 120);
  t.ok(trend.rising && near(trend.perSecond, 20, 1), `rises by ${trend.perSecond} a second`);
  const flat = Array.from({ length: 200 }, (_, step) => 20 + noise(step));
  t.equal(measureInFlightTrend(flat, STEP_MS, 120).rising, false);
  t.end();
});

void t.test('a histogram keeps three digits, and the largest as it is', (t) => {
  const times = createHistogram();
  t.same(times.summary(), { p50: null, p90: null, p99: null, p999: null, max: null, mean: null });
  for (let ms = 1; ms <= 1_000; ms++) times.record(ms);
  const { p50, p90, p99, p999, max, mean } = times.summary();
  for (const [found, known] of [
    [p50, 500],
    [p90, 900],
    [p99, 990],
    [p999, 999],
  ] as const) {
    t.ok(near(found ?? 0, known, known / 1000), `${found} for ${known}`);
  }
  t.same([max, mean], [1_000, 500.5]);
  t.ok(near(times.atRank(7) ?? 0, 7, 0.007));
  times.record(600_000);
  t.equal(times.summary().max, 600_000, 'it grows with what it is given');
  t.end();
});

void t.test('outages: from the first that failed to the next that did not', (t) => {
  const chat = Array.from({ length: 100 }, (_, nth) => ({
    dueMs: nth * 100,
    failed: (nth >= 20 && nth < 45) || nth === 70,
  }));
  const health = Array.from({ length: 10 }, (_, nth) => ({ dueMs: nth * 1_000, failed: false }));
  const expected = { seconds: 10, cleanSeconds: 6, longestMs: 2_500, incidents: 2 };
  t.same(findOutages([chat], 10_000), expected);
  t.same(
    findOutages([chat, health], 10_000),
    expected,
    'health that answers ends no outage of chat',
  );
  const toTheEnd = chat.map(({ dueMs }) => ({ dueMs, failed: dueMs >= 9_000 }));
  t.match(findOutages([toTheEnd], 10_000), { longestMs: 1_000, incidents: 1, cleanSeconds: 9 });
  t.match(findOutages([[]], 10_000), { longestMs: 0, incidents: 0, cleanSeconds: 10 });
  t.end();
});
