/** The statistics behind load verdicts, compared with published or computed values. */
import t from 'tap';
import { findOutages } from '../../../load/verdict/availability.ts';
import {
  probabilityOfAtMost,
  findRankAbove,
  findRankBelow,
  countSamplesNeeded,
  findLowerBound,
  findUpperBound,
} from '../../../load/verdict/binomial.ts';
import type { Block } from '../../../load/record/blocks.ts';
import { findUpperBoundWithBursts, judgeShare } from '../../../load/verdict/share.ts';
import { measureInFlightTrend } from '../../../load/verdict/throughput.ts';
import { estimateTrend } from '../../../load/verdict/trend.ts';
import { createHistogram } from '../../../load/record/histogram.ts';
import { seededRandom } from '../../../src/platform/random.ts';

const chance = seededRandom('statistics');
const isNear = (actual: number, expected: number, tolerance = 1e-6): boolean =>
  Math.abs(actual - expected) <= tolerance;

void t.test('exact bounds match the tables (Clopper-Pearson, one-sided 95%)', (t) => {
  // For 0 hits there is a closed form: 1 - 0.05^(1/n).
  for (const n of [1, 10, 59, 299, 2_995, 100_000]) {
    t.ok(isNear(findUpperBound(0, n), 1 - 0.05 ** (1 / n), 1e-9), `0 of ${n}`);
    t.ok(isNear(findLowerBound(n, n), 0.05 ** (1 / n), 1e-9), `${n} of ${n}`);
  }
  const table: [hits: number, samples: number, low: number, high: number][] = [
    [1, 10, 0.005116197, 0.394163302],
    [5, 10, 0.222441101, 0.777558899],
    [2, 20, 0.018065203, 0.282618525],
    [50, 100, 0.413621715, 0.586378285],
  ];
  for (const [hits, samples, low, high] of table) {
    t.ok(isNear(findLowerBound(hits, samples), low), `${hits} of ${samples}, low`);
    t.ok(isNear(findUpperBound(hits, samples), high), `${hits} of ${samples}, high`);
  }
  t.same(
    [findUpperBound(0, 0), findLowerBound(0, 0), findUpperBound(7, 7), findLowerBound(0, 7)],
    [1, 0, 1, 0],
  );
  t.ok(isNear(probabilityOfAtMost(2, 5, 0.5), 0.5), 'at most 2 heads in 5 coin tosses');
  t.end();
});

void t.test(
  'the number of failures that pass, and that fail, depends on the number of samples',
  (t) => {
    const rows: [samples: number, passAtMost: number, failFrom: number][] = [
      [3_000, 0, 7],
      [6_000, 1, 11],
      [12_000, 6, 19],
      [30_000, 20, 40],
      [60_000, 47, 74],
      [360_000, 328, 392],
    ];
    for (const [samples, pass, fail] of rows) {
      // A single block, so that the bound for bursts does not apply.
      const judge = (hits: number): string =>
        judgeShare([{ samples, hits }], 0.001, chance).verdict;
      t.same(
        [judge(pass), judge(pass + 1), judge(fail - 1), judge(fail)],
        ['PASS', 'NOT PROVEN', 'NOT PROVEN', 'FAIL'],
        `${samples} samples`,
      );
    }
    t.same([0.05, 0.01, 0.001].map(countSamplesNeeded), [59, 299, 2_995]);
    t.end();
  },
);

void t.test('ranks bound a percentile if there are enough samples', (t) => {
  t.same([findRankBelow(99, 6_000), findRankAbove(99, 6_000)], [5_927, 5_953]);
  t.equal(findRankAbove(99, 298), undefined);
  t.equal(findRankAbove(99, 299), 299, 'the largest sample is the bound');
  t.equal(findRankAbove(50, 5), 5);
  t.equal(findRankAbove(50, 4), undefined);
  t.equal(findRankBelow(50, 5), 1);
  t.end();
});

