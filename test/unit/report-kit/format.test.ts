/** Shares are rounded, and lower bounds are rounded down. */
import t from 'tap';
import { formatShare, formatShareAtLeast } from '../../../src/report-kit/format.ts';

void t.test('a lower bound is never rounded up', (t) => {
  t.equal(formatShare(0.97_06, 1), '97.1%');
  t.equal(formatShareAtLeast(0.97_06, 1), '97%');
  t.equal(formatShareAtLeast(0.29, 0), '29%', 'binary fractions do not matter');
  t.equal(formatShareAtLeast(0.999_96, 1), '99.9%');
  t.equal(formatShareAtLeast(1), '100%');
  t.end();
});

void t.test('percentages are rounded; only everything is 100%, and only nothing is 0%', (t) => {
  for (const [share, decimals, expected] of [
    [23 / 30, 1, '76.7%'],
    [29 / 30, 1, '96.7%'],
    [0.285, 1, '28.5%'],
    [0.125, 0, '13%'],
    [0.9996, 1, '99.9%'],
    [0.999999, 0, '99%'],
    [1e-9, 1, '0.1%'],
    [1, 1, '100%'],
    [0, 1, '0%'],
  ] as const) {
    t.equal(formatShare(share, decimals), expected);
  }
  t.end();
});
