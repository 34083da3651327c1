/** Every kind of fault is counted separately, and faults never distort the latency. */
import t, { type Test } from 'tap';
import type { LoadRun } from '../../load/index.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import { createScaledClock } from '../../src/platform/clock.ts';
import {
  callAfter,
  cutOff,
  withTarget,
  type ReceivedChat,
} from '../support/measurements/load-target.ts';
import { runOnQuietMachine } from '../support/measurements/quiet-machine.ts';
import { runLoad, findTarget } from '../support/measurements/run-load.ts';
import { atNight } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

const SERVICE_MS = 50;
/** The requests of a run; each fault hits a twentieth of them. */
const REQUESTS = atNight(400, 200);
const SHARE = REQUESTS / 20;
const isTwentieth = ({ nth }: ReceivedChat): boolean => nth % 20 === 0;

/** Runs a load test against a sandbox with the given chat handler. */
async function runLoadWith(
  t: Test,
  handle: (chat: ReceivedChat) => void,
  over: Partial<LoadRun> = {},
): Promise<LoadReport> {
  const target = await withTarget(t, (chat) => callAfter(SERVICE_MS, () => handle(chat)));
  const report = await runLoad(target.url, {
    ratePerSecond: 100,
    windowMs: REQUESTS * 10,
    ...over,
  });
  t.equal(target.chats, report.chat?.offered, 'each request was sent once');
  return report;
}

/**
 * Asserts the counts and latencies of all requests with some faults. The latency limit is far above what
 * a busy machine adds, and below what responses paired with the wrong requests would give.
 */
function assertCounts(
  t: Test,
  { chat, outages, targets }: LoadReport,
  errors: Record<string, number>,
  incidents = Object.values(errors).reduce((sum, count) => sum + count, 0),
): void {
  const faults = Object.values(errors).reduce((sum, count) => sum + count, 0);
  t.match(chat, { offered: REQUESTS, sent: REQUESTS, ok: REQUESTS - faults });
  t.same(chat?.errors, errors);
  const { p50, p99, max } = chat?.latencyMs ?? {};
  t.ok((p50 ?? 0) >= SERVICE_MS - 2, `p50 ${p50} ms`);
  t.ok((max ?? Infinity) < 3_000, `max ${max} ms, p99 ${p99} ms`);
  t.equal(outages?.incidents, incidents);
  const availability = targets.find(({ id }) => id === 'availability');
  t.equal(availability?.verdict, faults === 0 ? 'NOT PROVEN' : 'FAIL');
}

void t.test('a connection that closes after each response is not a fault', async (t) => {
  const report = await runLoadWith(t, ({ answer }) => answer(undefined, { connection: 'close' }));
  assertCounts(t, report, {});
});

void t.test(
  'resets of 5% of the requests are counted, even if every connection closes after its response',
  async (t) => {
    const report = await runLoadWith(t, (chat) => {
      if (isTwentieth(chat)) chat.request.socket.resetAndDestroy();
      else chat.answer(undefined, { connection: 'close' });
    });
    assertCounts(t, report, { reset: SHARE });
    const { faultSamples } = report;
    t.match(faultSamples[0], { kind: 'reset', stream: 'chat', session: /^sk_/ });
    t.equal(faultSamples.length, 3, 'three samples of each kind are kept');
  },
);

void t.test('truncated bodies are counted as cut_off', async (t) => {
  const report = await runLoadWith(t, (chat) => {
    if (isTwentieth(chat)) cutOff(chat);
    else chat.answer();
  });
  assertCounts(t, report, { cut_off: SHARE });
});

