/** `load --threshold`: limits in addition to the targets of the specification. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseThresholds } from '../../load/index.ts';
import { findViolations, type LoadReport } from '../../src/contract/index.ts';
import { assertUsageError, run } from '../support/commands/command.ts';
import { callAfter, withTarget } from '../support/measurements/load-target.ts';
import { findTarget, runLoad } from '../support/measurements/run-load.ts';
import { runVoiceLoad } from '../support/measurements/voice-load.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

void t.test('every report lists each threshold as a separate target', async (t) => {
  const { url } = await withTarget(t, ({ answer }) => callAfter(60, answer));
  const folder = t.testdir({});
  const at = (end: string): string => join(folder, `run.${end}`);
  const ran = await run([
    ...['load', url, '--profile', 'chat', '--rate', '20', '--duration', '5s', '--yes'],
    ...['--threshold', 'chat.p95<4s', '--threshold', 'chat.p50 < 20ms'],
    ...['--threshold', 'chat.error_rate<4%', '--threshold', 'chat.rate>=10/s'],
    ...['--json', at('json'), '--markdown', at('md'), '--html', at('html'), '--junit', at('xml')],
  ]);
  const report = JSON.parse(readFileSync(at('json'), 'utf8')) as LoadReport;
  t.same(findViolations('LoadReport', report), []);
  const missed = findTarget(report, 'chat.p50<20ms');
  t.match(missed, { metric: 'chat.p50', target: 20, unit: 'ms', samples: 100 });
  t.notOk('section' in missed, 'it is not a target of the specification');
  if (report.selfCheck.valid) {
    t.equal(ran.code, 1, ran.stdout);
    t.equal(missed.verdict, 'FAIL', missed.reason);
    t.equal(findTarget(report, 'chat.p95<4s').verdict, 'PASS');
    t.equal(findTarget(report, 'chat.error_rate<4%').verdict, 'PASS');
    t.equal(findTarget(report, 'chat.rate>=10/s').verdict, 'PASS');
    t.match(
      report.sentence,
      /^Target missed: Chat response time \(p50\) is under 20 ms\. 11 targets: /,
    );
    t.match(ran.stdout, /\nFAIL +Chat response time \(p50\) is under 20 ms\.\n +The p50 is /);
  }
  t.match(ran.stdout, 'Chat response time (p95) is under 4 s.');
  t.match(readFileSync(at('md'), 'utf8'), '| Chat response time (p95) is under 4 s. |');
  t.match(
    readFileSync(at('html'), 'utf8'),
    /Chat response time \(p95\) is under 4 s\.\s*<span class="soft">threshold/,
  );
  t.match(readFileSync(at('xml'), 'utf8'), 'name="chat.p50&lt;20ms"');
});

void t.test('wrong thresholds are usage errors', async (t) => {
  const rows: [args: string[], message: RegExp][] = [
    [
      ['--threshold', 'chat.p59<1s'],
      /--threshold: Unknown metric "chat\.p59"\. Did you mean chat\.p50\?/,
    ],
    [['--threshold', 'chat.p95<800'], /--threshold: chat\.p95 needs < or <= and a time in ms or s/],
    [
      ['--profile', 'chat', '--threshold', 'voice.setup.p95<2s'],
      /needs a profile with voice \(voice, all\), got chat/,
    ],
    [
      ['--rate', '10', '--threshold', 'chat.rate>=50/s'],
      /needs a rate of at least 50 requests per second, but the run sends 10/,
    ],
    [['--find-max', '--threshold', 'chat.p95<1s'], /--find-max and --threshold can't be combined/],
    [['--threshold'], /--threshold needs a value: --threshold LIMIT\./],
  ];
  for (const [args, message] of rows) {
    assertUsageError(t, await run(['load', 'http://127.0.0.1:1', ...args]), message);
  }
});

void t.test('the thresholds of a run that cannot start are not judged', async (t) => {
  const report = await runLoad('http://127.0.0.1:1', {
    thresholds: parseThresholds(['chat.p95<1s']),
    preflight: () =>
      Promise.resolve({ hasUsers: false, blockedBy: { message: 'Down.', cure: 'Start it.' } }),
  });
  t.match(findTarget(report, 'chat.p95<1s'), { verdict: 'INVALID RUN', reason: 'Down.' });
});

void t.test('a threshold on users is not proven if the sandbox has no users', async (t) => {
  const { url } = await withTarget(t);
  const report = await runLoad(url, {
    profile: 'mixed',
    windowMs: 1_000,
    thresholds: parseThresholds(['users.p95<1s', 'health.max<2s']),
    preflight: () => Promise.resolve({ hasUsers: false }),
  });
  t.match(findTarget(report, 'users.p95<1s'), {
    verdict: 'NOT PROVEN',
    reason: 'The sandbox has no users endpoint, so the run sent no requests to it.',
  });
  t.equal(findTarget(report, 'health.max<2s').verdict, 'PASS');
});

void t.test('thresholds on calls are judged when the calls have ended', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const report = await runVoiceLoad(agent.url, {
    thresholds: parseThresholds([
      'voice.setup.max<20s',
      'voice.setup.p95<1ms',
      'voice.turn_response.p50<20s',
    ]),
  });
  t.equal(findTarget(report, 'voice.setup.max<20s').verdict, 'PASS');
  t.match(findTarget(report, 'voice.setup.p95<1ms'), { samples: 3, measured: Number });
  t.not(findTarget(report, 'voice.setup.p95<1ms').verdict, 'NOT TESTED');
  t.not(findTarget(report, 'voice.turn_response.p50<20s').verdict, 'NOT TESTED');
});
