/** The commands that bring their own sandbox, the help, and what all commands share. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SelftestResult } from '../../conformance/index.ts';
import { loadCommands } from '../../cli/commands/index.ts';
import { formatCommandHelp } from '../../cli/output/help.ts';
import { assertUsageError, run, runInBackground } from '../support/commands/command.ts';
import { runProcess, start } from '../support/commands/command-process.ts';
import { needsTerminal, runInTerminal } from '../support/commands/terminal.ts';
import { withTcpServer } from '../support/network/tcp-server.ts';
import { atNight, nightOnly } from '../support/nightly.ts';
import { COMPILE_CACHE, ROOT } from '../support/repository.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { withStartedService } from '../support/services/started-service.ts';

const commands = ['check', 'doctor', 'agent', 'explain', 'grade', 'selftest', 'schemas', 'demo'];

void t.test(
  'agent --json: the first line contains the URLs and the key; SIGTERM and SIGINT stop it',
  async (t) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const env = { SANDBOX_KIT_API_KEY: 'a-key' };
      const agent = await start(t, ['agent', '--port', '0', '--json'], { env });
      const { url, voiceUrl, apiKey, ...rest } = JSON.parse(agent.firstLine) as Record<
        string,
        string
      >;
      t.equal(voiceUrl, `${url?.replace('http', 'ws')}/voice`);
      t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
      t.equal(apiKey, 'a-key');
      t.same(rest, {});
      t.equal((await fetch(`${url}/health`)).status, 200);
      t.equal(await agent.end(signal), 0, signal);
    }
  },
);

void t.test('agent: the first line of text contains the address', async (t) => {
  const agent = await runInBackground(t, ['agent', '--port', '0']);
  t.match(agent.firstLine, /^The agent listens at http:\/\/127\.0\.0\.1:\d+$/);
  t.equal(await agent.end('SIGTERM'), 0);
});

void t.test('agent: the error about a port in use says what to do', async (t) => {
  const port = await withTcpServer(t, () => undefined);
  assertUsageError(
    t,
    await run(['agent', '--port', String(port)]),
    new RegExp(
      `Port ${port} on 127\\.0\\.0\\.1 is in use\\. Choose another --port; 0 selects a free one\\.\n$`,
    ),
  );
});

void t.test(
  'agent --tls: a check that trusts its CA passes; any other check exits with 3',
  async (t) => {
    const ca = join(t.testdir({}), 'ca.pem');
    const agent = await runInBackground(t, [
      'agent',
      '--port',
      '0',
      '--tls',
      '--ca-out',
      ca,
      '--json',
    ]);
    const { url, caFile } = JSON.parse(agent.firstLine) as { url: string; caFile: string };
    t.match(url, /^https:/);
    t.equal(caFile, ca);
    const areas = atNight('chat,health,users,voice', 'health');
    const trusting = await run(['check', url, '--ca', ca, '--area', areas]);
    t.equal(trusting.code, 0, trusting.stdout);
    const untrusting = await run(['check', url]);
    t.equal(untrusting.code, 3, untrusting.stdout);
    t.match(untrusting.stdout, /TLS handshake with https:\S+ failed[^]*--ca FILE/);
  },
);

void t.test('agent --mutant: a check finds the broken requirement', async (t) => {
  const args = ['agent', '--mutant', 'users/created-at-missing', '--json'];
  const env = { SANDBOX_KIT_API_KEY: 'a-key' };
  const agent = await runInBackground(t, args, { env });
  const { url } = JSON.parse(agent.firstLine) as { url: string };
  const checked = await run(['check', url, '--area', 'users'], { env });
  t.equal(checked.code, 1, checked.stdout);
  t.match(checked.stdout, /FAIL {2}USERS-0\d\d/);
  t.equal(await agent.end('SIGTERM'), 0);
});

void t.test(
  'explain: takes a requirement, an area, or a statement; without one, lists all',
  async (t) => {
    for (const [args, expected] of [
      [
        ['chat-024'],
        /^CHAT-024 {2}`choices\[\]\.message\.content` is a string[^]*\n {2}probes +chat\/forms;[^]*chat\/content-null/,
      ],
      [['Health'], /^HEALTH-001 /],
      [['2.8.7'], /^CHAT-024 /],
      [[], /^CHAT-001 [^]*\nUSERS-001 /],
    ] as const) {
      const { code, stdout, stderr } = await run(['explain', ...args]);
      t.equal(code, 0, stderr);
      t.match(stdout, expected);
      t.ok(fits80Columns(stdout), 'fits a terminal');
    }
  },
);

void t.test(
  'schemas: lists the messages, prints one schema, or writes all to a directory',
  async (t) => {
    const list = await run(['schemas']);
    t.match(list.stdout, /^ChatResponse +spec 2\.8$/m);
    t.ok(fits80Columns(list.stdout), 'fits a terminal');
    const one = await run(['schemas', 'chatresponse']);
    t.match(JSON.parse(one.stdout), { title: 'ChatResponse', type: 'object' });
    const folder = join(t.testdir({}), 'a', 'b');
    const all = await run(['schemas', '--out', folder]);
    t.equal(all.code, 0, all.stderr);
    const shipped = readdirSync(join(ROOT, 'schemas')).filter((file) =>
      /\.schema\.json$|^(openapi|asyncapi)-/.test(file),
    );
    t.same(readdirSync(folder).sort(), shipped.sort(), 'the same files as in the package');
  },
);

void t.test('schemas: prints the OpenAPI and AsyncAPI documents of the package', async (t) => {
  for (const [args, file] of [
    [['--openapi', 'service'], 'openapi-service.json'],
    [['--openapi', 'sandbox'], 'openapi-sandbox.json'],
    [['--asyncapi'], 'asyncapi-voice.json'],
  ] as const) {
    const { code, stdout, stderr } = await run(['schemas', ...args]);
    t.equal(code, 0, stderr);
    t.equal(stdout, readFileSync(join(ROOT, 'schemas', file), 'utf8'), file);
  }
});

void t.test('selftest: prints its result as text and as JSON', async (t) => {
  const { code, stdout, stderr } = await run([
    'selftest',
    '--only',
    'health/status-',
    '--json',
    '-',
  ]);
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), { ok: true, matrix: { 'HEALTH-010': ['health/status-missing'] } });
  t.match(
    stderr,
    /\d+ of \d+ mutants caught, each by exactly its own requirements[^]*\nPROVEN {2}/,
  );
  const list = await run(['selftest', '--list', '--only', 'health/status-']);
  t.match(list.stdout, /^Mutants: [^]*\n {2}health\/status-ok\n/);
});

void t.test('selftest --area service: runs and lists only mutants of the service', async (t) => {
  const only = atNight('service/traces-', 'service/traces-20');
  const args = ['selftest', '--area', 'service', '--only', only];
  const { code, stdout, stderr } = await run([...args, '--json', '-']);
  t.equal(code, 0, stderr);
  const { rows } = JSON.parse(stdout) as SelftestResult;
  t.ok(rows.length > 0 && rows.every(({ id, ok }) => ok && id.startsWith('service/traces-')));
  t.match(stderr, /\nPROVEN {2}/);
  const list = await run(['selftest', '--list', '--area', 'service']);
  t.match(list.stdout, /^ {2}service\/no-rate\n[^]*^ {2}dead\/service-empty\n/m);
  t.notMatch(list.stdout, /^ {2}(chat|health|users)\//m);
  const all = await run(['selftest', '--list']);
  t.match(all.stdout, /^ {2}chat\/content-null\n[^]*^ {2}service\/no-rate\n/m);
});

void t.test('demo: every step gives the expected result', nightOnly(), async (t) => {
  const { code, stdout, stderr } = await run(['demo']);
  t.equal(code, 0, stdout + stderr);
  t.match(
    stdout,
    /1 {2}A sandbox[^]*2 {2}Check the[^]*3 {2}Check the same[^]*\nEvery step gave the expected result\.\n/,
  );
  t.match(stdout, /5 {2}Call the sandbox at[^]*agent {2}Your order has shipped[^]*Received \d/);
  t.match(stdout, /by chat: [^]*A-1001\.[^]*by voice: [^]*agent {2}[^]*on Saturdays/);
  t.ok(fits80Columns(stdout), 'fits a terminal');
  t.notMatch(stdout, /sessionId=/, 'it links to no page that is unavailable after the demo');
  t.notMatch(stdout, /curl/, 'it shows no request to a sandbox that ends with the demo');
  t.match(stdout, /keeps running:\n {5}.*sandbox-kit agent --mutant chat\/content-null\n/);
});

void t.test("a server that can't start does not leave the others running", async (t) => {
  // The service needs a temporary directory; the agent, which starts first, does not.
  const env = { TMPDIR: join(t.testdir({}), 'missing') };
  for (const args of [['demo'], ['selftest', '--area', 'health,service'], ['exec', '--', 'true']]) {
    const { code, stderr } = await runProcess(args, { env, timeoutMs: 60_000 });
    t.equal(code, 70, args.join(' '));
    t.match(stderr, /mkdtemp/, args.join(' '));
  }
});

/** At a push, the examples are tried where nothing listens: they end with 3, and not with wrong usage. */
const exampleCodes = atNight([0], [0, 3]);

