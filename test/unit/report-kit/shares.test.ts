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
