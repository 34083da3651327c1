/** Each word that a run can end with, against a server (or a generator) that earns it. */
import t from 'tap';
import { exitCodeOf, decideRunVerdict } from '../../load/verdict/targets.ts';
import { violations } from '../../src/contract/index.ts';
import { withAgent } from '../helpers/agent.ts';
import {
  holdProcessor,
  loaded,
  targetIn,
  verdictsIn,
  withTarget,
  workers,
} from '../helpers/load.ts';

t.setTimeout(110_000);
const engines = ['open', 'autocannon'] as const;

void t.test('PASS: the reference agent holds its targets, and 3000 answers prove it', async (t) => {
  const { agent } = await withAgent(t);
  const report = await loaded(agent.url, { ratePerSecond: 200, windowMs: 16_000 });
  t.equal(report.verdict, 'PASS', report.sentence);
  t.equal(report.exitCode, 0);
  t.same(verdictsIn(report), {
    'chat-latency': 'PASS',
    'chat-throughput': 'PASS',
    availability: 'PASS',
    'chat-sessions': 'PASS',
  });
  t.match(
    report.sentence,
    /^Chat holds 200 requests\/s, p99 .*\. 4 of 7 targets passed, 3 not tested\.$/,
  );
  t.match(report.chat, { offered: 3200, sent: 3200, ok: 3200, errors: {} });
  t.equal(targetIn(report, 'availability').samples, 3200);
  t.ok((targetIn(report, 'availability').bound95 ?? 0) > 99.9);
  t.match(targetIn(report, 'health-latency'), { verdict: 'NOT TESTED', measured: null });
  t.same(violations('LoadReport', JSON.parse(JSON.stringify(report))), []);
});

void t.test('FAIL: 120 requests/s for a capacity of 100 pile up, on both engines', async (t) => {
  const runs = engines.map(async (engine) => {
    const { url } = await withTarget(t, workers(10, 100));
    return loaded(url, { engine, ratePerSecond: 120, windowMs: 12_000 });
  });
  for (const report of await Promise.all(runs)) {
    const throughput = targetIn(report, 'chat-throughput');
    t.equal(report.verdict, 'FAIL', `${report.plan.engine}: ${report.sentence}`);
    t.equal(report.exitCode, 1);
    t.match(throughput, { verdict: 'FAIL', target: 120 });
    t.match(report.sentence, /Missed: Chat takes 120 requests a second \(100 are asked for\)\./);
    t.match(throughput.reason, /Requests pile up: in flight rose by \d/);
    t.ok((throughput.measured ?? 999) < 112, `${throughput.measured} requests/s are answered`);
    t.equal(report.trend?.rising, true);
    const times = report.chat?.latencyMs.p50 ?? 0;
    t.ok(times > 800, `half of them took ${times} ms and longer: no closed loop hides it`);
    const [first, last] = [report.timeline[1], report.timeline[11]];
    t.ok((last?.inFlight ?? 0) > (first?.inFlight ?? 0) + 100, 'in flight rises second by second');
  }
});

void t.test('NOT PROVEN: two seconds without a fault are too few to show 99.9 %', async (t) => {
  const { url } = await withTarget(t);
  const report = await loaded(url);
  t.equal(report.verdict, 'NOT PROVEN');
  t.equal(report.exitCode, 3);
  t.match(targetIn(report, 'availability').reason, /100 samples are too few: 2995 without a miss/);
  t.match(targetIn(report, 'chat-throughput').reason, /only 50 requests\/s were offered/);
  const accepted = await loaded(url, { acceptNotProven: true, windowMs: 1_000 });
  t.equal(accepted.verdict, 'NOT PROVEN');
  t.equal(accepted.exitCode, 0, 'accepted, the smoke run is green');
});

for (const engine of engines) {
  void t.test(
    `INVALID RUN: a generator without a processor judges nothing (${engine})`,
    async (t) => {
      const { url } = await withTarget(t, ({ nth, answer, response }) => {
        // This server fails, too: that must not be blamed on it while the generator hangs.
        if (nth % 2 === 0) response.writeHead(500).end();
        else answer();
        if (nth === 30) holdProcessor(600);
      });
      const report = await loaded(url, { engine, generatorLimits: undefined });
      t.equal(report.verdict, 'INVALID RUN');
      t.equal(report.exitCode, 3);
      t.match(report.sentence, /^Not judged: The generator could not keep up: send lag/);
      t.equal(report.selfCheck.valid, false);
      t.match(report.selfCheck.reasons.join(), /send lag max .* \(250 allowed\)/);
      t.match(verdictsIn(report), { 'chat-latency': 'INVALID RUN', availability: 'INVALID RUN' });
      t.equal(report.chat?.sent, report.chat?.offered, 'what was late was sent all the same');
    },
  );
}

void t.test(
  'NOT TESTED: what was not asked for, or what no answer shows, is no fail',
  async (t) => {
    const anonymous = await withTarget(t, ({ response }) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"choices":[{"message":{"role":"assistant","content":""}}]}');
    });
    const report = await loaded(anonymous.url, { windowMs: 1_000 });
    t.match(targetIn(report, 'chat-sessions'), {
      verdict: 'NOT TESTED',
      samples: 0,
      measured: null,
    });
    t.equal(report.chat?.ok, 50, 'an answer needs no session');
    const health = await loaded(anonymous.url, { profile: 'health', ratePerSecond: 300 });
    t.same(verdictsIn(health), { 'health-latency': 'PASS', availability: 'NOT PROVEN' });
    t.equal(anonymous.chats, 50, 'health alone was asked');
    const untested = health.targets.filter(({ verdict }) => verdict === 'NOT TESTED');
    const check = health.selfCheck;
    t.equal(decideRunVerdict(untested, check), 'NOT TESTED', 'only where nothing was');
    t.equal(exitCodeOf('NOT TESTED', true), 3);
  },
);
