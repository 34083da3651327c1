/** The commands `check` and `grade`, against conforming and broken sandboxes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { requirementIds } from '../../conformance/index.ts';
import {
  contractVersion,
  findViolations,
  type CheckReport,
  type ExchangeRecord,
} from '../../src/contract/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { run, runInBackground, type CommandResult } from '../support/commands/command.ts';
import { runProcess, start } from '../support/commands/command-process.ts';
import { NOWHERE } from '../support/network/local-server.ts';
import { atNight } from '../support/nightly.ts';
import { COMPILE_CACHE, ROOT } from '../support/repository.ts';
import {
  hang,
  healthy,
  refusal,
  respondToAll,
  respondWith,
  withSandboxDouble,
  type RouteBehavior,
} from '../support/sandboxes/sandbox-double.ts';
import { startTextAgent, startTextMutant } from '../support/sandboxes/text-agent.ts';
import { until } from '../support/until.ts';

const KEY = 'sk-Very/secret~key.0123456789';

/** Asserts that a text is a valid check report, and returns it. */
function parseReport(t: Test, text: string): CheckReport {
  const report = JSON.parse(text) as CheckReport;
  t.same(findViolations('CheckReport', report), [], 'conforms to CheckReport');
  return report;
}

/** Asserts that the output contains no terminal escape codes. */
const assertPlain = (t: Test, { stdout, stderr }: CommandResult): boolean =>
  t.notOk((stdout + stderr).includes('\u001B'), 'no escape codes in a pipe');

void t.test(
  'a conforming sandbox gives exit code 0, with the verdict on the last line',
  async (t) => {
    const ran = await run(['check', await startTextAgent(t), '--seed', 'one.seed']);
    t.equal(ran.code, 0, ran.stderr);
    t.match(
      ran.stdout,
      /^sandbox-kit check http:.*\nThe run sends \d+ requests, [^]*\sSeed\s+one\.seed\.\n/,
    );
    t.match(ran.stdout, /\nCONFORMING {2}\d+ pass, [^]* m?s\n$/);
    t.equal(ran.stderr, '');
    assertPlain(t, ran);
  },
);

void t.test(
  'the report of a conforming sandbox is short; --verbose prints all of it',
  async (t) => {
    const url = await startTextAgent(t);
    const record = join(t.testdir({}), 'run.ndjson');
    const short = await run(['check', url, '--record', record], { env: { NO_COLOR: '1' } });
    t.equal(short.code, 0, short.stderr);
    const lines = short.stdout.trimEnd().split('\n');
    t.ok(lines.length <= 15, `${lines.length} lines`);
    t.ok(lines.every((line) => line.length <= 80));
    t.match(
      short.stdout,
      /\nNotes {5}CHAT-083 USERS-080 081 083\nObserved {2}POST \/v1\/chat\/completions 200, /,
    );
    t.match(
      short.stdout,
      /\nMore {6}--verbose shows the notes, why \d+ requirements were not judged, why\s+\d+\s+do\s+not\s+apply,\s+and\s+all\s+observed\s+behavior\.\n/,
    );
    t.match(lines.at(-1), /^CONFORMING {2}\d+ pass, 4 note, \d+ not applicable, .* m?s$/);
    assertPlain(t, short);

    const full = await run(['check', url, '--verbose']);
    const graded = await run(['grade', record, '--verbose']);
    for (const { code, stdout } of [full, graded]) {
      t.equal(code, 0);
      t.match(stdout, /^Notes \(not judged\)\n {2}CHAT-083 {2}A chat request/m);
      t.match(
        stdout,
        /\nWithout a verdict\n {2}not observed: No chat request got a 429 response\./,
      );
      t.match(
        stdout,
        /\nObserved behavior where the specification is silent\n[^]*\n {2}deleting a user twice +404 user_not_found\n/,
      );
      t.notMatch(stdout, /^More/m);
      t.ok(stdout.split('\n').every((line) => line.length <= 80));
    }
  },
);

