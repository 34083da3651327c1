/** Load runs by voice that end early: no call and no process is left, and nothing hangs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { LoadReport } from '../../src/contract/index.ts';
import { fetchCalls } from '../support/calls/caller.ts';
import { run } from '../support/commands/command.ts';
import { start } from '../support/commands/command-process.ts';
import { testedVerdicts } from '../support/measurements/run-load.ts';
import {
  runVoiceLoad,
  findCallerProcesses,
  waitForNoCalls,
  getVoice,
} from '../support/measurements/voice-load.ts';
import { atNight, nightOnly } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { until } from '../support/until.ts';

const untilTalking = (url: string, calls: number): Promise<void> =>
  until(`${calls} connected calls`, async () => {
    const all = await fetchCalls(url);
    return all.filter(({ state }) => state === 'talking').length === calls;
  });

void t.test('a killed process makes the run invalid; the other processes hang up', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const loading = runVoiceLoad(agent.url, { windowMs: 60_000 }, { calls: 4, processes: 2 });
  await untilTalking(agent.url, 4);
  const [first, ...others] = findCallerProcesses();
  if (first === undefined) throw new Error('No process places calls.');
  t.equal(others.length, 1);
  process.kill(first, 'SIGKILL');
  const report = await loading;
  t.equal(report.verdict, 'INVALID RUN');
  t.match(report.selfCheck.reasons, [
    /process of the load generator with 2 calls ended early \(SIGKILL\)/,
  ]);
  t.match(getVoice(report).callers, { processes: 2, ended: 1 });
  t.same(Object.values(testedVerdicts(report)), ['INVALID RUN', 'INVALID RUN']);
  await waitForNoCalls(agent.url);
  t.same(findCallerProcesses(), []);
});

void t.test('an interruption during setup hangs up the calls that are connected', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const stop = new AbortController();
  const loading = runVoiceLoad(
    agent.url,
    { signal: stop.signal },
    { calls: 100, callsPerSecond: 2, processes: 1 },
  );
  await until('the first calls', async () => (await fetchCalls(agent.url)).length > 2);
  stop.abort();
  const report = await loading;
  t.equal(report.verdict, 'INVALID RUN');
  t.match(report.selfCheck.reasons, [
    /^The run was interrupted before the steady state, when \d+ of 100 calls had connected\.$/,
  ]);
  t.equal(report.selfCheck.reasons.length, 1, 'no advice about the load generator');
  const connections = report.targets.find(({ id }) => id === 'voice-connections');
  t.match(connections, {
    verdict: 'INVALID RUN',
    reason: /^No call was held, because the run ended/,
  });
  t.ok(
    getVoice(report).perCall.some(({ verdict }) => verdict === 'NOT TESTED'),
    'some calls were never placed',
  );
  await waitForNoCalls(agent.url);
});

void t.test('Ctrl-C: a report, exit code 3, and no call and no process is left', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const json = join(t.testdir({}), 'run.json');
  const args = ['load', agent.url, '--profile', 'voice', '--calls', '3', '--json', json];
  const { child, end, stderrSoFar } = await start(t, args);
  child.stdout.resume();
  await untilTalking(agent.url, 3);
  const callers = findCallerProcesses(child.pid);
  t.equal(callers.length, 1);
  // A terminal signals every process of the group.
  for (const pid of callers) process.kill(pid, 'SIGINT');
  t.equal(await end('SIGINT'), 3);
  const report = JSON.parse(readFileSync(json, 'utf8')) as LoadReport;
  t.match(
    report.sentence,
    /^Not judged: The run was interrupted (after \d+ s of 60 s|before the steady state, when \d of 3 calls had connected)\.$/,
  );
  t.match(stderrSoFar(), /Stopping\. The report covers the calls so far\./);
  await waitForNoCalls(agent.url);
  t.same(findCallerProcesses(child.pid), []);
});

void t.test(
  'the caller processes of a killed load run hang up and exit',
  nightOnly(),
  async (t) => {
    const { agent } = await withReferenceAgent(t);
    const { child, end } = await start(t, [
      'load',
      agent.url,
      '--profile',
      'voice',
      '--calls',
      '3',
    ]);
    child.stdout.resume();
    await untilTalking(agent.url, 3);
    const callers = findCallerProcesses(child.pid);
    await end('SIGKILL');
    await waitForNoCalls(agent.url);
    const hasExited = (pid: number): boolean => {
      try {
        return !process.kill(pid, 0);
      } catch {
        return true;
      }
    };
    await until('the exit of the caller processes', () => callers.every(hasExited));
  },
);

void t.test('a sandbox without voice: one cause, exit code 3, and no call', async (t) => {
  const { agent } = await withReferenceAgent(t, { voice: null });
  for (const profile of atNight(['voice', 'all'], ['voice'])) {
    const ran = await run(['load', agent.url, '--profile', profile, '--duration', '2s']);
    t.equal(ran.code, 3, ran.stdout);
    t.match(ran.stdout, /^Not judged: /m);
    t.match(ran.stdout, /\nINVALID RUN {2}\d+ targets: /);
    t.match(ran.stdout, /voice/);
    t.notMatch(ran.stdout, /^FAIL/m);
  }
});
