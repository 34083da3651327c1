/** A peer that becomes unreachable during the run gets one cause, and earlier findings remain. */
import t, { type Test } from 'tap';
import { check, reportOf, serviceArea } from '../../conformance/index.ts';
import { suiteOf } from '../../conformance/areas/index.ts';
import { judgeTranscript, type Judgment } from '../../conformance/engine/judge/judge.ts';
import {
  toExchange,
  type Exchange,
  type Transcript,
} from '../../conformance/engine/transcript/transcript.ts';
import { startAgent } from '../../reference-agent/index.ts';
import type { CheckReport } from '../../src/contract/index.ts';
import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { randomSeed, seededRandom } from '../../src/platform/random.ts';
import { start } from '../support/commands/command-process.ts';
import { idsJudged } from '../support/conformance/verdicts.ts';
import { recordSandboxOnce, recordServiceOnce } from '../support/conformance/recorded-runs.ts';
import { atNight } from '../support/nightly.ts';

/** Returns the recording of a run whose peer became unreachable at exchange `id`. */
function cutAt({ run, exchanges }: Transcript, id: number): Transcript {
  const fail = ({ json, sent, response, ...record }: Exchange): Exchange =>
    toExchange({
      ...record,
      failure: { kind: record.id === id ? 'reset' : 'refused', message: 'unreachable' },
    });
  return {
    run,
    exchanges: exchanges.map((exchange) => (exchange.id < id ? exchange : fail(exchange))),
  };
}

const judge = (transcript: Transcript): Judgment =>
  judgeTranscript(suiteOf(transcript.run), transcript);

/** Cuts a recording at each exchange, or at every nth exchange from a random start. */
function testCuts(t: Test, transcript: Transcript, every: number): void {
  const { exchanges } = transcript;
  const seed = randomSeed();
  t.comment(`seed ${seed}`);
  const from = seededRandom(seed).integer(1, every);
  const cuts = exchanges.slice(from, -1).filter((_, index) => index % every === 0);
  for (const { id } of cuts) {
    const judgment = judge(cutAt(transcript, id));
    t.same(
      [judgment.blockedBy?.id, judgment.blockedBy?.evidence?.id, judgment.exitCode],
      ['unreachable', id, 3],
      `unreachable since exchange ${id}`,
    );
    t.same(
      idsJudged(judgment, 'fail', 'warn', 'note', 'error'),
      [],
      `no finding before exchange ${id}`,
    );
  }
  t.ok(exchanges.length > 40, `${exchanges.length} exchanges`);
}

void t.test(
  'a sandbox that becomes unreachable at any exchange gets one cause and no finding',
  async (t) => {
    testCuts(t, await recordSandboxOnce(), atNight(1, 6));
  },
);

void t.test(
  'a service that becomes unreachable at any exchange gets one cause and no finding',
  async (t) => {
    testCuts(t, (await recordServiceOnce()).transcript, atNight(5, 40));
  },
);

/** The recorded check of a conforming sandbox without voice. */
let recordedCheck: Promise<Transcript> | undefined;
const checkOnce = (): Promise<Transcript> => (recordedCheck ??= recordCheck());

async function recordCheck(): Promise<Transcript> {
  const agent = await startAgent({ voice: null });
  const options = { target: agent.url, kitVersion: 'test', seed: 'unreachable' };
  const { transcript } = await check(options).finally(() => agent.stop());
  return transcript;
}

void t.test('findings from before the peer became unreachable remain', async (t) => {
  const whole = await checkOnce();
  const exchanges = whole.exchanges.map(({ json, sent, ...record }) =>
    toExchange(
      record.endpoint === 'health' && record.response
        ? {
            ...record,
            response: { ...record.response, body: '{"status":"fine","timestamp":"now"}' },
          }
        : record,
    ),
  );
  const judgment = judge(cutAt({ run: whole.run, exchanges }, 50));
  t.match(judgment, { verdict: 'not-conforming', exitCode: 1, blockedBy: { id: 'unreachable' } });
  t.same(idsJudged(judgment, 'fail'), ['HEALTH-010', 'HEALTH-011']);
  const passed = idsJudged(judgment, 'pass');
  t.ok(passed.includes('CHAT-020'), 'what was found before remains');
  t.notOk(passed.includes('CHAT-013'), 'the rest is blocked by the one cause');
  t.same(idsJudged(judgment, 'note', 'not_observed', 'not_applicable'), []);
});

