/**
 * The response times of a sandbox that takes 50 ms and stalls for 2 s in every 10 s, compared with the
 * computed ones: the stall is not hidden. `test/nightly/measured/load-truth.test.ts` checks that the values
 * are accurate.
 */
import t from 'tap';
import { createScaledClock } from '../../src/platform/clock.ts';
import { withTarget } from '../support/measurements/load-target.ts';
import { readLatencies, runLoad } from '../support/measurements/run-load.ts';

const SERVICE_MS = 50;
const EVERY_MS = 10_000;
const STALL_MS = 2_000;
/** A fifth of all requests arrive during a stall; their waits are uniform from 0 to 2 s. */
const expected = { p50: 50, p90: 1_050, p99: 1_950, mean: 250 };

void t.test('the waits of requests that arrive during a stall are not hidden', async (t) => {
  // The clock runs five times as fast as real time. The run covers a whole cycle, so it does not matter
  // when it starts.
  const clock = createScaledClock(5);
  const { url } = await withTarget(t, ({ answer }) => {
    const inCycleMs = clock.monotonicMs() % EVERY_MS;
    void clock.sleep(Math.max(0, STALL_MS - inCycleMs) + SERVICE_MS).then(() => answer());
  });
  const report = await runLoad(url, { clock, ratePerSecond: 50, windowMs: EVERY_MS });
  const { p50, p90, p99, mean } = readLatencies(report);
  t.ok(p50 >= expected.p50 - 10, `p50 ${p50} ms`);
  // A closed loop would report a p90 of 52 ms and a mean of 73 ms.
  t.ok(
    p90 > expected.p90 * 0.97 && mean > expected.mean * 0.97,
    `p90 ${p90} ms, p99 ${p99} ms, mean ${mean} ms`,
  );
  t.ok(p99 > expected.p99 * 0.97, `p99 ${p99} ms`);
  t.match(report.chat, { offered: 500, sent: 500, ok: 500 });
  t.equal(report.trend?.rising, false, 'a stall that ends is not a growing backlog');
});
