/** What ends a run before its time, and what is said then. */
import t from 'tap';
import { scaledClock } from '../../src/platform/clock.ts';
import { load } from '../../load/index.ts';
import { loaded, loadOf, targetIn, verdictsIn, withTarget } from '../helpers/load.ts';

t.setTimeout(90_000);

// Ten times as fast as the machine: ten seconds of failures are seen in one.
const fast = { ratePerSecond: 10, windowMs: 300_000 };

void t.test('a sandbox that is plainly down ends the run, and fails it', async (t) => {
  for (const engine of ['open', 'autocannon'] as const) {
    const target = await withTarget(t, ({ nth, answer }) => {
      answer();
      if (nth !== 50) return;
      target.server.close();
      target.server.closeAllConnections();
    });
    const report = await loaded(target.url, { ...fast, engine, clock: scaledClock(10) });
    t.equal(report.verdict, 'FAIL', report.sentence);
    t.match(
      report.aborted,
      /^The sandbox is down: \d+ of the \d+ requests that ended in 10 s failed/,
    );
    t.match(report.aborted, /refused/);
    const ranS = report.timeline.filter(({ phase }) => phase === 'window').length;
    t.ok(ranS < 100, `over after ${ranS} s of 300`);
    t.match(targetIn(report, 'availability').reason, /refused \d+/);
    t.equal(report.selfCheck.valid, true, 'the generator is not to blame');
  }
});

void t.test('one outage of some seconds is one incident, with its length', async (t) => {
  const { url } = await withTarget(t, ({ nth, answer, response }) => {
    if (nth >= 100 && nth < 130) response.writeHead(503).end('{}');
    else answer();
  });
  const report = await loaded(url, { ...fast, windowMs: 30_000, clock: scaledClock(10) });
  t.match(report.chat, { offered: 300, ok: 270, errors: { server_error: 30 } });
  t.match(report.outages, { incidents: 1, longestMs: 3_000, seconds: 30, cleanSeconds: 27 });
  t.equal(targetIn(report, 'availability').verdict, 'FAIL');
});

void t.test('a key that is refused in the middle ends the run, which judges nothing', async (t) => {
  const target = await withTarget(t, ({ nth, answer, response }) => {
    if (nth < 20) answer();
    else response.writeHead(401).end('{}');
  });
  const report = await loaded(target.url, { ...fast, clock: scaledClock(10) });
  t.equal(report.verdict, 'INVALID RUN');
  t.match(report.blockedBy?.message, /refused the key in the middle of the run \(HTTP 401\)/);
  t.ok(target.chats < 100, `${target.chats} requests, then no more`);
});

void t.test('interrupted: what was seen is reported, and nothing is judged', async (t) => {
  const stop = new AbortController();
  const target = await withTarget(t, ({ nth, answer }) => {
    answer();
    if (nth === 40) stop.abort();
  });
  const report = await loaded(target.url, { windowMs: 60_000, signal: stop.signal });
  t.equal(report.verdict, 'INVALID RUN');
  t.equal(report.exitCode, 3);
  t.match(report.sentence, /^Not judged: The run was interrupted after \d+ of 60 s\.$/);
  t.ok((report.chat?.ok ?? 0) >= 30, `${report.chat?.ok} answers are in the report`);
  t.equal(new Set(Object.values(verdictsIn(report))).size, 1, 'INVALID RUN throughout');
  const sent = target.chats;
  const again = await loaded(target.url, { signal: AbortSignal.abort(), windowMs: 60_000 });
  t.equal(again.verdict, 'INVALID RUN', 'also before it began');
  t.ok(target.chats <= sent + 1, 'and sends nothing');
});

void t.test('where the preflight finds a cause, nothing is sent', async (t) => {
  const target = await withTarget(t);
  const blockedBy = { message: 'There is no sandbox.', cure: 'Start it.' };
  const preflight = (): Promise<{ blockedBy: typeof blockedBy; hasUsers: boolean }> =>
    Promise.resolve({ blockedBy, hasUsers: false });
  const report = await loaded(target.url, { preflight });
  t.match(report, { verdict: 'INVALID RUN', exitCode: 3, blockedBy, streams: [], timeline: [] });
  t.equal(report.sentence, 'Not judged: There is no sandbox.');
  t.equal(target.chats, 0);
});

void t.test('a run tells once a second how it goes, from warm-up to drain', async (t) => {
  const { url } = await withTarget(t, ({ nth, answer, response }) => {
    if (nth % 10 === 9) response.writeHead(500).end('{}');
    else answer();
  });
  const phases = new Set<string>();
  let last = { perSecond: 0, inFlight: 0, errors: 0, leftMs: 0 };
  const report = await load(
    loadOf(url, {
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
  t.ok((report.warmUp?.requests ?? 0) > 0, 'warmed up by autocannon');
  t.ok(
    report.timeline.some(({ phase }) => phase === 'ramp'),
    'the ramp is shown',
  );
  t.equal(report.chat?.offered, 150, 'and not judged');
});
