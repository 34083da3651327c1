/** Fisher's exact test, compared with values of R's `fisher.test`. */
import t from 'tap';
import { computeChance } from '../../../src/service/domain/chance.ts';

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
