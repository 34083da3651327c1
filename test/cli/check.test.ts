/** `check`, `doctor` and `grade` through the front door, against sandboxes good and bad. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { requirementIds, startMutant } from '../../conformance/index.ts';
import { startAgent, type AgentOptions } from '../../reference-agent/index.ts';
import { violations, type CheckReport, type ExchangeRecord } from '../../src/contract/index.ts';
import { run, type Ran } from '../helpers/command.ts';
import { root } from '../helpers/repository.ts';

const NOWHERE = 'http://127.0.0.1:1';
const KEY = 'sk-Very/secret~key.0123456789';

/** Without voice unless it is asked for: calls take as long as it takes to speak. */
async function agentFor(t: Test, options: Partial<AgentOptions> = {}): Promise<string> {
  const agent = await startAgent({ voice: null, ...options });
  t.teardown(() => agent.stop());
  return agent.url;
}

async function mutantFor(t: Test, id: string): Promise<string> {
  const mutant = await startMutant(id, await agentFor(t));
  if (!mutant) throw new Error(`there is no mutant ${id}`);
  t.teardown(() => mutant.stop());
  return mutant.url;
}

function isReport(t: Test, text: string): CheckReport {
  const report = JSON.parse(text) as CheckReport;
  t.same(violations('CheckReport', report), [], 'conforms to CheckReport');
  return report;
}

const noEscapes = (t: Test, { stdout, stderr }: Ran): boolean =>
  t.notOk((stdout + stderr).includes('\u001B'), 'no escape codes in a pipe');

void t.test('a conforming sandbox: exit 0, and the verdict last', async (t) => {
  const ran = await run(['check', await agentFor(t), '--seed', 'one.seed']);
  t.equal(ran.code, 0, ran.stderr);
  t.match(ran.stdout, /^sandbox-kit check http:.*\nSends \d+ requests, [^]* Seed\s+one\.seed\.\n/);
  t.match(ran.stdout, /\nCONFORMING {2}\d+ pass, [^]* s\n$/);
  t.equal(ran.stderr, '');
  noEscapes(t, ran);
});

void t.test('a conforming sandbox is told in short, and in full with --verbose', async (t) => {
  const url = await agentFor(t);
  const record = join(t.testdir({}), 'run.ndjson');
  const short = await run(['check', url, '--record', record], { env: { NO_COLOR: '1' } });
  t.equal(short.code, 0, short.stderr);
  const lines = short.stdout.trimEnd().split('\n');
  t.ok(lines.length <= 15, `${lines.length} lines`);
  t.ok(lines.every((line) => line.length <= 80));
  t.match(short.stdout, /\nNoted {4}CHAT-083 USERS-080 081 083\nDialect {2}POST \/users 201, /);
  t.match(
    short.stdout,
    /\nMore {5}--verbose tells the notes, why \d+ got no verdict and the whole/,
  );
  t.match(lines.at(-1), /^CONFORMING {2}\d+ pass, 4 note, \d+ not applicable, .* s$/);
  noEscapes(t, short);

  const full = await run(['check', url, '--verbose']);
  const graded = await run(['grade', record, '--verbose']);
  for (const { code, stdout } of [full, graded]) {
    t.equal(code, 0);
    t.match(stdout, /^Noted, not judged\n {2}CHAT-083 {2}A chat request/m);
    t.match(stdout, /\nWithout a verdict\n {2}not observed: No request was answered with 429\./);
    t.match(stdout, /\nIts dialect, [^]*\n {2}deleting a user twice +404 user_not_found\n/);
    t.notMatch(stdout, /^More/m);
    t.ok(stdout.split('\n').every((line) => line.length <= 80));
  }
});

void t.test('a broken sandbox: exit 1, and which requirement, where and why', async (t) => {
  const ran = await run(['check', await mutantFor(t, 'chat/content-null')]);
  t.equal(ran.code, 1, ran.stderr);
  t.match(ran.stdout, /FAIL {2}CHAT-024\n/);
  t.match(ran.stdout, /expected {2}a string\n +received {2}null\n/);
  t.match(ran.stdout, /\n +curl -i -X POST /);
  t.match(ran.stdout, /\nNOT CONFORMING {2}\d+ pass, 1 fail, /);
  noEscapes(t, ran);
});

