/** The verbs that need no sandbox of others, the help, and what every verb has in common. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import type { SelftestResult } from '../../conformance/index.ts';
import { startAgent } from '../../reference-agent/index.ts';
import { startService } from '../../src/service/index.ts';
import { run, start } from '../helpers/command.ts';
import { root } from '../helpers/repository.ts';

t.setTimeout(180_000);

const verbs = ['check', 'doctor', 'agent', 'explain', 'grade', 'selftest', 'schemas', 'demo'];

void t.test('agent: the first line is an interface, and it ends when asked to', async (t) => {
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
});

void t.test('agent: for people, the address first', async (t) => {
  const agent = await start(t, ['agent', '--port', '0']);
  t.match(agent.firstLine, /^The agent listens at http:\/\/127\.0\.0\.1:\d+$/);
  t.equal(await agent.end('SIGTERM'), 0);
});

void t.test('agent: a port that is taken', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const { code, stdout, stderr } = await run(['agent', '--port', String(port)]);
  t.equal(code, 2);
  t.equal(stdout, '');
  t.equal(
    stderr,
    `sandbox-kit: Port ${port} on 127.0.0.1 is in use. Choose another --port; 0 selects a free one.\n`,
  );
});

void t.test(
  'agent --tls: a check that trusts its CA passes, one that does not cannot',
  async (t) => {
    const ca = join(t.testdir({}), 'ca.pem');
    const agent = await start(t, ['agent', '--port', '0', '--tls', '--ca-out', ca, '--json']);
    const { url, caFile } = JSON.parse(agent.firstLine) as { url: string; caFile: string };
    t.match(url, /^https:/);
    t.equal(caFile, ca);
    const trusting = await run(['check', url, '--ca', ca]);
    t.equal(trusting.code, 0, trusting.stdout);
    const wary = await run(['check', url]);
    t.equal(wary.code, 3, wary.stdout);
    t.match(wary.stdout, /certificate is not accepted[^]*--ca FILE/);
  },
);

void t.test('agent --mutant: a check finds what it breaks', async (t) => {
  const args = ['agent', '--mutant', 'users/created-at-missing', '--json'];
  const env = { SANDBOX_KIT_API_KEY: 'a-key' };
  const agent = await start(t, args, { env });
  const { url } = JSON.parse(agent.firstLine) as { url: string };
  const checked = await run(['check', url, '--area', 'users'], { env });
  t.equal(checked.code, 1, checked.stdout);
  t.match(checked.stdout, /FAIL {2}USERS-0\d\d/);
  t.equal(await agent.end('SIGTERM'), 0);
});

void t.test('explain: a requirement, an area, a statement, all', async (t) => {
  for (const [word, says] of [
    [['chat-024'], /^CHAT-024 {2}The content[^]*chat\/content-null/],
    [['Health'], /^HEALTH-001 /],
    [['2.8.7'], /^CHAT-024 /],
    [[], /^CHAT-001 [^]*\nUSERS-001 /],
  ] as const) {
    const { code, stdout, stderr } = await run(['explain', ...word]);
    t.equal(code, 0, stderr);
    t.match(stdout, says);
    t.ok(within80(stdout), 'fits a terminal');
  }
});

void t.test('schemas: the list, one of them, and all into a folder', async (t) => {
  const list = await run(['schemas']);
  t.match(list.stdout, /^ChatResponse +spec 2\.8$/m);
  t.ok(within80(list.stdout), 'fits a terminal');
  const one = await run(['schemas', 'chatresponse']);
  t.match(JSON.parse(one.stdout), { title: 'ChatResponse', type: 'object' });
  const folder = join(t.testdir({}), 'a', 'b');
  const all = await run(['schemas', '--out', folder]);
  t.equal(all.code, 0, all.stderr);
  t.ok(readdirSync(folder).includes('chat-response.schema.json'));
});

void t.test('selftest: proven, as text and as JSON', async (t) => {
  const { code, stdout, stderr } = await run(
    ['selftest', '--only', 'health/status-', '--json', '-'],
    { timeoutMs: 60_000 },
  );
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), { ok: true, matrix: { 'HEALTH-010': ['health/status-missing'] } });
  t.match(stderr, /\d+ of \d+ faults caught[^]*\nPROVEN {2}/);
  const list = await run(['selftest', '--list', '--only', 'health/status-']);
  t.match(list.stdout, /^Mutants: [^]*\n {2}health\/status-ok\n/);
});

void t.test(
  'selftest --area service: the service alone, and what it is told in --list',
  async (t) => {
    const args = ['selftest', '--area', 'service', '--only', 'service/traces-'];
    const { code, stdout, stderr } = await run([...args, '--json', '-'], { timeoutMs: 60_000 });
    t.equal(code, 0, stderr);
    const { rows } = JSON.parse(stdout) as SelftestResult;
    t.ok(rows.length > 3 && rows.every(({ id, ok }) => ok && id.startsWith('service/traces-')));
    t.match(stderr, /\nPROVEN {2}/);
    const list = await run(['selftest', '--list', '--area', 'service']);
    t.match(list.stdout, /^ {2}service\/no-rate\n[^]*^ {2}dead\/service-empty\n/m);
    t.notMatch(list.stdout, /^ {2}(chat|health|users)\//m);
    const all = await run(['selftest', '--list']);
    t.match(all.stdout, /^ {2}chat\/content-null\n[^]*^ {2}service\/no-rate\n/m);
  },
);

void t.test('demo: all of it holds', async (t) => {
  const { code, stdout, stderr } = await run(['demo'], { timeoutMs: 60_000 });
  t.equal(code, 0, stdout + stderr);
  t.match(
    stdout,
    /1 {2}A sandbox[^]*2 {2}Check the[^]*3 {2}Check the same[^]*\nEvery step gave the expected result\.\n/,
  );
  t.match(stdout, /5 {2}Call the sandbox at[^]*agent {2}Your order has shipped[^]*Received \d/);
  t.match(stdout, /by chat: [^]*A-1001\.[^]*by voice: [^]*agent {2}[^]*on Saturdays/);
  t.ok(within80(stdout), 'fits a terminal');
  t.notMatch(stdout, /sessionId=/, 'it shows no page that is gone when it is read');
});

void t.test('help: fits a terminal, and its examples work', async (t) => {
  const agent = await startAgent({ voice: null });
  t.teardown(() => agent.stop());
  const talking = await startAgent();
  t.teardown(() => talking.stop());
  const service = await startService();
  t.teardown(() => service.stop());
  const env = { SANDBOX_KIT_SERVICE_API_KEY: service.apiKey };
  const folder = t.testdir({ 'accepted.json': '{"accepted":[]}', 'sandbox-kit-ca.pem': '' });
  const byHelp = (args: string[]): boolean => ['demo', 'agent', 'selftest'].includes(args[0] ?? '');
  const work = async (line: string): Promise<void> => {
    const sandbox = line.includes('--area voice') ? talking : agent;
    const args = wordsOf(line).map((word) =>
      word === 'SERVICE_URL' ? service.url : /^(URL|https?:.*)$/.test(word) ? sandbox.url : word,
    );
    if (byHelp(args) || args.includes('--ca')) return;
    const ran = await run(args, { cwd: folder, env });
    t.equal(ran.code, 0, `${line}: ${ran.stderr}`);
  };
  // Calls take as long as it takes to speak: the others are tried meanwhile.
  const calling: Promise<void>[] = [];
  for (const verb of ['', ...verbs]) {
    const { code, stdout, stderr } = await run([...(verb ? [verb] : []), '--help']);
    t.equal(code, 0, stderr);
    t.ok(within80(stdout), `${verb} --help fits a terminal`);
    const examples = [...stdout.matchAll(/^ {2}sandbox-kit (.+?)(?: {2,}.*)?$/gm)];
    const shown = stdout.includes('Examples:') && examples.length > 0;
    t.ok(shown, `${verb} --help has examples`);
    for (const [, line = ''] of stdout.includes('Commands:') ? [] : examples) {
      if (line.includes('--area voice')) calling.push(work(line));
      else await work(line);
    }
  }
  await Promise.all(calling);
});

/** The arguments of a line in a shell; quotes hold words together. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

/** Whether no line is over 80 characters; those with a curl line are to be copied whole. */
function within80(text: string): boolean {
  return text.split('\n').every((line) => line.length <= 80 || line.trim().startsWith('curl -i '));
}

