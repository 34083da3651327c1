/** Runs that end early, and their reports. */
import t from 'tap';
import { createScaledClock } from '../../src/platform/clock.ts';
import { load } from '../../load/index.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import { withStoppingTarget, withTarget } from '../support/measurements/load-target.ts';
import { runOnQuietMachine } from '../support/measurements/quiet-machine.ts';
import {
  runLoad,
  loadOptions,
  findTarget,
  testedVerdicts,
} from '../support/measurements/run-load.ts';

// Long enough for the run to end early. The clock runs ten times as fast as real time.
const fast = { ratePerSecond: 10, windowMs: 300_000 };

void t.test('a sandbox that is down aborts the run with the verdict FAIL', async (t) => {
  const target = await withStoppingTarget(t, 50);
  const report = await runLoad(target.url, { ...fast, clock: createScaledClock(10) });
  t.equal(report.verdict, 'FAIL', report.sentence);
  t.match(
    report.aborted,
    /^The run was aborted because the sandbox is down: \d+ of \d+ requests failed within 10 s \(/,
  );
  t.match(report.aborted, /refused/);
  const ranS = report.timeline.filter(({ phase }) => phase === 'window').length;
  t.ok(ranS < 100, `aborted after ${ranS} s of 300 s`);
  t.match(
    findTarget(report, 'availability').reason,
    /^\d+ of \d+ requests succeeded \(\d+(\.\d+)?%\); errors: .*\d+ refused/,
  );
  t.equal(report.selfCheck.valid, true, 'the load generator kept up');
});

void t.test('an outage of several seconds is one incident with its duration', async (t) => {
  const runOutage = async (): Promise<LoadReport> => {
    const { url } = await withTarget(t, ({ nth, answer, response }) => {
      if (nth >= 100 && nth < 130) response.writeHead(503).end('{}');
      else answer();
    });
    return runLoad(url, { ...fast, windowMs: 30_000, clock: createScaledClock(10) });
  };
  const report = await runOnQuietMachine(
    t,
    runOutage,
    ({ chat, outages }) => chat?.offered === 300 && outages?.longestMs === 3_000,
  );
  if (!report) return;
  t.match(report.chat, { offered: 300, ok: 270, errors: { server_error: 30 } });
  t.match(report.outages, { incidents: 1, longestMs: 3_000, seconds: 30, cleanSeconds: 27 });
  t.equal(findTarget(report, 'availability').verdict, 'FAIL');
});

void t.test('a key that is refused during the run ends the run without a verdict', async (t) => {
  const target = await withTarget(t, ({ nth, answer, response }) => {
    if (nth < 20) answer();
    else response.writeHead(401).end('{}');
  });
  const report = await runLoad(target.url, { ...fast, clock: createScaledClock(10) });
  t.equal(report.verdict, 'INVALID RUN');
  t.match(report.blockedBy?.message, /^The sandbox refused the key during the run \(HTTP 401\)\.$/);
  t.ok(target.chats < 100, `${target.chats} requests in total`);
});

void t.test('an interrupted run reports its requests and gives no verdict', async (t) => {
  const stop = new AbortController();
  const target = await withTarget(t, ({ nth, answer }) => {
    answer();
    if (nth === 40) stop.abort();
  });
  const report = await runLoad(target.url, { windowMs: 60_000, signal: stop.signal });
  t.equal(report.verdict, 'INVALID RUN');
  t.equal(report.exitCode, 3);
  t.match(report.sentence, /^Not judged: The run was interrupted after \d+ s of 60 s\.$/);
  t.ok((report.chat?.ok ?? 0) >= 30, `${report.chat?.ok} successful responses in the report`);
  t.equal(new Set(Object.values(testedVerdicts(report))).size, 1, 'INVALID RUN for every target');
  const sent = target.chats;
  const again = await runLoad(target.url, { signal: AbortSignal.abort(), windowMs: 60_000 });
  t.equal(again.verdict, 'INVALID RUN', 'interrupted before the start');
  t.ok(target.chats <= sent + 1, 'no further requests');
});

void t.test('if the preflight is blocked, the run sends no requests', async (t) => {
  const target = await withTarget(t);
  const blockedBy = { message: 'There is no sandbox.', cure: 'Start it.' };
  const preflight = (): Promise<{ blockedBy: typeof blockedBy; hasUsers: boolean }> =>
    Promise.resolve({ blockedBy, hasUsers: false });
  const report = await runLoad(target.url, { preflight });
  t.match(report, { verdict: 'INVALID RUN', exitCode: 3, blockedBy, streams: [], timeline: [] });
  t.equal(report.sentence, 'Not judged: There is no sandbox.');
  t.equal(target.chats, 0);
});

void t.test(
  'a run reports its progress every second, from the preflight to the steady state',
  async (t) => {
    const { url } = await withTarget(t, ({ nth, answer, response }) => {
      if (nth % 10 === 9) response.writeHead(500).end('{}');
      else answer();
    });
    const phases = new Set<string>();
    let last = { perSecond: 0, inFlight: 0, errors: 0, leftMs: 0 };
    const report = await load(
      loadOptions(url, {
        warmUpMs: 4_000,
        windowMs: 3_000,
        onTick(live) {
          phases.add(live.phase);
          if (live.phase === 'window') last = live;
        },
      }),
    );
    t.same([...phases].slice(0, 4), ['preflight', 'warm-up', 'ramp', 'window']);
    t.ok(last.perSecond > 0 && last.errors > 0 && last.leftMs < 3_000);
    t.match(report.warmUp, { connections: 10 });
    t.ok((report.warmUp?.requests ?? 0) > 0, 'the warm-up sent requests');
    t.ok(
      report.timeline.some(({ phase }) => phase === 'ramp'),
      'the ramp-up is in the timeline',
    );
    t.equal(report.chat?.offered, 150, 'the ramp-up is not judged');
  },
);
