/** The engine `autocannon`: a closed loop, its counts, and what its report says. */
import t, { type Test } from 'tap';
import {
  htmlReport,
  junitReport,
  markdownReport,
  terminalReport,
  type LoadRun,
} from '../../load/index.ts';
import { startAutocannon } from '../../load/engines/autocannon.ts';
import { findViolations, type LoadReport } from '../../src/contract/index.ts';
import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { plainStyle } from '../../src/report-kit/terminal.ts';
import {
  cutOff,
  withStoppingTarget,
  withTarget,
  type ReceivedChat,
} from '../support/measurements/load-target.ts';
import { findTarget, runLoad } from '../support/measurements/run-load.ts';

const CONNECTIONS = 4;
const REQUESTS = 200;
/** The clock ends the steady state, even on a busy machine. */
const WINDOW_MS = 3_600_000;

/** Handles one of the first 200 requests. */
type Handle = (chat: ReceivedChat) => void;

/**
 * Runs a closed loop whose steady state ends as soon as the sandbox has got `REQUESTS` requests that it
 * handles, and one more on each connection that it never answers.
 */
async function runRequests(
  t: Test,
  handle: Handle,
  over: Partial<LoadRun> = {},
): Promise<{ report: LoadReport; received: readonly string[] }> {
  const received: string[] = [];
  const full = Promise.withResolvers<undefined>();
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) =>
      ms < WINDOW_MS
        ? systemClock.sleep(ms, signal)
        : Promise.race([full.promise, systemClock.sleep(ms, signal)]).then(() => {}),
  };
  const target = await withTarget(t, (chat) => {
    received.push(chat.session);
    if (chat.nth < REQUESTS) handle(chat);
    else if (chat.nth === REQUESTS + CONNECTIONS - 1) full.resolve(undefined);
  });
  const report = await runLoad(target.url, {
    engine: 'autocannon',
    connections: CONNECTIONS,
    windowMs: WINDOW_MS,
    clock,
    ...over,
  });
  return { report, received };
}

const isTwentieth = ({ nth }: ReceivedChat): boolean => nth % 20 === 0;

