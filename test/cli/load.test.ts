/** `load` through the front door: exit codes, reports, and what a newcomer does wrong. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { violations, type LoadReport } from '../../src/contract/index.ts';
import { withAgent } from '../helpers/agent.ts';
import { run, start } from '../helpers/command.ts';
import { withTarget } from '../helpers/load.ts';
import { root } from '../helpers/repository.ts';
import { until } from '../helpers/until.ts';

t.setTimeout(110_000);

const ESCAPE = '\u001B';
const NOWHERE = 'http://127.0.0.1:1';
/** Few requests for a short while: the machine is idle beside it, and the verdict not proven. */
const SMOKE = ['--rate', '20', '--duration', '2s', '--accept-not-proven'];

function reportIn(t: Test, text: string): LoadReport {
  const report = JSON.parse(text) as LoadReport;
  t.same(violations('LoadReport', report), [], 'conforms to LoadReport');
  return report;
}

/** Either the sandbox is judged, or this machine was too busy for it, which is said and exits with 3. */
const judged = (report: LoadReport, exitCode: number): number =>
  report.selfCheck.valid ? exitCode : 3;

void t.test('a smoke run takes seconds, exits with 0, and writes every report', async (t) => {
  const { agent } = await withAgent(t);
  const folder = t.testdir({});
  const [json, junit, markdown, html] = ['json', 'xml', 'md', 'html'].map((end) =>
    join(folder, `run.${end}`),
  ) as [string, string, string, string];
  const files = ['--json', json, '--junit', junit, '--markdown', markdown, '--html', html];
  const ran = await run(['load', agent.url, ...SMOKE, ...files]);
  const report = reportIn(t, readFileSync(json, 'utf8'));
  t.equal(ran.code, judged(report, 0), ran.stdout);
  t.equal(report.exitCode, ran.code);
  const lines = ran.stdout.trimEnd().split('\n');
  t.ok(lines.every((line) => line.length <= 80));
  t.notOk((ran.stdout + ran.stderr).includes(ESCAPE), 'plain in a pipe');
  t.match(ran.stdout, /^Sends about \d+ requests, \d+ of which reach a model: 20 requests/m);
  t.match(ran.stdout, new RegExp(`\n${report.verdict}  `), 'the verdict, last');
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
  'not accepted, NOT PROVEN exits with 3; JSON on stdout leaves the rest to stderr',
  async (t) => {
    const { agent } = await withAgent(t);
    const args = ['--rate', '20', '--duration', '1s', '--engine', 'autocannon', '--json', '-'];
    const ran = await run(['load', agent.url, ...args, '--profile', 'chat']);
    t.equal(ran.code, 3);
    const report = reportIn(t, ran.stdout);
    t.equal(report.plan.engine, 'autocannon');
    t.match(report.notes.join(' '), /does not verify TLS .* resets/, 'its blind spots are said');
    t.match(ran.stderr, /To know besides\n- autocannon does not verify TLS certificates/);
  },
);

void t.test('a sandbox that fails exits with 1, and is set beside an earlier run', async (t) => {
  const folder = t.testdir({});
  const good = await withTarget(t);
  const bad = await withTarget(t, ({ nth, response, answer }) => {
    // The preflight is answered well.
    if (nth > 10 && nth % 2 === 0) response.writeHead(500).end('{}');
    else answer();
  });
  const earlier = join(folder, 'earlier.json');
  const args = [...SMOKE, '--profile', 'chat'];
  await run(['load', good.url, ...args, '--json', earlier]);
  const json = join(folder, 'now.json');
  const ran = await run(['load', bad.url, ...args, '--json', json, '--compare', earlier]);
  const report = reportIn(t, readFileSync(json, 'utf8'));
  t.equal(ran.code, judged(report, 1), ran.stdout);
  t.match(ran.stdout, /Against the run of 2/);
  t.match(ran.stdout, /availability +100 % +\d+\S* % {2}worse/);
  t.match(ran.stdout, /Another sandbox: http/);
  t.match(ran.stdout, /\d+ {2}server_error: 5xx/);
});

void t.test('what is no sandbox is not loaded: one cause, its cure, exit 3', async (t) => {
  let asked = 0;
  const login = createServer((_request, response) => {
    asked++;
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Log in</title>');
  });
  await new Promise<void>((resolve) => login.listen(0, '127.0.0.1', resolve));
  t.teardown(() => login.close());
  const page = `http://127.0.0.1:${(login.address() as AddressInfo).port}`;
  for (const url of [NOWHERE, page]) {
    const ran = await run(['load', url, '--quick']);
    t.equal(ran.code, 3, ran.stdout);
    t.match(ran.stdout, /\nINVALID RUN {2}Not judged: /);
    t.ok(ran.stdout.split('\n').every((line) => line.length <= 80));
  }
  t.ok(asked < 20, `${asked} requests to look what it is, and no load`);
});

void t.test('Ctrl-C in the middle: a report of what was seen, exit 3', async (t) => {
  const target = await withTarget(t);
  const json = join(t.testdir({}), 'run.json');
  const args = ['load', target.url, '--rate', '50', '--duration', '5m', '--warm-up', '0s'];
  const { child, end, stderr } = await start(t, [...args, '--json', json]);
  child.stdout.resume();
  await until('it is under way', () => target.chats > 60);
  t.equal(await end('SIGINT'), 3);
  t.match(await stderr, /Stopping\. The report covers the requests so far\./);
  const report = reportIn(t, readFileSync(json, 'utf8'));
  t.equal(report.verdict, 'INVALID RUN');
  t.match(report.sentence, /interrupted after \d+ of 300 s/);
  t.ok((report.chat?.ok ?? 0) > 20);
});

const withoutScript =
  spawnSync('script', ['--version']).status !== 0 && 'script, which makes a terminal, is not here';

void t.test(
  'on a terminal: colours unless NO_COLOR, and a line that is alive',
  { skip: withoutScript },
  async (t) => {
    const { url } = await withTarget(t);
    const main = join(root, 'src/cli/main.ts');
    const args = ['load', url, '--rate', '10', '--duration', '3s', '--profile', 'chat'];
    const shown = async (env: Record<string, string>): Promise<string> => {
      const command = [process.execPath, main, ...args].join(' ');
      const child = spawn('script', ['-qec', command, '/dev/null'], {
        env: { ...process.env, ...env },
      });
      let text = '';
      child.stdout.on('data', (chunk) => (text += String(chunk)));
      await new Promise((resolve) => child.once('close', resolve));
      return text;
    };
    const [coloured, plain] = await Promise.all([
      shown({ NO_COLOR: '' }),
      shown({ NO_COLOR: '1' }),
    ]);
    t.ok(coloured.includes(`${ESCAPE}[33m`), 'yellow');
    t.match(coloured, /0:0\d left, \d+\/s, \d+ in flight, p50 \d+ ms, p99 \d+ ms/);
    t.match(plain, /NOT PROVEN|INVALID RUN/);
    t.notOk(plain.replaceAll(`${ESCAPE}[2K`, '').includes(ESCAPE), 'only the live line is cleared');
  },
);

void t.test('--compare reads the report of an earlier run', async (t) => {
  const { url } = await withTarget(t);
  const path = join(t.testdir({}), 'earlier.json');
  await run(['load', url, ...SMOKE, '--profile', 'health', '--json', path]);
  const report = reportIn(t, readFileSync(path, 'utf8'));
  t.equal(report.plan.profile, 'health');
  // A later version may add keys.
  writeFileSync(path, JSON.stringify({ ...report, added: 'later' }));
  const ran = await run(['load', url, ...SMOKE, '--profile', 'health', '--compare', path]);
  t.match(ran.stdout, /health-latency .* (alike|unknown|better|worse)/);
});