void t.test('a reader who leaves early is no fault', async (t) => {
  for (const args of [['explain'], ['schemas', 'CheckReport'], ['check', '--list']]) {
    const child = spawn(process.execPath, [join(root, 'src/cli/main.ts'), ...args]);
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (chunk) => (stderr += String(chunk)));
    const code = await new Promise((resolve) => child.once('close', resolve));
    t.equal(code, 0, args.join(' '));
    t.equal(stderr, '', 'nothing is said of it');
  }
});

const ESCAPE = '\u001B';
const withoutScript =
  spawnSync('script', ['--version']).status !== 0 && 'script, which makes a terminal, is not here';

void t.test('colours on a terminal, none with NO_COLOR', { skip: withoutScript }, async (t) => {
  const agent = await startAgent();
  t.teardown(() => agent.stop());
  const main = join(root, 'src/cli/main.ts');
  const command = `${process.execPath} ${main} check ${agent.url} --area health`;
  const shown = async (env: Record<string, string>): Promise<string> => {
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { ...process.env, ...env },
    });
    let text = '';
    child.stdout.on('data', (chunk) => (text += String(chunk)));
    await new Promise((resolve) => child.once('close', resolve));
    return text;
  };
  const coloured = await shown({ NO_COLOR: '' });
  t.ok(coloured.includes(`${ESCAPE}[32m`), 'green');
  t.match(coloured, /1 of \d+ requests/, 'how far it is');
  const plain = await shown({ NO_COLOR: '1' });
  t.match(plain, /CONFORMING/);
  t.notOk(plain.replaceAll(`${ESCAPE}[2K`, '').includes(ESCAPE), 'only the live line is cleared');
});

const OLD_NODE = '/usr/bin/node';

void t.test('an old Node is told what it needs', { skip: withoutOldNode() }, (t) => {
  const { status, stdout, stderr } = spawnSync(OLD_NODE, [join(root, 'bin/sandbox-kit.js')]);
  t.equal(status, 2);
  t.equal(String(stdout), '');
  t.match(String(stderr), /^sandbox-kit needs Node 22\.19 or newer, this is [^\n]+\.\n$/);
  t.end();
});

/** Why there is no old Node to try, false where there is one. */
function withoutOldNode(): string | false {
  const version = existsSync(OLD_NODE) ? String(spawnSync(OLD_NODE, ['--version']).stdout) : '';
  const [, major = '99', minor = '0'] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  const isOld = Number(major) < 22 || (Number(major) === 22 && Number(minor) < 19);
  return isOld ? false : `no Node older than 22.19 at ${OLD_NODE}`;
}
