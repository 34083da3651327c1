/** Shards of a load test, each with its own load generator, send the schedule of one run. */
import t, { type Test } from 'tap';
import { mergeReports, type LoadRun } from '../../load/index.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { callAfter, withTarget } from '../support/measurements/load-target.ts';
import { findTarget, runLoad } from '../support/measurements/run-load.ts';
import { withConnectProxy } from '../support/network/connect-proxy.ts';

/** Runs all shards at the same time, and returns their reports. */
function runShards(url: string, count: number, over: Partial<LoadRun> = {}): Promise<LoadReport[]> {
  const startAtMs = systemClock.nowMs() + 1_500;
  return Promise.all(
    Array.from({ length: count }, (_, nth) =>
      runLoad(url, { ...over, shard: { index: nth + 1, count, startAtMs } }),
    ),
  );
}

const merge = (reports: readonly LoadReport[]): LoadReport =>
  mergeReports(
    reports.map((report, nth) => ({ name: `${nth + 1}.json`, report })),
    { acceptNotProven: true },
  );

/** Starts a sandbox that records the session of each chat request. */
async function withRecorder(t: Test): Promise<{ url: string; sessions: string[] }> {
  const sessions: string[] = [];
  const { url } = await withTarget(t, ({ session, answer }) => {
    sessions.push(session);
    answer();
  });
  return { url, sessions };
}

void t.test('three shards send the requests of one run, each once', async (t) => {
  const whole = await withRecorder(t);
  const parts = await withRecorder(t);
  const over = { arrivals: 'poisson', warmUpMs: 0 } as const;
  const single = await runLoad(whole.url, over);
  const shards = await runShards(parts.url, 3, over);
  t.same(parts.sessions.toSorted(), whole.sessions.toSorted());
  const merged = merge(shards);
  const { offered, sent, ok } = single.chat ?? {};
  t.match(merged.chat, { offered, sent, ok });
  t.same(
    merged.timeline.map((row) => row.offered).filter((count) => count > 0),
    single.timeline.map((row) => row.offered).filter((count) => count > 0),
    'the same arrivals in each second',
  );
  t.equal(merged.verdict, single.verdict);
  t.equal(findTarget(merged, 'availability').samples, findTarget(single, 'availability').samples);
});

void t.test('the warm-up of all shards is that of one run, and no id occurs twice', async (t) => {
  const { url, sessions } = await withRecorder(t);
  const shards = await runShards(url, 2, { warmUpMs: 2_000 });
  t.equal(new Set(sessions).size, sessions.length, 'all are different');
  const { warmUp } = merge(shards);
  t.equal(warmUp?.connections, 10);
  t.equal(warmUp?.p50Ms, null);
});

void t.test('simulated users are distributed, too', async (t) => {
  const { url } = await withTarget(t);
  const over = { profile: 'conversation', simulatedUsers: 5, windowMs: 3_000 } as const;
  const shards = await runShards(url, 2, over);
  const merged = merge(shards);
  t.equal(merged.plan.simulatedUsers, 5);
  const [first = 0, second = 0] = shards.map(({ chat }) => chat?.offered ?? 0);
  t.ok(first > 0 && second > 0, `${first} and ${second} requests`);
  t.equal(merged.chat?.offered, first + second);
});

void t.test(
  'a shard that is not ready at the start time sends nothing but its preflight',
  async (t) => {
    const { url, sessions } = await withRecorder(t);
    const report = await runLoad(url, {
      shard: { index: 1, count: 2, startAtMs: systemClock.nowMs() - 700 },
    });
    t.match(report, { verdict: 'INVALID RUN', exitCode: 3, shard: { index: 1, count: 2 } });
    t.match(
      report.blockedBy?.message,
      /^The start time passed \d.* before shard 1\/2 was ready\.$/,
    );
    t.equal(sessions.length, 0);
  },
);

void t.test('behind a proxy, slow responses of the warm-up do not delay the start', async (t) => {
  const { url } = await withTarget(t, ({ answer }) => callAfter(2_500, answer));
  const proxy = await withConnectProxy(t, { routes: { 'sandbox.test:80': url } });
  const report = await runLoad('http://sandbox.test', {
    ratePerSecond: 5,
    windowMs: 1_000,
    warmUpMs: 2_000,
    connection: { proxies: { http: proxy.url } },
    shard: { index: 1, count: 1, startAtMs: systemClock.nowMs() + 2_000 },
  });
  t.equal(report.blockedBy, undefined);
  t.match(report.chat, { offered: 5, ok: 5 });
});