void t.test('failures in bursts widen the confidence bound', (t) => {
  const spread: Block[] = Array.from({ length: 60 }, (_, nth) => ({
    samples: 500,
    hits: nth % 3 === 0 ? 1 : 0,
  }));
  const burst: Block[] = spread.map((_, nth) => ({ samples: 500, hits: nth === 30 ? 20 : 0 }));
  t.equal(judgeShare(spread, 0.001, chance).verdict, 'PASS', '20 of 30,000, spread');
  const judgment = judgeShare(burst, 0.001, chance);
  t.equal(judgment.verdict, 'NOT PROVEN', '20 of 30,000, in one burst');
  t.match(judgment.reservation, /bursts/);
  const [first, second] = [1, 2].map(() => findUpperBoundWithBursts(burst, seededRandom('same')));
  t.equal(first, second, 'the same seed gives the same bound');
  t.equal(findUpperBoundWithBursts(burst.slice(0, 3), chance), 0, 'three blocks are too few');
  t.equal(findUpperBoundWithBursts([], chance), 0);
  t.end();
});

void t.test('a trend is the median of all slopes, so outliers do not change it', (t) => {
  const line = Array.from({ length: 100 }, (_, x) => 2 * x + 5);
  t.match(estimateTrend(line), { slope: 2, low: 2, high: 2 });
  const spiked = line.map((y, x) => (x % 10 === 3 ? y + 10_000 : y));
  t.ok(isNear(estimateTrend(spiked).slope, 2, 0.2), '10% outliers');
  const long = Array.from({ length: 3_000 }, (_, x) => x / 10);
  t.ok(isNear(estimateTrend(long).slope, 0.1, 1e-9), 'a long series is averaged into fewer points');
  t.same(estimateTrend([1, 2, 3]), { slope: 0, low: -Infinity, high: Infinity });
  t.end();
});

void t.test('requests in flight: stalls that end are not a rise; a growing queue is', (t) => {
  const stalls = Array.from({ length: 600 }, (_, step) => {
    const inCycle = step % 100;
    return inCycle < 20 ? inCycle * 10 : 5;
  });
  t.equal(measureInFlightTrend(stalls, 100).rising, false);
  const noise = (step: number): number => Math.sin(step * 12.9898) * 20;
  const queue = Array.from({ length: 200 }, (_, step) => 20 + step * 2 + noise(step));
  const trend = measureInFlightTrend(queue, 120);
  t.ok(trend.rising && isNear(trend.perSecond, 20, 1), `rises by ${trend.perSecond} a second`);
  const flat = Array.from({ length: 200 }, (_, step) => 20 + noise(step));
  t.equal(measureInFlightTrend(flat, 120).rising, false);
  t.end();
});

void t.test('a histogram keeps three significant digits and the exact maximum', (t) => {
  const times = createHistogram();
  t.same(times.summary(), { p50: null, p90: null, p99: null, p999: null, max: null, mean: null });
  for (let ms = 1; ms <= 1_000; ms++) times.record(ms);
  const { p50, p90, p99, p999, max, mean } = times.summary();
  for (const [actual, expected] of [
    [p50, 500],
    [p90, 900],
    [p99, 990],
    [p999, 999],
  ] as const) {
    t.ok(isNear(actual ?? 0, expected, expected / 1000), `${actual}, expected ${expected}`);
  }
  t.same([max, mean], [1_000, 500.5]);
  t.ok(isNear(times.atRank(7) ?? 0, 7, 0.007));
  times.record(600_000);
  t.equal(times.summary().max, 600_000, 'the range grows as needed');
  t.end();
});

void t.test(
  'an outage lasts from the first failed request to the next successful one of the stream',
  (t) => {
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
      'health responses do not end an outage of chat',
    );
    const unended = chat.map(({ dueMs }) => ({ dueMs, failed: dueMs >= 9_000 }));
    t.match(findOutages([unended], 10_000), { longestMs: 1_000, incidents: 1, cleanSeconds: 9 });
    t.match(findOutages([[]], 10_000), { longestMs: 0, incidents: 0, cleanSeconds: 10 });
    t.end();
  },
);
