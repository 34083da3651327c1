/**
 * The response times of a sandbox that takes 50 ms and stalls for 2 s in every 10 s are accurate to 3%,
 * compared with the computed ones. Needs an idle machine.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { readLatencies, runLoad } from '../../support/measurements/run-load.ts';
import { ROOT } from '../../support/repository.ts';

/** A fifth of all requests arrive during a stall; their waits are uniform from 0 to 2 s. */
const expected = { p50: 50, p90: 1_050, p99: 1_950, mean: 250 };

void t.test('the mean and the percentiles are accurate to 3%, the median to 3 ms', async (t) => {
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
});
