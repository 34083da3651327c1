/** The command `load`: exit codes, reports, and common mistakes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { contractVersion, findViolations, type LoadReport } from '../../src/contract/index.ts';
import { run, runInBackground } from '../support/commands/command.ts';
import { needsTerminal, runInTerminal } from '../support/commands/terminal.ts';
import { withTarget } from '../support/measurements/load-target.ts';
import { NOWHERE } from '../support/network/local-server.ts';
import { isNightly } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import {
  respondToAll,
  respondWith,
  withSandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';
import { until } from '../support/until.ts';

const ESCAPE = '\u001B';
/** A short run with few requests: too few for any verdict but NOT PROVEN. */
const SMOKE = ['--rate', '20', '--duration', '2s', '--accept-not-proven'];

/** Asserts that a text is a valid load report, and returns it. */
function parseReport(t: Test, text: string): LoadReport {
  const report = JSON.parse(text) as LoadReport;
  t.same(findViolations('LoadReport', report), [], 'conforms to LoadReport');
  return report;
}

/** Returns the expected exit code: 3 if this machine was too busy for a valid run. */
const expectedExitCode = (report: LoadReport, exitCode: number): number =>
  report.selfCheck.valid ? exitCode : 3;

void t.test('a short run exits with 0 and writes every report', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const folder = t.testdir({});
  const [json, junit, markdown, html] = ['json', 'xml', 'md', 'html'].map((end) =>
    join(folder, `run.${end}`),
  ) as [string, string, string, string];
  const files = ['--json', json, '--junit', junit, '--markdown', markdown, '--html', html];
  const ran = await run(['load', agent.url, ...SMOKE, ...files]);
  const report = parseReport(t, readFileSync(json, 'utf8'));
  t.equal(ran.code, expectedExitCode(report, 0), ran.stdout);
  t.equal(report.exitCode, ran.code);
  t.equal(report.agentVersion, contractVersion, 'the version that /health reported');
  const lines = ran.stdout.trimEnd().split('\n');
  t.ok(lines.every((line) => line.length <= 80 || line.startsWith('Open the page: ')));
  t.notOk((ran.stdout + ran.stderr).includes(ESCAPE), 'plain in a pipe');
  t.match(ran.stdout, /^Sends about \d+ requests, \d+ of which reach a model: 20 requests/m);
  t.match(ran.stdout, new RegExp(`\n${report.verdict}  `), 'the verdict is last');
  t.match(readFileSync(junit, 'utf8'), /<testsuites name="sandbox-kit load" tests="7"/);
  t.match(readFileSync(markdown, 'utf8'), /^## sandbox-kit load: (NOT PROVEN|INVALID RUN)\n/);
  t.match(readFileSync(html, 'utf8'), /^<!doctype html>/);
  const { chat } = report;
  t.match(chat, { offered: 40, sent: 40, ok: 40, errors: {} });
  for (const times of [chat?.latencyMs, chat?.serviceMs, chat?.lagMs]) {
    t.match(times, { p50: Number, p90: Number, p99: Number, max: Number, mean: Number });
  }
});

void t.test(
  'NOT PROVEN exits with 3 by default; with JSON on stdout, the text goes to stderr',
  async (t) => {
    const { agent } = await withReferenceAgent(t);
    const args = ['--rate', '20', '--duration', '1s', '--json', '-', '--profile', 'chat'];
    const ran = await run(['load', agent.url, ...args]);
    const report = parseReport(t, ran.stdout);
    t.equal(ran.code, 3);
    t.equal(report.plan.engine, 'open');
    // On a machine that was too busy, the run is invalid, which exits with 3, too.
    const verdict = report.selfCheck.valid
      ? 'NOT PROVEN {2}The run could not decide: '
      : 'INVALID RUN';
    t.match(ran.stderr, new RegExp(`\\n${verdict}`));
  },
);

void t.test('--engine autocannon: a closed loop, which states its limits', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const args = ['--engine', 'autocannon', '--connections', '2', '--duration', '1s', '--json', '-'];
  const ran = await run(['load', agent.url, ...args]);
  const report = parseReport(t, ran.stdout);
  t.match(report.plan, { engine: 'autocannon', connections: 2, profile: 'chat' });
  t.match(report.notes.join(' '), /coordinated omission.* does not verify TLS certificates/);
  t.match(ran.stderr, /Sends as many requests as 2 connections can in 1 s, /);
  t.match(ran.stderr, /\nNotes\n- A closed loop sends fewer requests while the sandbox is slow/);
});

void t.test(
  'a failing sandbox exits with 1; --compare shows what changed since an earlier run',
  async (t) => {
    const folder = t.testdir({});
    const good = await withTarget(t);
    const bad = await withTarget(t, ({ nth, response, answer }) => {
      // The preflight must succeed.
      if (nth > 10 && nth % 2 === 0) response.writeHead(500).end('{}');
      else answer();
    });
    const earlier = join(folder, 'earlier.json');
    const args = [...SMOKE, '--profile', 'chat'];
    await run(['load', good.url, ...args, '--json', earlier]);
    const json = join(folder, 'now.json');
    const ran = await run(['load', bad.url, ...args, '--json', json, '--compare', earlier]);
    const report = parseReport(t, readFileSync(json, 'utf8'));
    t.equal(ran.code, expectedExitCode(report, 1), ran.stdout);
    t.match(ran.stdout, /Compared with the run of 2\d{3}-/);
    t.match(ran.stdout, /availability +100% +\d+\S*% {2}worse/);
    t.match(ran.stdout, /Different sandbox: http/);
    t.match(ran.stdout, /\d+ {2}server_error: a 5xx status/);
  },
);