void t.test(
  'a broken sandbox gives exit code 1, the requirement, the exchange, and the reason',
  async (t) => {
    const page = join(t.testdir({}), 'check.html');
    const ran = await run(['check', await startTextMutant(t, 'chat/content-null'), '--html', page]);
    t.equal(ran.code, 1, ran.stderr);
    const source = readFileSync(page, 'utf8');
    t.match(source, '<code>choices[].message.content</code> is a string');
    t.match(source, /seed \w+,\s+sandbox-kit\s+\S+,\s+[-\d]+ [:\d]+ UTC to\s+[-\d]+ [:\d]+ UTC\./);
    t.match(ran.stdout, /FAIL {2}CHAT-024\n/);
    t.match(ran.stdout, /expected {2}a string\n +received {2}null\n/);
    t.match(ran.stdout, /\n +curl -i -X POST /);
    t.match(ran.stdout, /\nNOT CONFORMING {2}\d+ pass, 1 fail, /);
    assertPlain(t, ran);
  },
);

void t.test('an unreachable sandbox gives exit code 3, and one cause with its fix', async (t) => {
  const ran = await run(['check', NOWHERE]);
  t.equal(ran.code, 3, ran.stderr);
  t.match(ran.stdout, /Nothing accepts connections at http:\S+\.\nStart the sandbox/);
  t.match(ran.stdout, /\nNOT JUDGED {2}\d+ blocked, /);
  t.equal(ran.stdout.match(/Nothing accepts/g)?.length, 1, 'stated once');
});

void t.test('Ctrl-C: the verdicts so far are reported, and the rest is blocked', async (t) => {
  const held: (() => void)[] = [];
  const { url } = await withSandboxDouble(t, {
    health(response, request) {
      const respond = (): void => healthy(response, request);
      // Only a request of the second probe has this header.
      if (request.headers.accept === 'application/json') held.push(respond);
      else respond();
    },
  });
  const json = join(t.testdir({}), 'check.json');
  const args = ['check', url, '--area', 'health', '--json', json];
  const { end, stderrSoFar, stdoutSoFar } = await start(t, args);
  await until('the second probe', () => held.length > 0);
  const ended = end('SIGINT');
  await until('the signal', () => stderrSoFar().includes('Stopping'));
  for (const respond of held) respond();
  t.equal(await ended, 3);
  t.match(
    stdoutSoFar(),
    /\nThe run was interrupted\.\nThe verdicts found so far remain, and [^]*\nNOT JUDGED {2}\d+ pass, .*\d+ blocked/,
  );
  const { requirements } = parseReport(t, readFileSync(json, 'utf8'));
  const judged = requirements.filter(({ verdict }) => /^(pass|fail|warn|note)$/.test(verdict));
  const blocked = requirements.filter(({ verdict }) => verdict === 'blocked');
  t.match(
    stdoutSoFar(),
    new RegExp(
      `\\nJudged ${judged.length} of ${judged.length + blocked.length} requirements that apply \\(\\d+%\\)\\.\\n`,
    ),
  );
  const verdicts = new Map(requirements.map(({ id, verdict }) => [id, verdict]));
  t.equal(verdicts.get('HEALTH-010'), 'pass');
  t.equal(verdicts.get('HEALTH-007'), 'blocked');
});

void t.test('Ctrl-C gives up requests in flight, and deletes the users', async (t) => {
  const double = await withSandboxDouble(t, { chat: hang });
  const { end } = await runInBackground(t, ['check', double.url, '--area', 'chat']);
  await double.waitForRequests('chat', 1);
  const sinceMs = systemClock.monotonicMs();
  t.equal(await end('SIGINT'), 3);
  const tookMs = systemClock.monotonicMs() - sinceMs;
  t.ok(tookMs < 15_000, `${Math.round(tookMs)} ms, although a request may take 30 s`);
  t.equal(double.requests.at(-1)?.route, 'delete', 'the user is deleted');
});

void t.test('Ctrl-C ends the pause that a 429 demands', async (t) => {
  const chat = refusal(429, 'rate_limit', { 'retry-after': '60' });
  const double = await withSandboxDouble(t, { chat });
  const { end } = await runInBackground(t, ['check', double.url, '--area', 'chat']);
  await double.waitForRequests('chat', 1);
  const sinceMs = systemClock.monotonicMs();
  t.equal(await end('SIGINT'), 3);
  t.ok(systemClock.monotonicMs() - sinceMs < 30_000);
});