void t.test('help: fits a terminal, and its examples run', async (t) => {
  const { agent } = await withReferenceAgent(t, { voice: null });
  const { agent: voiceAgent } = await withReferenceAgent(t);
  const service = await withStartedService(t);
  const env = { SANDBOX_KIT_SERVICE_API_KEY: service.apiKey };
  const folder = t.testdir({ 'accepted.json': '{"accepted":[]}', 'sandbox-kit-ca.pem': '' });
  const hasOwnTest = (args: string[]): boolean =>
    ['demo', 'agent', 'selftest'].includes(args[0] ?? '') || args.includes('--watch');
  const runExample = async (line: string): Promise<void> => {
    const { url } = line.includes('--area voice') ? voiceAgent : agent;
    const sandboxUrl = atNight(url, 'http://127.0.0.1:1');
    const args = splitArgs(line).map((word) =>
      word === 'SERVICE_URL' ? service.url : /^(URL|https?:.*)$/.test(word) ? sandboxUrl : word,
    );
    if (hasOwnTest(args) || args.includes('--ca')) return;
    const ran = await run(args, { cwd: folder, env });
    t.ok(exampleCodes.includes(ran.code ?? -1), `${line}: ${ran.stderr}`);
  };
  // Calls run in real time, so the other examples run meanwhile.
  const voiceExamples: Promise<void>[] = [];
  for (const command of ['', ...commands]) {
    const { code, stdout, stderr } = await run([...(command ? [command] : []), '--help']);
    t.equal(code, 0, stderr);
    t.ok(fits80Columns(stdout), `${command} --help fits a terminal`);
    const examples = [...stdout.matchAll(/^ {2}sandbox-kit (.+?)(?: {2,}.*)?$/gm)];
    const hasExamples = stdout.includes('Examples:') && examples.length > 0;
    t.ok(hasExamples, `${command} --help has examples`);
    for (const [, line = ''] of stdout.includes('Commands:') ? [] : examples) {
      if (line.includes('--area voice')) voiceExamples.push(runExample(line));
      else await runExample(line);
    }
  }
  await Promise.all(voiceExamples);
});

