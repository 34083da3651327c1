/**
 * The response times of a sandbox that takes 50 ms and stalls for 2 s in every 10 s, compared with the
 * computed ones. At a push, the test only checks that the stall is not hidden; at night, that the values
 * are accurate to 3%.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import type { LoadReport } from '../../src/contract/index.ts';
import { createScaledClock } from '../../src/platform/clock.ts';
import { runLoad, withTarget } from '../helpers/load.ts';
import { nightOnly } from '../helpers/nightly.ts';
import { ROOT } from '../helpers/repository.ts';

const SERVICE_MS = 50;
const EVERY_MS = 10_000;
const STALL_MS = 2_000;
/** A fifth of all requests arrive during a stall; their waits are uniform from 0 to 2 s. */
const expected = { p50: 50, p90: 1_050, p99: 1_950, mean: 250 };

const readLatencies = ({ chat }: LoadReport): Record<keyof typeof expected, number> => {
  const { p50, p90, p99, mean } = chat?.latencyMs ?? {};
  return { p50: p50 ?? NaN, p90: p90 ?? NaN, p99: p99 ?? NaN, mean: mean ?? NaN };
};

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

void t.test(
  'over 60 s, the mean and the percentiles are accurate to 3%, the median to 3 ms',
  nightOnly,
  async (t) => {
    // A separate process, so that reading responses does not delay the 200 that a stall sends together.
    const server = fork(join(ROOT, 'bench/load.ts'), ['serve', 'stall']);
    t.teardown(() => server.kill());
    const [url] = (await once(server, 'message')) as [string];
    const report = await runLoad(url, { ratePerSecond: 100, windowMs: 60_000 });
    t.equal(report.chat?.ok, 6_000);
    const latencies = readLatencies(report);
    for (const name of ['p50', 'p90', 'p99', 'mean'] as const) {
      const error = Math.abs(latencies[name] - expected[name]);
      const title = `${name} is ${latencies[name]} ms, expected ${expected[name]} ms`;
      t.ok(error <= Math.max(3, expected[name] * 0.03), title);
    }
  },
);