void t.test('a response that is not HTTP is a fault; a body without a length is not', async (t) => {
  const report = await runLoadWith(t, (chat) => {
    const { socket } = chat.request;
    if (isTwentieth(chat)) socket.end('HTTP/9 hello\r\n\r\n');
    else if (chat.nth % 20 === 10) {
      const body = '{"choices":[{"message":{"role":"assistant","content":"Hello."}}]}';
      socket.end(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${body}`);
    } else chat.answer();
  });
  assertCounts(t, report, { protocol: SHARE });
});

void t.test(
  'error statuses, nonconforming responses, and rate limits are separate kinds',
  async (t) => {
    const runFaults = (): Promise<LoadReport> =>
      runLoadWith(t, ({ nth, response, answer }) => {
        const status = [500, 400, 302, 429][nth % 20];
        if (status === 429) response.setHeader('retry-after', '7');
        if (status !== undefined) response.writeHead(status).end('{}');
        else if (nth % 20 === 4) response.end('{"choices":[]}');
        else answer();
      });
    // A busy machine can send requests in a different order than they are due, which splits outages.
    const isInOrder = ({ outages }: LoadReport): boolean => outages?.incidents === SHARE;
    const report = await runOnQuietMachine(t, runFaults, isInOrder);
    if (!report) return;
    const statusErrors = {
      server_error: SHARE,
      client_error: SHARE,
      other_status: SHARE,
      rate_limited: SHARE,
    };
    assertCounts(t, report, { ...statusErrors, nonconforming: SHARE }, SHARE);
    const { chat, notes, faultSamples } = report;
    t.equal(chat?.retryAfterS, 7);
    t.match(
      notes.join(),
      `A rate limit refused ${SHARE} chat requests with HTTP 429 (Retry-After up to 7 s).`,
    );
    t.ok(Object.keys(chat?.findings ?? {}).every((id) => id.startsWith('CHAT-')));
    const broken = faultSamples.find(({ kind }) => kind === 'nonconforming');
    t.match(broken?.detail, /^CHAT-\d+ .*choices/);
  },
);

void t.test('a single response with the id of another session fails the run', async (t) => {
  let previous = '';
  const report = await runLoadWith(t, (chat) => {
    if (chat.nth === REQUESTS / 2) chat.answer(previous);
    else chat.answer();
    previous = chat.session;
  });
  t.same(report.chat?.errors, { mixed_up: 1 });
  t.equal(findTarget(report, 'chat-sessions').verdict, 'FAIL');
  t.equal(report.verdict, 'FAIL');
  t.match(
    report.faultSamples[0]?.detail,
    /^the response contains sk_\w+, a marker of another session$/,
  );
});

void t.test('a request without a response counts with the deadline as its latency', async (t) => {
  // The clock runs 20 times as fast as real time: the deadline of 15 s passes in 750 ms, and a stall
  // of this process for 250 ms misses the target.
  const runTimeouts = (): Promise<LoadReport> => {
    const over = { clock: createScaledClock(20), ratePerSecond: 5, windowMs: 40_000 };
    return runLoadWith(
      t,
      (chat) => {
        if (!isTwentieth(chat)) chat.answer();
      },
      over,
    );
  };
  const reason =
    /^The p99 is 15 s\. 10 of 200 responses missed the target; the slowest took 15 s\.$/;
  const report = await runOnQuietMachine(t, runTimeouts, (found) =>
    reason.test(findTarget(found, 'chat-latency').reason),
  );
  if (!report) return;
  const { chat, timeline } = report;
  t.match(chat, { offered: 200, sent: 200, ok: 190, errors: { timeout: 10 } });
  t.equal(chat?.latencyMs.max, 15_000, 'exactly the deadline');
  t.equal(chat?.latencyMs.p99, 15_000);
  t.match(findTarget(report, 'chat-latency').reason, reason);
  t.not(findTarget(report, 'chat-latency').verdict, 'PASS');
  t.ok(
    timeline.some(({ phase }) => phase === 'drain'),
    'the run waits for the last responses',
  );
});

void t.test(
  'requests carry the API key; the report contains neither the key nor message content',
  async (t) => {
    const { agent } = await withReferenceAgent(t, { apiKey: 'very-secret-key' });
    const report = await runLoad(agent.url, { apiKey: 'very-secret-key', windowMs: 1_000 });
    t.equal(report.chat?.ok, 50);
    t.notMatch(JSON.stringify(report), /very-secret|order A-1001/);
  },
);