void t.test('nothing there: exit 3, and one cause with its cure', async (t) => {
  const ran = await run(['check', NOWHERE]);
  t.equal(ran.code, 3, ran.stderr);
  t.match(ran.stdout, /Nothing accepts connections at http:\S+\.\nStart the sandbox/);
  t.match(ran.stdout, /\nNOT JUDGED {2}\d+ blocked, /);
  t.equal(ran.stdout.match(/Nothing accepts/g)?.length, 1, 'said once');
});

void t.test('--strict makes a warn a fail, of a run and of its recording', async (t) => {
  const record = join(t.testdir({}), 'run.ndjson');
  const url = await agentFor(t);
  const quick = await run(['check', url, '--area', 'health', '--strict', '--record', record]);
  t.equal(quick.code, 0, quick.stdout);
  const [first = '', ...lines] = readFileSync(record, 'utf8').trim().split('\n');
  const slower = lines.map((line) => {
    const exchange = JSON.parse(line) as ExchangeRecord;
    return JSON.stringify({ ...exchange, endedMs: exchange.endedMs + 2_500 });
  });
  writeFileSync(record, [first, ...slower].join('\n'));

  const mild = await run(['grade', record]);
  t.equal(mild.code, 0, mild.stdout);
  t.match(mild.stdout, /WARN {2}HEALTH-030/);
  const strict = await run(['grade', record, '--strict']);
  t.equal(strict.code, 1, strict.stdout);
  t.match(strict.stdout, /FAIL {2}HEALTH-030/);
});

void t.test('--json - leaves stdout to the report', async (t) => {
  const ran = await run(['check', await agentFor(t), '--json', '-', '--area', 'health,users']);
  t.equal(ran.code, 0, ran.stderr);
  const report = isReport(t, ran.stdout);
  t.equal(report.verdict, 'conforming');
  t.equal(report.requirements.length, requirementIds.length);
  t.match(ran.stderr, /\nCONFORMING {2}/, 'people read stderr');
});