void t.test(
  'a response that arrives after a failed connection does not cause a finding',
  async (t) => {
    const whole = await checkOnce();
    const lastId = 46;
    const cut = cutAt(whole, lastId);
    for (const kind of ['reset', 'refused'] as const) {
      const exchanges = cut.exchanges.map((exchange, nth) => {
        const { json, sent, response, ...record } = exchange;
        if (exchange.id === lastId) return whole.exchanges[nth] ?? exchange;
        if (exchange.id !== lastId - 1) return exchange;
        const endedMs = (whole.exchanges[nth + 1]?.startedMs ?? 0) + 1;
        return toExchange({ ...record, endedMs, failure: { kind, message: 'unreachable' } });
      });
      const judgment = judge({ run: whole.run, exchanges });
      t.match(
        judgment,
        { exitCode: 3, blockedBy: { id: 'unreachable', evidence: { id: lastId - 1 } } },
        kind,
      );
      t.same(idsJudged(judgment, 'fail', 'warn'), [], kind);
    }
  },
);

void t.test(
  'the observed behavior of an unreachable sandbox contains only its responses',
  async (t) => {
    const whole = await checkOnce();
    const cut = cutAt(whole, 40);
    const { observedBehavior } = reportOf(cut, cut.run.startedAt);
    t.same(
      Object.entries(observedBehavior).filter(([, value]) =>
        /refused|reset|unreachable/.test(value),
      ),
      [],
    );
    t.ok(observedBehavior['health'], 'earlier responses remain');
  },
);

void t.test('a sandbox that becomes reachable again is not blocked', async (t) => {
  const whole = await checkOnce();
  const { exchanges } = cutAt(whole, 50);
  const again = [...exchanges.slice(0, 60), ...whole.exchanges.slice(60)];
  const judgment = judge({ run: whole.run, exchanges: again });
  t.equal(judgment.blockedBy, undefined);
  t.equal(judgment.exitCode, 1);
});

/** Creates a clock whose sleeps end early from a moment on, as if the whole time had passed. */
function createHastyClock(): { clock: Clock; skipSleeps: () => void } {
  let isHasty = false;
  let skippedMs = 0;
  const clock: Clock = {
    ...systemClock,
    nowMs: () => systemClock.nowMs() + skippedMs,
    monotonicMs: () => systemClock.monotonicMs() + skippedMs,
    async sleep(ms, signal) {
      const sleepMs = isHasty ? Math.min(ms, 20) : ms;
      await systemClock.sleep(sleepMs, signal);
      skippedMs += Math.max(0, ms - sleepMs);
    },
  };
  return { clock, skipSleeps: () => (isHasty = true) };
}

/** Checks the server of a command and kills its process at an exchange. */
async function checkAndKill(t: Test, count: number, ...args: string[]): Promise<CheckReport> {
  const { firstLine, child } = await start(t, [...args, '--port', '0', '--json']);
  const { url, apiKey } = JSON.parse(firstLine) as { url: string; apiKey: string | null };
  let left = count;
  const { clock, skipSleeps } = createHastyClock();
  const { report, transcript } = await check({
    clock,
    target: url,
    kitVersion: 'test',
    seed: `killed at ${count}`,
    ...(args[0] === 'serve' ? { areas: serviceArea } : {}),
    apiKey: apiKey ?? undefined,
    onExchange() {
      if (--left !== 0) return;
      child.kill('SIGKILL');
      skipSleeps();
    },
  });
  const unanswered = transcript.exchanges.filter(({ response }) => !response);
  t.ok(unanswered.length < 40, `${unanswered.length} requests to the killed process`);
  return report;
}

for (const command of ['agent', 'serve']) {
  void t.test(`a killed ${command} process blocks the run`, async (t) => {
    for (const count of atNight([4, 30, 70], [30])) {
      const report = await checkAndKill(t, count, command);
      t.match(
        report,
        { verdict: 'not-judged', exitCode: 3, blockedBy: { id: 'unreachable' } },
        `at ${count}`,
      );
      const [evidence] = report.blockedBy?.evidence ?? [];
      t.ok((evidence?.exchange ?? 0) >= count, `named from exchange ${evidence?.exchange}`);
      t.match(
        report.blockedBy?.message,
        command === 'agent'
          ? /^The sandbox has been unreachable/
          : /^The service has been unreachable/,
      );
      t.same(report.causes, []);
      const { blocked = 0, fail = 0, warn = 0, error = 0 } = report.counts;
      t.same([fail, warn, error], [0, 0, 0], 'no requirement fails because of the lost process');
      t.ok(blocked > 10, `${blocked} requirements are blocked`);
    }
  });
}