void t.test('--strict turns a warn into a fail, in a run and in its recording', async (t) => {
  const record = join(t.testdir({}), 'run.ndjson');
  const url = await startTextAgent(t);
  const fast = await run(['check', url, '--area', 'health', '--strict', '--record', record]);
  t.equal(fast.code, 0, fast.stdout);
  const [first = '', ...lines] = readFileSync(record, 'utf8').trim().split('\n');
  const slower = lines.map((line) => {
    const exchange = JSON.parse(line) as ExchangeRecord;
    return JSON.stringify({ ...exchange, endedMs: exchange.endedMs + 2_500 });
  });
  writeFileSync(record, [first, ...slower].join('\n'));

  const lenient = await run(['grade', record]);
  t.equal(lenient.code, 0, lenient.stdout);
  t.match(lenient.stdout, /WARN {2}HEALTH-030/);
  const strict = await run(['grade', record, '--strict']);
  t.equal(strict.code, 1, strict.stdout);
  t.match(strict.stdout, /FAIL {2}HEALTH-030/);
});

void t.test('--json - writes the report to stdout and the text to stderr', async (t) => {
  const ran = await run([
    'check',
    await startTextAgent(t),
    '--json',
    '-',
    '--area',
    'health,users',
  ]);
  t.equal(ran.code, 0, ran.stderr);
  const report = parseReport(t, ran.stdout);
  t.equal(report.verdict, 'conforming');
  t.equal(report.requirements.length, requirementIds.length);
  t.equal(report.agentVersion, contractVersion, 'the version that /health reported');
  t.match(ran.stderr, /\nCONFORMING {2}/, 'the text is on stderr');
});