void t.test('every report states what a closed loop measured, and what it did not', async (t) => {
  const { report, received } = await runRequests(t, ({ answer }) => answer());
  t.equal(new Set(received).size, REQUESTS + CONNECTIONS, 'each request has its own session');
  t.match(report.chat, { offered: REQUESTS, sent: REQUESTS, ok: REQUESTS, errors: {} });
  t.same(report.chat?.latencyMs.p99, null, 'no schedule, so no response times');
  t.same(report.chat?.lagMs.max, null);
  t.ok((report.chat?.serviceMs.p99 ?? 0) > 0);
  t.ok((report.chat?.firstByteMs.p50 ?? 0) > 0);
  t.match(report.plan, { engine: 'autocannon', connections: CONNECTIONS, ratePerSecond: 0 });
  t.match(report.machine?.engineVersion, /^autocannon \d/);
  t.same(findViolations('LoadReport', JSON.parse(JSON.stringify(report))), []);
  for (const id of ['chat-latency', 'availability'] as const) {
    t.match(findTarget(report, id), {
      verdict: 'NOT TESTED',
      reason: /^A closed loop sends fewer requests while the sandbox is slow/,
    });
  }
  t.equal(findTarget(report, 'chat-sessions').verdict, 'PASS');
  const rate =
    /A closed loop with 4 connections sent \d\S* requests\/s; \d\S* requests\/s succeeded\./;
  t.match(findTarget(report, 'chat-throughput').reason, rate);
  t.match(report.sentence, /Chat reached \d\S* requests\/s in a closed loop with 4 connections\./);
  const text = terminalReport(report, { style: plainStyle, width: 80 }).replaceAll(/\s+/g, ' ');
  const page = htmlReport(report);
  for (const written of [text, markdownReport(report), junitReport(report), page]) {
    t.match(written, rate);
    t.match(written, /coordinated omission/);
  }
  t.notMatch(text, /response time |send lag/);
  t.match(text, /service time/);
  t.match(page, /<th scope="row" >service time</);
  t.notMatch(page, /aria-label="(Requests in flight|Response and service times)/);
});

void t.test('faults are counted by kind, and each response belongs to its request', async (t) => {
  const { report } = await runRequests(t, ({ nth, response, request, answer }) => {
    const fail = [
      () => response.writeHead(500).end('{}'),
      () => response.writeHead(429, { 'retry-after': '7' }).end('{}'),
      () => request.socket.resetAndDestroy(),
      () => request.socket.destroy(),
      () => response.end('{"choices":[]}'),
    ][nth % 20];
    if (fail) fail();
    else answer();
  });
  t.match(report.chat, { sent: REQUESTS, ok: REQUESTS - 50, retryAfterS: 7 });
  const errors = { server_error: 10, rate_limited: 10, reset: 20, nonconforming: 10 };
  t.same(report.chat?.errors, errors);
  t.equal(findTarget(report, 'chat-sessions').verdict, 'PASS');
  t.equal(findTarget(report, 'chat-throughput').verdict, 'FAIL', 'a quarter of the requests fail');
  t.match(report.faultSamples[0], { stream: 'chat', session: /^sk_/ });
});

void t.test('a connection that closes after each response is not a fault', async (t) => {
  const { report, received } = await runRequests(t, ({ answer }) =>
    answer(undefined, { connection: 'close' }),
  );
  t.match(report.chat, { sent: REQUESTS, ok: REQUESTS, errors: {} });
  t.equal(new Set(received).size, received.length, 'no request is answered twice');
});

void t.test('a response with the id of another session fails the run', async (t) => {
  let previous = '';
  const { report } = await runRequests(t, (chat) => {
    chat.answer(chat.nth === 100 ? previous : undefined);
    previous = chat.session;
  });
  t.same(report.chat?.errors, { mixed_up: 1 });
  t.equal(findTarget(report, 'chat-sessions').verdict, 'FAIL');
  t.equal(report.verdict, 'FAIL');
});

void t.test('after a truncated response, the run is invalid and says what to do', async (t) => {
  const { report } = await runRequests(t, (chat) => {
    if (isTwentieth(chat) && chat.nth > 0) cutOff(chat);
    else chat.answer();
  });
  t.equal(report.verdict, 'INVALID RUN');
  t.match(report.sentence, /did not complete a response, .* Use --engine open, which counts such/);
  t.same(report.chat?.errors, { cut_off: 1 });
});

void t.test(
  'a refused key ends the run; the report contains neither key nor content',
  async (t) => {
    const apiKey = 'very-secret-key';
    const { report } = await runRequests(
      t,
      ({ nth, answer, response, request }) => {
        t.equal(request.headers.authorization, `Bearer ${apiKey}`);
        if (nth < 20) answer();
        else response.writeHead(401).end(apiKey);
      },
      { apiKey },
    );
    t.equal(report.verdict, 'INVALID RUN');
    t.match(report.blockedBy?.message, /^The sandbox refused the key during the run/);
    t.notMatch(JSON.stringify(report), /very-secret|order A-1001/);
  },
);

void t.test('a sandbox that is down ends the run immediately, with the verdict FAIL', async (t) => {
  const target = await withStoppingTarget(t, 50);
  const over = { engine: 'autocannon', connections: 1, windowMs: WINDOW_MS } as const;
  const report = await runLoad(target.url, over);
  t.match(report.aborted, /the sandbox is down: 1,000 requests in a row failed \(refused\)\.$/);
  t.equal(report.verdict, 'FAIL', report.sentence);
  t.match(report.sentence, /^Target missed: Chat sustains 100 requests\/s\. Chat reached /);
});

void t.test('a request without a response is a timeout', async (t) => {
  const { url } = await withTarget(t, () => {});
  const ended = Promise.withResolvers<unknown>();
  const parts = {
    target: url,
    clock: systemClock,
    connections: 1,
    next: () => ({
      outgoing: { method: 'POST' as const, path: '/v1/chat/completions', headers: {}, body: '{}' },
      onEnd: ended.resolve,
    }),
    onUnreadable: () => ended.reject(new Error('unreadable')),
  };
  const run = startAutocannon({ ...parts, timeoutMs: 1_000 });
  t.match(await ended.promise, {
    fault: { kind: 'timeout', message: 'no complete response within 1000 ms' },
  });
  await run.stop();
  const refused = startAutocannon({ ...parts, timeoutMs: 100 });
  await t.rejects(refused.ended, 'options that autocannon refuses are an error');
});
