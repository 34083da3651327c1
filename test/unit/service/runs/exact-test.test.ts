/** The exact test: values of R's `fisher.test`, the sign test, and full enumeration. */
import t from 'tap';
import { testDifference, type Counts } from '../../../../src/service/runs/comparison/exact-test.ts';
import { atNight } from '../../../support/nightly.ts';

const computeChance = (before: Counts, after: Counts): number =>
  testDifference([{ before, after }]).p;

void t.test('the p-value is that of the two-sided test', (t) => {
  const rows: [before: [number, number], after: [number, number], p: number][] = [
    [[3, 1], [1, 3], 0.4857142857],
    [[3, 0], [0, 3], 0.1],
    [[10, 0], [6, 4], 0.0866873065],
    [[8, 2], [1, 5], 0.034965035],
    [[1, 0], [0, 1], 1],
    [[5, 5], [5, 5], 1],
    [[0, 4], [0, 9], 1],
  ];
  for (const [[p1, f1], [p2, f2], expected] of rows) {
    const [before, after] = [
      { passed: p1, failed: f1 },
      { passed: p2, failed: f2 },
    ];
    for (const p of [computeChance(before, after), computeChance(after, before)]) {
      t.ok(Math.abs(p - expected) < 1e-6, `${p1}/${f1} and ${p2}/${f2}: ${p}, not ${expected}`);
    }
  }
  t.end();
});

void t.test('100,000 samples need no large numbers', (t) => {
  const before = { passed: 95_000, failed: 5_000 };
  t.ok(computeChance(before, { passed: 80_000, failed: 20_000 }) < 1e-9);
  const close = computeChance(before, { passed: 94_950, failed: 5_050 });
  t.ok(close > 0.5 && close < 0.7, String(close));
  t.equal(computeChance(before, before), 1);
  t.equal(computeChance({ passed: 0, failed: 0 }, before), 1);
  t.end();
});

const counts = (passed: number, failed: number): Counts => ({ passed, failed });

void t.test('with one sample of each scenario, it is the sign test of those that changed', (t) => {
  const [pass, fail] = [counts(1, 0), counts(0, 1)];
  const strata = (worse: number, better: number, same: number) => [
    ...Array.from({ length: worse }, () => ({ before: pass, after: fail })),
    ...Array.from({ length: better }, () => ({ before: fail, after: pass })),
    ...Array.from({ length: same }, () => ({ before: pass, after: pass })),
  ];
  for (const [worse, better, expected] of [
    [12, 0, 2 / 4096],
    [5, 1, 14 / 64],
    [6, 0, 2 / 64],
    [1, 0, 1],
    [3, 3, 1],
  ] as const) {
    const { p, shift } = testDifference(strata(worse, better, 7));
    t.ok(Math.abs(p - expected) < 1e-9, `${worse} worse, ${better} better: ${p}`);
    t.equal(Math.sign(shift), Math.sign(better - worse));
  }
  t.end();
});

/** Returns the p-value by trying every way to assign the samples of each stratum to the runs. */
function enumerate(strata: readonly { before: Counts; after: Counts }[]): number {
  let ways = new Map([[0, 1]]);
  for (const { before, after } of strata) {
    const size = after.passed + after.failed;
    const passes = before.passed + after.passed;
    const total = size + before.passed + before.failed;
    const next = new Map<number, number>();
    for (let chosen = 0; chosen < 2 ** total; chosen += 1) {
      const bits = Array.from({ length: total }, (_, nth) => (chosen >> nth) & 1);
      if (bits.filter((bit) => bit === 1).length !== size) continue;
      const passed = bits.slice(0, passes).filter((bit) => bit === 1).length;
      for (const [sum, count] of ways)
        next.set(sum + passed, (next.get(sum + passed) ?? 0) + count);
    }
    ways = next;
  }
  const observed = strata.reduce((sum, { after }) => sum + after.passed, 0);
  const all = [...ways.values()];
  const unlikely = all.filter((count) => count <= (ways.get(observed) ?? 0));
  const add = (values: readonly number[]) => values.reduce((left, right) => left + right, 0);
  return add(unlikely) / add(all);
}

void t.test('with several strata, the p-value is that of all assignments', (t) => {
  for (const strata of [
    [
      { before: counts(4, 1), after: counts(1, 4) },
      { before: counts(3, 0), after: counts(2, 2) },
    ],
    [
      { before: counts(2, 3), after: counts(5, 0) },
      { before: counts(1, 1), after: counts(0, 3) },
    ],
    [
      { before: counts(5, 0), after: counts(5, 0) },
      { before: counts(4, 0), after: counts(0, 4) },
    ],
  ]) {
    const [expected, { p }] = [enumerate(strata), testDifference(strata)];
    t.ok(Math.abs(p - expected) < 1e-9, `${p}, not ${expected}`);
  }
  t.end();
});

void t.test('many scenarios with 1,000 samples do not take minutes', (t) => {
  const strata = Array.from({ length: atNight(1_000, 200) }, (_, nth) => ({
    before: counts(900 + (nth % 50), 100 - (nth % 50)),
    after: counts(900 + ((nth * 7) % 50), 100 - ((nth * 7) % 50)),
  }));
  const { p } = testDifference(strata);
  t.ok(p > 0 && p <= 1, String(p));
  t.end();
});