void t.test('help: that of every command fits a terminal', async (t) => {
  for (const command of await loadCommands()) {
    t.ok(fits80Columns(formatCommandHelp(command)), `${command.name} --help`);
  }
});

void t.test('help: a list of exit codes includes usage and internal errors', async (t) => {
  for (const command of await loadCommands()) {
    const [, codes] = formatCommandHelp(command).split('\nExit codes: ');
    if (codes === undefined) t.equal(command.exitCodes, undefined, command.name);
    else t.match(codes.replaceAll('\n', ' '), /, 2 \w.*, 70 internal error[,.]/, command.name);
  }
});

void t.test('help NAME prints the help of a command; help alone, the general one', async (t) => {
  for (const [args, same] of [
    [
      ['help', 'check'],
      ['check', '--help'],
    ],
    [['help'], ['--help']],
  ] as const) {
    const [ran, expected] = await Promise.all([run(args), run(same)]);
    t.match(ran, { code: 0, stdout: expected.stdout, stderr: '' }, args.join(' '));
  }
  assertUsageError(
    t,
    await run(['help', 'chekc']),
    /Unknown command "chekc"\. Did you mean check\?/,
  );
});

/**
 * Splits a shell command into its arguments; an argument may be in quotes. A redirection is left
 * out.
 */
