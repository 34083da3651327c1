/** What a sandbox does wrong is counted, each kind as itself, and falsifies no time. On both engines. */
import t, { type Test } from 'tap';
import type { LoadOptions } from '../../load/index.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import { scaledClock } from '../../src/platform/clock.ts';
import { withAgent } from '../helpers/agent.ts';
import { after, loaded, targetIn, withTarget, type ChatAsked } from '../helpers/load.ts';

t.setTimeout(110_000);

const SERVICE_MS = 50;
const isTwentieth = ({ nth }: ChatAsked): boolean => nth % 20 === 0;

/** Runs both engines at once, each against a sandbox of its own that treats chat so. */
async function onBoth(
  t: Test,
  treating: () => (asked: ChatAsked) => void,
  over: Partial<LoadOptions> = { ratePerSecond: 100, windowMs: 4_000 },
): Promise<LoadReport[]> {
  const runs = (['open', 'autocannon'] as const).map(async (engine) => {
    const treat = treating();
    const target = await withTarget(t, (asked) => after(SERVICE_MS, () => treat(asked)));
    const report = await loaded(target.url, { ...over, engine });
    t.equal(target.chats, report.chat?.offered, 'each request was sent once');
    return report;
  });
  return Promise.all(runs);
}

/**
 * What must hold of 400 requests of which some go wrong. Times have a bound that is far above what a
 * busy machine adds, and below what a confused pairing of requests and answers would give.
 */
function areCounted(
  t: Test,
  reports: readonly LoadReport[],
  errors: Record<string, number>,
  incidents = Object.values(errors).reduce((sum, times) => sum + times, 0),
): void {
  const faults = Object.values(errors).reduce((sum, times) => sum + times, 0);
  for (const report of reports) {
    const { chat, plan, outages } = report;
    t.match(chat, { offered: 400, sent: 400, ok: 400 - faults }, plan.engine);
    t.same(chat?.errors, errors);
    const { p50, p99, max } = chat?.latencyMs ?? {};
    t.ok((p50 ?? 0) >= SERVICE_MS - 2, `p50 ${p50} ms`);
    t.ok((max ?? Infinity) < 3_000, `max ${max} ms, p99 ${p99} ms`);
    t.equal(outages?.incidents, incidents);
    t.equal(targetIn(report, 'availability').verdict, faults === 0 ? 'NOT PROVEN' : 'FAIL');
  }
}

void t.test('connections that close after each answer are no fault', async (t) => {
  const closing = ({ answer }: ChatAsked): void => answer(undefined, { connection: 'close' });
  areCounted(t, await onBoth(t, () => closing), {});
});

void t.test('resets on 5 % are counted as resets, also where all connections close', async (t) => {
  const reports = await onBoth(t, () => (asked) => {
    if (isTwentieth(asked)) asked.request.socket.resetAndDestroy();
    else asked.answer(undefined, { connection: 'close' });
  });
  areCounted(t, reports, { reset: 20 });
  for (const { faultSamples } of reports) {
    t.match(faultSamples[0], { kind: 'reset', stream: 'chat', session: /^sk_/ });
    t.equal(faultSamples.length, 3, 'three of a kind are kept in words');
  }
});

void t.test('bodies that break off in the middle on 5 % are cut off', async (t) => {
  const reports = await onBoth(t, () => (asked) => {
    if (!isTwentieth(asked)) {
      asked.answer();
      return;
    }
    asked.response.writeHead(200, { 'content-length': 500 });
    asked.response.write('{"choices"', () => asked.request.socket.destroy());
  });
  areCounted(t, reports, { cut_off: 20 });
});

void t.test('what is no HTTP is a fault, a body without a length is none', async (t) => {
  const reports = await onBoth(t, () => (asked) => {
    const { socket } = asked.request;
    if (isTwentieth(asked)) socket.end('HTTP/9 hello\r\n\r\n');
    else if (asked.nth % 20 === 10) {
      const body = '{"choices":[{"message":{"role":"assistant","content":"Hello."}}]}';
      socket.end(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${body}`);
    } else asked.answer();
  });
  areCounted(t, reports, { protocol: 20 });
});

void t.test('statuses, broken answers and a rate limit: each is a kind of its own', async (t) => {
  const reports = await onBoth(t, () => ({ nth, response, answer }) => {
    const status = [500, 400, 302, 429][nth % 20];
    if (status === 429) response.setHeader('retry-after', '7');
    if (status !== undefined) response.writeHead(status).end('{}');
    else if (nth % 20 === 4) response.end('{"choices":[]}');
    else answer();
  });
  const counted = { server_error: 20, client_error: 20, other_status: 20, rate_limited: 20 };
  areCounted(t, reports, { ...counted, nonconforming: 20 }, 20);
  for (const { chat, notes, faultSamples } of reports) {
    t.equal(chat?.retryAfterS, 7);
    t.match(notes.join(), /429 to 20 chat requests \(Retry-After up to 7 s\)/);
    t.ok(Object.keys(chat?.findings ?? {}).every((id) => id.startsWith('CHAT-')));
    const broken = faultSamples.find(({ kind }) => kind === 'nonconforming');
    t.match(broken?.detail, /^CHAT-\d+ .*choices/);
  }
});

void t.test(
  'an answer with the session of another is found, and a single one is a fail',
  async (t) => {
    const reports = await onBoth(t, () => {
      let before = '';
      return (asked) => {
        if (asked.nth === 200) asked.answer(before);
        else asked.answer();
        before = asked.session;
      };
    });
    for (const report of reports) {
      t.same(report.chat?.errors, { mixed_up: 1 });
      t.equal(targetIn(report, 'chat-sessions').verdict, 'FAIL');
      t.equal(report.verdict, 'FAIL');
      t.match(report.faultSamples[0]?.detail, /^sk_\w+ is of another session$/);
    }
  },
);

void t.test('what is not answered stands at the deadline among the times', async (t) => {
  // Twenty times as fast as the machine: the deadline of 15 s passes in 750 ms.
  const over = { clock: scaledClock(20), ratePerSecond: 5, windowMs: 40_000 };
  const reports = await onBoth(t, () => (asked) => isTwentieth(asked) || asked.answer(), over);
  for (const report of reports) {
    const { chat, timeline } = report;
    t.match(chat, { offered: 200, sent: 200, ok: 190, errors: { timeout: 10 } });
    t.equal(chat?.latencyMs.max, 15_000, 'not later, and not left out');
    t.equal(chat?.latencyMs.p99, 15_000);
    t.match(targetIn(report, 'chat-latency').reason, /10 of 200 answers missed it/);
    t.not(targetIn(report, 'chat-latency').verdict, 'PASS');
    t.ok(
      timeline.some(({ phase }) => phase === 'drain'),
      'the last were waited for',
    );
  }
});

void t.test('a key goes along; neither it nor what is talked about is in the report', async (t) => {
  const { agent } = await withAgent(t, { apiKey: 'very-secret-key' });
  for (const engine of ['open', 'autocannon'] as const) {
    const report = await loaded(agent.url, { engine, apiKey: 'very-secret-key', windowMs: 1_000 });
    t.equal(report.chat?.ok, 50);
    t.notMatch(JSON.stringify(report), /very-secret|order A-1001/);
  }
});
