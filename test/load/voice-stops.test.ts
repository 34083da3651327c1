/** What ends a run of calls before its time: no call is left behind, and nothing hangs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { htmlReport, junitReport, markdownReport } from '../../load/index.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import { withAgent } from '../helpers/agent.ts';
import { callsOf } from '../helpers/caller.ts';
import { isRefused, run, start } from '../helpers/command.ts';
import { called, callerProcesses, untilNoCall, voiceIn } from '../helpers/load-voice.ts';
import { verdictsIn } from '../helpers/load.ts';
import { until } from '../helpers/until.ts';

t.setTimeout(110_000);

const untilTalking = (url: string, calls: number): Promise<void> =>
  until('all calls are up', async () => {
    const all = await callsOf(url);
    return all.filter(({ state }) => state === 'talking').length === calls;
  });

void t.test('a process that is killed makes the run invalid, and the others hang up', async (t) => {
  const { agent } = await withAgent(t);
  const loading = called(agent.url, { windowMs: 60_000 }, { calls: 4, processes: 2 });
  await untilTalking(agent.url, 4);
  const [first, ...others] = callerProcesses();
  if (first === undefined) throw new Error('no process places calls');
  t.equal(others.length, 1);
  process.kill(first, 'SIGKILL');
  const report = await loading;
  t.equal(report.verdict, 'INVALID RUN');
  t.match(report.selfCheck.reasons, [/held 2 calls ended early \(SIGKILL\)/]);
  t.match(voiceIn(report).callers, { processes: 2, ended: 1 });
  t.same(Object.values(verdictsIn(report)), ['INVALID RUN', 'INVALID RUN']);
  await untilNoCall(agent.url);
  t.same(callerProcesses(), []);
});

void t.test('interrupted while calls are placed: what is up hangs up', async (t) => {
  const { agent } = await withAgent(t);
  const stop = new AbortController();
  const loading = called(agent.url, { signal: stop.signal }, { calls: 100, callsPerSecond: 2 });
  await until('some are up', async () => (await callsOf(agent.url)).length > 2);
  stop.abort();
  const report = await loading;
  t.equal(report.verdict, 'INVALID RUN');
  t.match(report.selfCheck.reasons, [/interrupted after 0 of 3 s/]);
  t.ok(
    voiceIn(report).perCall.some(({ verdict }) => verdict === 'NOT TESTED'),
    'never placed',
  );
  await untilNoCall(agent.url);
});

void t.test(
  'Ctrl-C in the middle: a report, exit 3, and no call and no process is left',
  async (t) => {
    const { agent } = await withAgent(t);
    const json = join(t.testdir({}), 'run.json');
    const args = ['load', agent.url, '--profile', 'voice', '--calls', '3', '--json', json];
    const { child, end } = await start(t, args);
    child.stdout.resume();
    await untilTalking(agent.url, 3);
    const placed = callerProcesses(child.pid);
    t.equal(placed.length, 1);
    // As a terminal does: to all of them.
    for (const pid of placed) process.kill(pid, 'SIGINT');
    t.equal(await end('SIGINT'), 3);
    const report = JSON.parse(readFileSync(json, 'utf8')) as LoadReport;
    t.match(report.sentence, /interrupted after \d+ of 60 s/);
    await untilNoCall(agent.url);
    t.same(callerProcesses(child.pid), []);
  },
);

void t.test('whoever places calls for a process that was killed hangs up', async (t) => {
  const { agent } = await withAgent(t);
  const { child, end } = await start(t, ['load', agent.url, '--profile', 'voice', '--calls', '3']);
  child.stdout.resume();
  await untilTalking(agent.url, 3);
  const placed = callerProcesses(child.pid);
  await end('SIGKILL');
  await untilNoCall(agent.url);
  const isGone = (pid: number): boolean => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  };
  await until('the processes have ended', () => placed.every(isGone));
});

void t.test('a sandbox without voice: one cause, exit 3, and no call', async (t) => {
  const { agent } = await withAgent(t, { voice: null });
  for (const profile of ['voice', 'all']) {
    const ran = await run(['load', agent.url, '--profile', profile, '--duration', '2s']);
    t.equal(ran.code, 3, ran.stdout);
    t.match(ran.stdout, /\nINVALID RUN {2}Not judged: /);
    t.match(ran.stdout, /voice/);
    t.notMatch(ran.stdout, /^FAIL/m);
  }
});

void t.test('flags of calls need a profile that has some', async (t) => {
  const url = 'http://127.0.0.1:1';
  isRefused(t, await run(['load', url, '--calls', '3']), /--calls: expected only together with/);
  const rated = await run(['load', url, '--profile', 'voice', '--rate', '3']);
  isRefused(t, rated, /--rate: expected without --profile voice/);
  const long = await run(['load', url, '--profile', 'voice', '--duration', '1h']);
  isRefused(t, long, /--duration: expected at most 60000 s of all calls together/);
});

void t.test('every view of the report tells of the calls', async (t) => {
  const { agent } = await withAgent(t, { faults: [{ kind: 'no_media', times: 1 }] });
  const report = await called(agent.url);
  const page = htmlReport(report);
  t.match(page, /<h2>Voice<\/h2>/);
  t.match(page, /3 calls, 3 connected, 2 held/);
  t.notMatch(page, /<(script|img|link|iframe)\b/i);
  t.match(markdownReport(report), /### 3 calls, 3 connected, 2 held/);
  t.match(junitReport(report), /name="voice-connections">\s*<failure message="FAIL: 2 of 3/);
});