const splitArgs = (line: string): string[] =>
  [...line.replace(/ > [\w.]+$/, '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, doubleQuoted, singleQuoted, plain]) => doubleQuoted ?? singleQuoted ?? plain ?? '',
  );

/** Whether each line has at most 80 characters. Curl commands stay on one line, to be copied. */
function fits80Columns(text: string): boolean {
  return text.split('\n').every((line) => line.length <= 80 || line.trim().startsWith('curl -i '));
}

void t.test('a reader that closes the pipe early causes no error', async (t) => {
  const others = [
    ['schemas', 'CheckReport'],
    ['check', '--list'],
  ];
  for (const args of [['explain'], ...atNight(others, [])]) {
    const env = { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE };
    const child = spawn(process.execPath, [join(ROOT, 'cli/main.ts'), ...args], { env });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (chunk) => (stderr += String(chunk)));
    const code = await new Promise((resolve) => child.once('close', resolve));
    t.equal(code, 0, args.join(' '));
    t.equal(stderr, '', 'nothing is printed about it');
  }
});

const ESCAPE = '\u001B';

void t.test('output to a terminal has colors, except with NO_COLOR', needsTerminal, async (t) => {
  const { agent } = await withReferenceAgent(t);
  const args = ['check', agent.url, '--area', 'health'];
  const colored = await runInTerminal(args, { NO_COLOR: '' });
  t.ok(colored.includes(`${ESCAPE}[32m`), 'green');
  t.match(colored, /1 of \d+ requests/, 'the progress');
  const plain = await runInTerminal(args, { NO_COLOR: '1' });
  t.match(plain, /CONFORMING/);
  t.notOk(
    plain.replaceAll(`${ESCAPE}[2K`, '').includes(ESCAPE),
    'the only escape code clears the progress line',
  );
});

const OLD_NODE = '/usr/bin/node';

void t.test(
  'an old Node version says which one is required, and whether npm installed one',
  { skip: whyNoOldNode() },
  (t) => {
    const args = [join(ROOT, 'bin/sandbox-kit.js')];
    const howToRun = 'Run your programs with npx node, and the kit with npx sandbox-kit\\.';
    const needed = 'sandbox-kit needs Node 22\\.19 or newer, but this is Node [^\\n]+\\.\n';
    for (const [cwd, advice] of [
      [ROOT, 'npm installed a newer Node here\\.'],
      ['/', 'Install a newer Node, for example with npm install --save-dev node@26\\.'],
    ] as const) {
      const ran = spawnSync(OLD_NODE, args, { cwd, encoding: 'utf8' });
      const stderr = new RegExp(`^${needed}${advice}\n${howToRun}\n$`);
      t.match(ran, { status: 2, stdout: '', stderr }, cwd);
    }
    t.end();
  },
);

/** Returns why this machine has no old Node version to test with; false if it has one. */
function whyNoOldNode(): string | false {
  const version = existsSync(OLD_NODE) ? String(spawnSync(OLD_NODE, ['--version']).stdout) : '';
  const [, major = '99', minor = '0'] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  const isOld = Number(major) < 22 || (Number(major) === 22 && Number(minor) < 19);
  return isOld ? false : `no Node older than 22.19 at ${OLD_NODE}`;
}
