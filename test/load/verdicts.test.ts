/** Every verdict of a run, each against a server or a load generator that causes it. */
import t from 'tap';
import { exitCodeOf, decideRunVerdict } from '../../load/verdict/run-verdict.ts';
import { findViolations } from '../../src/contract/index.ts';
import { withTarget, workers } from '../support/measurements/load-target.ts';
import { runOnQuietMachine } from '../support/measurements/quiet-machine.ts';
import {
  blockEventLoop,
  runLoad,
  findTarget,
  testedVerdicts,
} from '../support/measurements/run-load.ts';
import { isNightly } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

void t.test(
  'PASS: the reference agent (at night) meets its targets, and 3,200 responses prove it',
  async (t) => {
    const { url } = isNightly ? (await withReferenceAgent(t)).agent : await withTarget(t);
    const report = await runLoad(url, { ratePerSecond: 200, windowMs: 16_000 });
    t.equal(report.verdict, 'PASS', report.sentence);
    t.equal(report.exitCode, 0);
    t.same(testedVerdicts(report), {
      'chat-latency': 'PASS',
      'chat-throughput': 'PASS',
      availability: 'PASS',
      'chat-sessions': 'PASS',
    });
    t.match(
      report.sentence,
      /^Chat sustains 200 requests\/s with a p99 of \d.* m?s\. 7 targets: 4 passed, 3 not tested\.$/,
    );
    t.match(report.chat, { offered: 3200, sent: 3200, ok: 3200, errors: {} });
    t.equal(findTarget(report, 'availability').samples, 3200);
    t.ok((findTarget(report, 'availability').bound95 ?? 0) > 99.9);
    t.match(findTarget(report, 'health-latency'), { verdict: 'NOT TESTED', measured: null });
    t.same(findViolations('LoadReport', JSON.parse(JSON.stringify(report))), []);
  },
);

void t.test('FAIL: with 120 requests/s and a capacity of 100, a backlog grows', async (t) => {
  const sentence = /^Target missed: .*Chat sustains 120 requests\/s \(100 required\)\. 7 targets: /;
  // On a busy machine, the server has a smaller capacity, and other targets are missed, too.
  const report = await runOnQuietMachine(
    t,
    async () => {
      const { url } = await withTarget(t, workers(10, 100));
      return runLoad(url, { ratePerSecond: 120, windowMs: 12_000 });
    },
    (found) => sentence.test(found.sentence),
  );
  if (!report) return;
  const throughput = findTarget(report, 'chat-throughput');
  t.equal(report.verdict, 'FAIL', report.sentence);
  t.equal(report.exitCode, 1);
  t.match(throughput, { verdict: 'FAIL', target: 120 });
  t.match(report.sentence, sentence);
  t.match(
    throughput.reason,
    /A backlog grows: requests in flight rose by \d[\d.]* per second \(\d+ at the start, \d+ at the end\)\.$/,
  );
  t.ok((throughput.measured ?? 999) < 112, `${throughput.measured} requests/s succeeded`);
  t.equal(report.trend?.rising, true);
  const medianMs = report.chat?.latencyMs.p50 ?? 0;
  t.ok(medianMs > 800, `p50 ${medianMs} ms: response times include the wait in the backlog`);
  const [first, last] = [report.timeline[1], report.timeline[11]];
  t.ok((last?.inFlight ?? 0) > (first?.inFlight ?? 0) + 100, 'requests in flight rise');
});

void t.test(
  'NOT PROVEN: two seconds without errors cannot prove an availability of 99.9%',
  async (t) => {
    const { url } = await withTarget(t);
    const report = await runLoad(url);
    t.equal(report.verdict, 'NOT PROVEN');
    t.equal(report.exitCode, 3);
    t.match(
      findTarget(report, 'availability').reason,
      /^100 of 100 requests succeeded \(100%\)\. 100 samples are too few to prove it; at least 2,995 without a miss are needed\.$/,
    );
    t.match(
      findTarget(report, 'chat-throughput').reason,
      / The offered rate was only 50 requests\/s\.$/,
    );
    t.equal(findTarget(report, 'availability').samplesNeeded, 2_995);
    t.match(
      report.sentence,
      / A longer run can prove 2 of them: use --duration 60s or more\. 7 targets: /,
      '2,995 samples at 50 requests/s take 59.9 s',
    );
    const accepted = await runLoad(url, { acceptNotProven: true, windowMs: 1_000 });
    t.equal(accepted.verdict, 'NOT PROVEN');
    t.equal(accepted.exitCode, 0, 'acceptNotProven exits with 0');
  },
);

void t.test("INVALID RUN: a load generator that can't keep up gives no verdict", async (t) => {
  const { url } = await withTarget(t, ({ nth, answer, response }) => {
    // The server fails too, but a stalled load generator must not give it the verdict FAIL.
    if (nth % 2 === 0) response.writeHead(500).end();
    else answer();
    if (nth === 30) blockEventLoop(600);
  });
  const report = await runLoad(url, { generatorLimits: undefined });
  t.equal(report.verdict, 'INVALID RUN');
  t.equal(report.exitCode, 3);
  t.match(
    report.sentence,
    /^Not judged: The load generator could not keep up: send lag p99 \d.* \(limit 50 ms\)/,
  );
  t.equal(report.selfCheck.valid, false);
  t.match(report.selfCheck.reasons.join(), /send lag max \d.* \(limit 250 ms\)/);
  t.match(testedVerdicts(report), {
    'chat-latency': 'INVALID RUN',
    availability: 'INVALID RUN',
  });
  t.equal(report.chat?.sent, report.chat?.offered, 'late requests are still sent');
});

void t.test(
  'a latency target that passes with the lag of the generator included is a PASS',
  async (t) => {
    const { url } = await withTarget(t, ({ nth, answer }) => {
      answer();
      if (nth === 30) blockEventLoop(600);
    });
    const report = await runLoad(url, {
      generatorLimits: undefined,
      ratePerSecond: 300,
      windowMs: 1_500,
    });
    t.equal(report.verdict, 'INVALID RUN');
    t.match(report.selfCheck, { valid: false, isOnlyLate: true });
    t.match(testedVerdicts(report), {
      'chat-latency': 'PASS',
      'chat-throughput': 'INVALID RUN',
      availability: 'INVALID RUN',
    });
    t.match(findTarget(report, 'chat-latency').reason, /includes the lag of the load generator\.$/);
  },
);

void t.test('NOT TESTED: a target without samples does not fail', async (t) => {
  const anonymous = await withTarget(t, ({ response }) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"choices":[{"message":{"role":"assistant","content":""}}]}');
  });
  const report = await runLoad(anonymous.url, { windowMs: 1_000 });
  t.match(findTarget(report, 'chat-sessions'), {
    verdict: 'NOT TESTED',
    samples: 0,
    measured: null,
  });
  t.equal(report.chat?.ok, 50, 'a response needs no session id');
  const health = await runLoad(anonymous.url, { profile: 'health', ratePerSecond: 300 });
  t.same(testedVerdicts(health), { 'health-latency': 'PASS', availability: 'NOT PROVEN' });
  t.equal(anonymous.chats, 50, 'the health profile sends no chat requests');
  const untested = health.targets.filter(({ verdict }) => verdict === 'NOT TESTED');
  const check = health.selfCheck;
  t.equal(decideRunVerdict(untested, check), 'NOT TESTED', 'only if every target is untested');
  t.equal(exitCodeOf('NOT TESTED', true), 3);
});