void t.test('grade gives a recording the same verdicts, offline', async (t) => {
  const folder = t.testdir({});
  const at = (name: string): string => join(folder, name);
  const url = await startTextMutant(t, 'users/created-at-missing');
  const paths = ['--json', at('r.json'), '--junit', at('r.xml'), '--markdown', at('r.md')];
  const checked = await run(['check', url, '--record', at('r.ndjson'), ...paths]);
  t.equal(checked.code, 1, checked.stderr);
  const report = parseReport(t, readFileSync(at('r.json'), 'utf8'));
  t.match(readFileSync(at('r.xml'), 'utf8'), /<failure message=/);
  t.match(readFileSync(at('r.md'), 'utf8'), /^## sandbox-kit check: not conforming\n/);

  const graded = await run(['grade', at('r.ndjson'), '--json', '-']);
  t.equal(graded.code, 1, graded.stderr);
  const again = parseReport(t, graded.stdout);
  t.same({ ...again, endedAt: '' }, { ...report, endedAt: '' });
});

void t.test('each command reads the key only once, so that it can come from a pipe', async (t) => {
  for (const command of ['check', 'load', 'simulate']) {
    const args = [command, NOWHERE, '--api-key-file', '-'];
    const ran = await runProcess(args, { input: `${KEY}\n` });
    t.equal(ran.code, 3, `${command}: ${ran.stderr}`);
    t.match(ran.stdout, /Nothing accepts connections/, command);
  }
});

/** Repeats the key of the request. */
const repeatKey: RouteBehavior = (response, request) => {
  const { authorization: key = 'none' } = request.headers;
  const body = { status: `your key is ${key}`, [key]: key };
  respondWith(200, body, { 'x-key': key })(response, request);
};

void t.test('the key is sent, and redacted in every output', async (t) => {
  const folder = t.testdir({ key: `${KEY}\n` });
  const at = (name: string): string => join(folder, name);
  const { url } = await withSandboxDouble(t, respondToAll(repeatKey));
  const outputs = ['json', 'junit', 'markdown', 'record'];
  const flags = outputs.flatMap((name) => [`--${name}`, at(name)]);
  for (const [source, args, env] of [
    ['in a file', ['--api-key-file', at('key')], {}],
    ['in the environment', [], { SANDBOX_KIT_API_KEY: KEY }],
  ] as const) {
    const ran = await run(['check', url, ...args, ...flags], { env });
    t.equal(ran.code, 1, `${source}: ${ran.stderr}`);
    const everything = [ran.stdout, ran.stderr, ...outputs.map((name) => readFileSync(at(name)))];
    t.notMatch(everything.join('\n'), KEY, source);
    t.match(
      ran.stdout,
      /Bearer \$SANDBOX_KIT_API_KEY"/,
      'curl commands name the environment variable',
    );
    t.match(
      readFileSync(at('record'), 'utf8'),
      /your key is Bearer <redacted>/,
      'the key was sent',
    );
  }
});

void t.test('--list needs no URL, and --dry-run sends nothing', async (t) => {
  const list = await run(['check', '--list', '--area', 'health']);
  t.equal(list.code, 0, list.stderr);
  t.match(list.stdout, /^HEALTH-001 {2}must {4}`GET /);
  const dry = await run(['check', NOWHERE, '--dry-run', '--prompt', 'one', '--prompt', 'two']);
  t.equal(dry.code, 0, dry.stderr);
  t.match(dry.stdout, /chat\/prompts +accepted +2 +2 /, 'a request for each prompt');
  t.match(dry.stdout.replaceAll(/\s+/g, ' '), /creates 34 users and deletes them at the end\./);
  const chat = await run(['check', NOWHERE, '--dry-run', '--area', 'chat']);
  t.match(chat.stdout.replaceAll(/\s+/g, ' '), /creates 6 users and deletes them at the end\./);
  t.match(chat.stdout, /users\/cleanup +cleanup +6 /, 'a request for each of these users');
});

void t.test('each command tells a missing key from a wrong one', async (t) => {
  const url = await startTextAgent(t, { apiKey: KEY });
  for (const command of ['doctor', 'check', 'load', 'simulate']) {
    const readText = async (env: Record<string, string>): Promise<string> => {
      const ran = await run([command, url], { env });
      t.equal(ran.code, 3, ran.stderr);
      return ran.stdout.replaceAll(/\s+/g, ' ');
    };
    const missing = await readText({});
    t.match(missing, /requires a key, but none is set .* Set SANDBOX_KIT_API_KEY to the/, command);
    const wrong = await readText({ SANDBOX_KIT_API_KEY: 'wrong' });
    t.match(wrong, /refuses the key with 401.* Compare the key in SANDBOX_KIT_API_KEY/, command);
    t.notMatch(wrong, 'Set SANDBOX_KIT_API_KEY', command);
  }
});

void t.test(
  'each command says to remove /v1 from the URL, however unknown paths are refused',
  async (t) => {
    const refuse = { health: respondWith(400, '{}'), create: respondWith(404, '{}') };
    const { url } = await withSandboxDouble(t, refuse);
    for (const command of ['doctor', 'check', 'load', 'simulate']) {
      const ran = await run([command, `${url}/v1`]);
      t.equal(ran.code, 3, command);
      t.match(ran.stdout.replaceAll(/\s+/g, ' '), 'Remove /v1 from the end of the URL.', command);
    }
    const { stdout } = await run(['doctor', `${url}/v1`]);
    t.match(stdout, /^ {2}GET \/v1\/health +400 /m, 'the path that was sent');
    t.match(stdout, /^ {2}POST \/v1\/v1\/chat\/completions +404 /m);
    t.match(stdout, /^ {2}POST \/v1\/chat\/completions +200 /m);
  },
);

void t.test('a doubled /v1 is named, although /health exists with and without it', async (t) => {
  // The double treats /v1/health as /health, and every unknown path as a creation.
  const { url } = await withSandboxDouble(t, { create: respondWith(404, '{}') });
  for (const command of ['doctor', 'check', 'load', 'simulate']) {
    const ran = await run([command, `${url}/v1`]);
    t.equal(ran.code, 3, command);
    const text = ran.stdout.replaceAll(/\s+/g, ' ');
    t.match(text, '/v1/v1/chat/completions responds with 404, but POST', command);
    t.match(text, 'Remove /v1 from the end of the URL.', command);
  }
});

void t.test('known failures are accepted, and outdated once they are fixed', async (t) => {
  const folder = t.testdir({});
  const file = join(folder, 'accepted.json');
  const comment = 'null until release 7';
  writeFileSync(file, JSON.stringify({ accepted: [{ id: 'CHAT-024', comment }] }));
  const json = join(folder, 'report.json');
  const args = ['--known-failures', file, '--json', json];

  const accepted = await run(['check', await startTextMutant(t, 'chat/content-null'), ...args]);
  t.equal(accepted.code, 0, accepted.stdout);
  t.match(accepted.stdout, /\nKnown failures\n {2}CHAT-024 {2}fail: null until release 7/);
  t.match(accepted.stdout, /\nCONFORMING {2}\d+ pass, 1 fail \(1 known\)/);
  const report = parseReport(t, readFileSync(json, 'utf8'));
  const row = rowOf(report, 'CHAT-024');
  t.match(row, { verdict: 'fail', accepted: comment });

  const unlisted = await run(['check', await startTextMutant(t, 'health/status-ok'), ...args]);
  t.equal(unlisted.code, 1, 'a failure that is not listed counts');
  t.match(unlisted.stdout, /FAIL {2}HEALTH-010/);

  const outdated = await run(['check', await startTextAgent(t), ...args]);
  t.equal(outdated.code, 1, outdated.stdout);
  t.match(
    outdated.stdout,
    /The list of known failures is outdated: CHAT-024 now passes\. Remove it/,
  );
  t.same(parseReport(t, readFileSync(json, 'utf8')).staleKnownFailures, ['CHAT-024']);

  const unselected = await run(['check', await startTextAgent(t), '--area', 'health', ...args]);
  t.equal(unselected.code, 0, 'a requirement that is not selected is not outdated');
  t.match(
    unselected.stdout,
    /^CHAT-024 \(--known-failures\) is not part of this run, which checks health\.$/m,
  );
});

void t.test(
  'a full or closed stdout gives at most one sentence, and never a usage error',
  async (t) => {
    const url = await startTextAgent(t);
    const main = join(ROOT, 'cli/main.ts');
    const shell = async (script: string): Promise<CommandResult> => {
      const { PATH = '' } = process.env;
      const env = { PATH, NODE_COMPILE_CACHE: COMPILE_CACHE };
      const child = spawn('bash', ['--norc', '-c', script], { env });
      const [stdout, stderr, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close') as Promise<[number | null]>,
      ]);
      return { code, stdout, stderr };
    };
    const kit = `'${process.execPath}' '${main}'`;
    const check = `check ${url} --area health`;
    for (const args of atNight([check, 'explain', 'schemas', '--help'], [check, '--help'])) {
      const full = await shell(`${kit} ${args} > /dev/full`);
      t.equal(full.code, 3, `${args}: ${full.stderr}`);
      t.equal(full.stderr, "sandbox-kit: Can't write the output: the disk is full.\n");
    }
    const report = await shell(`${kit} check ${url} --area health --json /dev/full`);
    t.equal(report.code, 3, report.stderr);
    t.match(
      report.stderr,
      /^sandbox-kit: Can't write \/dev\/full \(--json\): the disk is full.\n$/,
    );
    const head = await shell(`${kit} check ${url} --area health | head -1; exit \${PIPESTATUS[0]}`);
    t.equal(head.code, 0, 'the exit code is that of the check');
    t.match(head.stdout, /^sandbox-kit check [^\n]+\n$/);
    t.equal(head.stderr, '', 'nothing is printed about the closed pipe');
    const broken = `check ${await startTextMutant(t, 'health/status-ok')} --area health`;
    const failing = await shell(`${kit} ${broken} | head -1; exit \${PIPESTATUS[0]}`);
    t.equal(failing.code, 1, 'even when the check failed');
    const closed = await shell(`${kit} check ${url} --area health >&-`);
    t.equal(closed.code, 0);
    t.equal(closed.stderr, '');
  },
);