void t.test('a recording gets the same verdicts again, offline', async (t) => {
  const folder = t.testdir({});
  const at = (name: string): string => join(folder, name);
  const url = await mutantFor(t, 'users/created-at-missing');
  const paths = ['--json', at('r.json'), '--junit', at('r.xml'), '--markdown', at('r.md')];
  const checked = await run(['check', url, '--record', at('r.ndjson'), ...paths]);
  t.equal(checked.code, 1, checked.stderr);
  const report = isReport(t, readFileSync(at('r.json'), 'utf8'));
  t.match(readFileSync(at('r.xml'), 'utf8'), /<failure message=/);
  t.match(readFileSync(at('r.md'), 'utf8'), /^## sandbox-kit check: not-conforming\n/);

  const graded = await run(['grade', at('r.ndjson'), '--json', '-']);
  t.equal(graded.code, 1, graded.stderr);
  const again = isReport(t, graded.stdout);
  t.same({ ...again, endedAt: '' }, { ...report, endedAt: '' });
});

void t.test('the key is sent, and seen nowhere', async (t) => {
  const folder = t.testdir({ key: `${KEY}\n` });
  const at = (name: string): string => join(folder, name);
  const url = await echoingSandbox(t);
  const outputs = ['json', 'junit', 'markdown', 'record'];
  const flags = outputs.flatMap((name) => [`--${name}`, at(name)]);
  for (const [how, args, env] of [
    ['in a file', ['--api-key-file', at('key')], {}],
    ['in the environment', [], { SANDBOX_KIT_API_KEY: KEY }],
  ] as const) {
    const ran = await run(['check', url, ...args, ...flags], { env });
    t.equal(ran.code, 1, `${how}: ${ran.stderr}`);
    const everything = [ran.stdout, ran.stderr, ...outputs.map((name) => readFileSync(at(name)))];
    t.notMatch(everything.join('\n'), KEY, how);
    t.match(ran.stdout, /Bearer \$SANDBOX_KIT_API_KEY"/, 'it has a name in curl lines');
    t.match(readFileSync(at('record'), 'utf8'), /you came with Bearer <redacted>/, 'was echoed');
  }
});

/** Says of every request with which key it came. */
async function echoingSandbox(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    const key = request.headers.authorization ?? 'none';
    response.writeHead(200, { 'content-type': 'application/json', 'x-key': key });
    response.end(JSON.stringify({ status: `you came with ${key}`, [key]: key }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

void t.test('--list and --dry-run send nothing and need no URL', async (t) => {
  const list = await run(['check', '--list', '--area', 'health']);
  t.equal(list.code, 0, list.stderr);
  t.match(list.stdout, /^HEALTH-001 {2}must {4}GET /);
  const dry = await run(['check', NOWHERE, '--dry-run', '--prompt', 'one', '--prompt', 'two']);
  t.equal(dry.code, 0, dry.stderr);
  t.match(dry.stdout, /chat\/prompts +accepted +2 +2 /, 'a request for each prompt');
});

void t.test('doctor: clear or one cause, for people and for programs', async (t) => {
  const well = await run(['doctor', await agentFor(t)]);
  t.equal(well.code, 0, well.stderr);
  t.match(well.stdout, /can be reached/);
  const ill = await run(['doctor', NOWHERE, '--json', '-']);
  t.equal(ill.code, 3, ill.stderr);
  t.match(JSON.parse(ill.stdout), { ok: false, gate: { id: 'refused' } });
  t.match(ill.stderr, /Nothing accepts connections/);
  const locked = await run(['doctor', await agentFor(t, { apiKey: KEY })]);
  t.equal(locked.code, 3, locked.stderr);
  t.match(locked.stdout, /requires a key[^]*SANDBOX_KIT_API_KEY/);
});

void t.test('known failures accept a failure, and are stale once it is fixed', async (t) => {
  const folder = t.testdir({});
  const file = join(folder, 'accepted.json');
  const comment = 'null until release 7';
  writeFileSync(file, JSON.stringify({ accepted: [{ id: 'CHAT-024', comment }] }));
  const json = join(folder, 'report.json');
  const args = ['--known-failures', file, '--json', json];

  const accepted = await run(['check', await mutantFor(t, 'chat/content-null'), ...args]);
  t.equal(accepted.code, 0, accepted.stdout);
  t.match(accepted.stdout, /Accepted by the baseline\n {2}CHAT-024 {2}fail: null until release 7/);
  t.match(accepted.stdout, /\nCONFORMING {2}\d+ pass, 1 fail \(1 accepted\)/);
  const report = isReport(t, readFileSync(json, 'utf8'));
  const row = report.requirements.find(({ id }) => id === 'CHAT-024');
  t.match(row, { verdict: 'fail', accepted: comment });

  const other = await run(['check', await mutantFor(t, 'health/status-ok'), ...args]);
  t.equal(other.code, 1, 'what is not listed counts');
  t.match(other.stdout, /FAIL {2}HEALTH-010/);

  const stale = await run(['check', await agentFor(t), ...args]);
  t.equal(stale.code, 1, stale.stdout);
  t.match(stale.stdout, /The baseline is stale: CHAT-024 is met by now; take it out/);
  t.same(isReport(t, readFileSync(json, 'utf8')).staleKnownFailures, ['CHAT-024']);

  const unseen = await run(['check', await agentFor(t), '--area', 'health', ...args]);
  t.equal(unseen.code, 0, 'what was not selected is not stale');
});

void t.test('stdout that is full or gone: one sentence at most, and no usage error', async (t) => {
  const url = await agentFor(t);
  const main = join(root, 'src/cli/main.ts');
  const shell = async (script: string): Promise<Ran> => {
    const { PATH = '' } = process.env;
    const child = spawn('bash', ['--norc', '-c', script], { env: { PATH } });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { code, stdout, stderr };
  };
  const kit = `'${process.execPath}' '${main}'`;
  for (const args of [`check ${url} --area health`, 'explain', 'schemas', '--help']) {
    const full = await shell(`${kit} ${args} > /dev/full`);
    t.equal(full.code, 3, `${args}: ${full.stderr}`);
    t.equal(full.stderr, "sandbox-kit: Can't write the output: the disk is full.\n");
  }
  const report = await shell(`${kit} check ${url} --area health --json /dev/full`);
  t.equal(report.code, 3, report.stderr);
  t.match(report.stderr, /^sandbox-kit: Can't write \/dev\/full \(--json\): the disk is full.\n$/);
  const head = await shell(`${kit} check ${url} --area health | head -1; exit \${PIPESTATUS[0]}`);
  t.equal(head.code, 0, 'the code is of the check');
  t.match(head.stdout, /^sandbox-kit check [^\n]+\n$/);
  t.equal(head.stderr, '', 'nothing is said of it');
  const bad = await shell(
    `${kit} check ${await mutantFor(t, 'health/status-ok')} | head -1; exit \${PIPESTATUS[0]}`,
  );
  t.equal(bad.code, 1, 'also where it found something');
  const closed = await shell(`${kit} check ${url} --area health >&-`);
  t.equal(closed.code, 0);
  t.equal(closed.stderr, '');
});
