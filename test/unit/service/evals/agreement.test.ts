/** Cohen's kappa against published values. */
import t from 'tap';
import {
  computeKappa,
  measureAgreement,
  REVIEWS_MIN,
} from '../../../../src/service/evals/agreement.ts';

const round = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : Math.round(value * 1e4) / 1e4;

void t.test('kappa is that of published examples', (t) => {
  for (const [counts, kappa] of [
    // The example of Wikipedia: 50 grant proposals, two readers.
    [[20, 5, 10, 15], 0.4],
    // Its examples of equal agreement with different marginals.
    [[45, 15, 25, 15], 0.1304],
    [[25, 35, 5, 35], 0.2593],
    [[10, 0, 0, 10], 1],
    [[0, 10, 10, 0], -1],
    [[5, 5, 5, 5], 0],
  ] as const) {
    const [a, b, c, d] = counts;
    t.equal(
      round(
        computeKappa([
          [a, b],
          [c, d],
        ]),
      ),
      kappa,
      counts.join(),
    );
  }
  // Cohen (1960), table 1: three categories, 200 items.
  t.equal(
    round(
      computeKappa([
        [88, 14, 18],
        [10, 40, 10],
        [2, 6, 12],
      ]),
    ),
    0.4915,
  );
  t.end();
});

void t.test('kappa is undefined where it says nothing', (t) => {
  t.equal(
    computeKappa([
      [0, 0],
      [0, 0],
    ]),
    undefined,
  );
  t.equal(
    computeKappa([
      [7, 0],
      [0, 0],
    ]),
    undefined,
    'one label',
  );
  t.end();
});

void t.test('an outcome marked wrong is the opposite to a person', (t) => {
  const counts = { pass: { right: 20, wrong: 5 }, fail: { wrong: 10, right: 15 } };
  const { reviewed, right, kappa } = measureAgreement(counts);
  t.same([reviewed, right, round(kappa)], [50, 35, 0.4]);
  const few = { pass: { right: REVIEWS_MIN - 2, wrong: 0 }, fail: { right: 1, wrong: 0 } };
  t.same(measureAgreement(few), { reviewed: 19, right: 19, kappa: undefined });
  t.end();
});