void t.test(
  'a server that is not a sandbox gets no load, and the run names one cause and exits with 3',
  async (t) => {
    const html = { 'content-type': 'text/html' };
    const login = respondWith(200, '<!doctype html><title>Log in</title>', html);
    const loginServer = await withSandboxDouble(t, respondToAll(login));
    for (const url of [NOWHERE, loginServer.url]) {
      const ran = await run(['load', url, '--quick']);
      t.equal(ran.code, 3, ran.stdout);
      t.match(ran.stdout, /^Not judged: /m);
      t.match(ran.stdout, /\nINVALID RUN {2}\d+ targets: /);
      t.ok(ran.stdout.split('\n').every((line) => line.length <= 80));
    }
    const { length: count } = loginServer.requests;
    t.ok(count < 20, `${count} requests: the preflight only`);
  },
);

void t.test(
  'after Ctrl-C, the report covers the requests so far, and the exit code is 3',
  async (t) => {
    const target = await withTarget(t);
    const json = join(t.testdir({}), 'run.json');
    const args = ['load', target.url, '--rate', '50', '--duration', '5m', '--warm-up', '0s'];
    const { end, stderr, stdoutSoFar } = await runInBackground(t, [...args, '--json', json]);
    await until('60 requests', () => target.chats > 60);
    t.equal(await end('SIGINT'), 3);
    t.match(await stderr, /Stopping\. The report covers the requests so far\./);
    const report = parseReport(t, readFileSync(json, 'utf8'));
    t.equal(report.verdict, 'INVALID RUN');
    t.match(report.sentence, /interrupted after \d+ s of 300 s/);
    t.ok((report.chat?.ok ?? 0) > 20);
    t.match(
      stdoutSoFar(),
      /\nINVALID RUN {2}Not judged: The run was interrupted\s+after[^]*7\s+targets:/,
      'the last lines name the cause',
    );
    t.equal(stdoutSoFar().match(/INVALID RUN|The run was interrupted/g)?.length, 2, 'once each');
    for (const { verdict } of report.targets.filter((row) => row.measured !== null)) {
      t.equal(verdict, 'INVALID RUN');
    }
  },
);

void t.test('after Ctrl-C in the warm-up, the report says so and has no tables', async (t) => {
  const target = await withTarget(t);
  const args = ['load', target.url, '--rate', '50', '--duration', '5m', '--warm-up', '60s'];
  const { end, stderr, stdoutSoFar } = await runInBackground(t, args);
  await until('some requests', () => target.chats > 5);
  t.equal(await end('SIGINT'), 3);
  t.match(await stderr, /Stopping\. Press Ctrl-C again to exit immediately\./);
  t.match(
    stdoutSoFar(),
    /\n\nNot judged: The run was interrupted during the warm-up, before anything was\nmeasured\.\nRun it again\.\n\nINVALID RUN {2}\d+ targets: [^\n]*\n$/,
  );
});

void t.test('after SIGTERM, the process to end is named, not Ctrl-C', async (t) => {
  const target = await withTarget(t);
  const args = ['load', target.url, '--rate', '50', '--duration', '5m', '--warm-up', '60s'];
  const { end, stderr } = await runInBackground(t, args);
  await until('some requests', () => target.chats > 5);
  t.equal(await end('SIGTERM'), 3);
  t.match(await stderr, /Stopping\. Send SIGTERM to process \d+ to exit immediately\./);
});

void t.test('a terminal shows a progress line, and colors by default', needsTerminal, async (t) => {
  const { url } = await withTarget(t);
  const args = ['load', url, '--rate', '10', '--duration', '3s', '--profile', 'chat'];
  const shown = await runInTerminal(args, { NO_COLOR: '' });
  t.ok(shown.includes(`${ESCAPE}[33m`), 'yellow');
  t.match(shown, /0:0\d left, \d+\/s, \d+ in flight, p50 \d+ ms, p99 \d+ ms/);
  if (!isNightly) return;
  const plain = await runInTerminal(args, { NO_COLOR: '1' });
  t.match(plain, /NOT PROVEN|INVALID RUN/);
  t.notOk(
    plain.replaceAll(`${ESCAPE}[2K`, '').includes(ESCAPE),
    'the only escape code clears the progress line',
  );
});

void t.test('--compare accepts a report with unknown keys', async (t) => {
  const { url } = await withTarget(t);
  const path = join(t.testdir({}), 'earlier.json');
  await run(['load', url, ...SMOKE, '--profile', 'health', '--json', path]);
  const report = parseReport(t, readFileSync(path, 'utf8'));
  t.equal(report.plan.profile, 'health');
  // A later version may add keys.
  writeFileSync(path, JSON.stringify({ ...report, added: 'later' }));
  const ran = await run(['load', url, ...SMOKE, '--profile', 'health', '--compare', path]);
  t.match(ran.stdout, /health-latency .* (may be chance|not comparable|better|worse)/);
});
