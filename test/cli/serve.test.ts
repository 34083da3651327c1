/** The command `serve`: its first line, keys, shutdown, logs, and seed file. */
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import {
  assertUsageError,
  assertWidth,
  run,
  runInBackground,
  unwrap,
  type RunOptions,
  type RunningCommand,
} from '../support/commands/command.ts';
import { start } from '../support/commands/command-process.ts';
import { sendTo, type ServiceAddress } from '../support/services/service-process.ts';
import { makeTraceRequest, makeSpan } from '../support/traces/otlp.ts';
import { until } from '../support/until.ts';

/** The first line of `serve --json`. */
interface FirstLine extends ServiceAddress {
  appUrl: string;
}

type Served = RunningCommand & { introduction: FirstLine };

async function serve(t: Test, args: string[] = [], options: RunOptions = {}): Promise<Served> {
  const started = await runInBackground(t, ['serve', '--port', '0', '--json', ...args], options);
  return { ...started, introduction: JSON.parse(started.firstLine) as FirstLine };
}

void t.test('serve --json: the first line contains the URLs and the key', async (t) => {
  const startMs = systemClock.monotonicMs();
  const { firstLine, end } = await start(t, ['serve', '--port', '0', '--json']);
  const introduction = JSON.parse(firstLine) as FirstLine;
  t.comment(`ready after ${Math.round(systemClock.monotonicMs() - startMs)} ms`);
  t.same(Object.keys(introduction), ['url', 'apiKey', 'appUrl', 'adminUrl']);
  t.match(introduction.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.equal(introduction.appUrl, introduction.url);
  t.equal(introduction.adminUrl, `${introduction.url}/__admin`);
  t.equal((await sendTo(introduction, 'GET /__admin/ready')).status, 200);
  t.equal((await sendTo(introduction, 'GET /api/prod-evaluations/sessions/')).status, 200);
  t.equal(await end('SIGINT'), 0);
});

void t.test('serve: the first line of text contains the address', async (t) => {
  const { firstLine, end } = await runInBackground(t, ['serve', '--port', '0']);
  t.match(firstLine, /^The service listens at http:\/\/127\.0\.0\.1:\d+$/);
  t.equal(await end('SIGHUP'), 0, 'the terminal was closed');
});

void t.test('serve and agent: one line on stderr says that they stopped', async (t) => {
  const data = join(t.testdir(), 'kept');
  const lines = [
    [['serve'], 'The service stopped, and its data was deleted. --data DIR keeps it.\n'],
    [['serve', '--data', data], /^The service stopped\. Its data is in\s\S+kept\.\n$/],
    [['serve', '--json'], /^$/],
    [['agent'], 'The agent stopped.\n'],
    [['agent', '--json'], /^$/],
  ] as const;
  for (const [args, line] of lines) {
    const { end, stderr } = await runInBackground(t, [...args, '--port', '0']);
    t.equal(await end('SIGINT'), 0);
    t.match(await stderr, line, args.join(' '));
  }
});

void t.test('serve: says at the start that no evals are set', async (t) => {
  const notice =
    /^No evals are set, so closed conversations stay unscored\. Set them in a browser:\n {2}(\S+)\/evals and \1\/settings\n/m;
  const folder = t.testdir({
    'seed.yaml':
      'evals: [{ id: any, name: Any, kind: contains, params: { text: a } }]\n' +
      'settings: { evals: [any] }\n',
  });
  const readText = async (rest: readonly string[]): Promise<string> => {
    const { end, stdoutSoFar } = await runInBackground(t, ['serve', '--port', '0', ...rest]);
    t.equal(await end('SIGTERM'), 0);
    return stdoutSoFar();
  };
  t.match(await readText([]), notice);
  t.notMatch(await readText(['--seed-file', join(folder, 'seed.yaml')]), notice);
});

void t.test('serve: says at the start whether this machine needs a key', async (t) => {
  const env = { SANDBOX_KIT_SERVICE_API_KEY: 'a-key-of-mine' };
  const open = /^ {2}admin {5}http:\S+\/__admin \(no key needed on this machine\)\n/m;
  for (const [host, pattern] of [
    ['127.0.0.1', open],
    ['0.0.0.0', /^ {2}admin {5}http:\S+\/__admin\n/m],
  ] as const) {
    const args = ['serve', '--port', '0', '--host', host];
    const { end, firstLine, stdoutSoFar } = await runInBackground(t, args, { env });
    const url = firstLine.replace('The service listens at ', '');
    const { status } = await fetch(`${url}/__admin`, { headers: { connection: 'close' } });
    t.equal(status, pattern === open ? 200 : 401, host);
    t.equal(await end('SIGTERM'), 0);
    t.match(stdoutSoFar(), pattern, host);
  }
});

void t.test('serve: with --app-url, callers get the address of the load balancer', async (t) => {
  const readText = async (...args: string[]): Promise<string> => {
    const { end, stdoutSoFar } = await runInBackground(t, ['serve', '--port', '0', ...args]);
    t.equal(await end('SIGTERM'), 0);
    return stdoutSoFar();
  };
  const commands = (url: string): RegExp =>
    new RegExp(
      ` OTEL_EXPORTER_OTLP_ENDPOINT=${url}\\n[^]* ${url}/v1/sessions/[^]* ${url}/api/prod-evaluations/`,
    );
  const balanced = await readText('--app-url', 'https://kit.example/');
  t.match(balanced, commands('https://kit\\.example'));
  t.match(balanced, /admin +http:\/\/127\.0\.0\.1:/, 'test controls are those of the replica');
  t.match(await readText(), commands('http://127\\.0\\.0\\.1:\\d+'));
  const mutant = ['--mutant', 'service/traces-202', '--app-url', 'https://kit.example'];
  t.match(await readText(...mutant), commands('http://127\\.0\\.0\\.1:\\d+'));
});

void t.test(
  'serve: with --host 0.0.0.0, it names the addresses, and asks for --app-url',
  async (t) => {
    const readText = async (...args: string[]): Promise<string> => {
      const env = { SANDBOX_KIT_SERVICE_API_KEY: 'a-key-of-mine' };
      const { end, stdoutSoFar } = await runInBackground(t, ['serve', '--port', '0', ...args], {
        env,
      });
      t.equal(await end('SIGTERM'), 0);
      return stdoutSoFar();
    };
    const everywhere = await readText('--host', '0.0.0.0');
    const addresses = / host +all IPv4 addresses of this machine \(0\.0\.0\.0\)\n/;
    t.match(everywhere, addresses);
    assertWidth(t, everywhere);
    t.match(
      unwrap(everywhere),
      / Other machines can't use 127\.0\.0\.1\. Set --app-url to .* http:\/\/HOST:\d+\. /,
    );
    const named = await readText('--host', '0.0.0.0', '--app-url', 'https://kit.example');
    t.match(named, addresses);
    t.notMatch(named, /Other machines|OTEL_EXPORTER_OTLP_ENDPOINT=http:/);
    t.notMatch(await readText(), /addresses of this machine|Other machines/);
  },
);

void t.test('serve: keeps its development key, unless the environment sets a key', async (t) => {
  const data = join(t.testdir(), 'data');
  const first = await serve(t, ['--data', data]);
  t.equal(await first.end('SIGTERM'), 0);
  t.equal(statSync(join(data, 'development-key')).mode & 0o777, 0o600);
  const second = await serve(t, ['--data', data]);
  t.equal(second.introduction.apiKey, first.introduction.apiKey);
  t.equal(await second.end('SIGTERM'), 0);

  const env = { SANDBOX_KIT_SERVICE_API_KEY: 'a-key-of-mine' };
  const third = await serve(t, ['--data', data], { env });
  t.equal(third.introduction.apiKey, 'a-key-of-mine');
  const old = { ...third.introduction, apiKey: first.introduction.apiKey };
  t.equal((await sendTo(old, 'GET /api/simulations/sessions/')).status, 401);
});

void t.test('serve: data is not kept where the user does not expect it', async (t) => {
  const empty = await run(['serve', '--port', '0'], { env: { SANDBOX_KIT_DATABASE_URL: ' ' } });
  assertUsageError(t, empty, /SANDBOX_KIT_DATABASE_URL is empty\. .* or unset it\./);
  const url = 'postgres://kit:secret@127.0.0.1:1/kit';
  const asDirectory = await run(['serve', '--port', '0', '--data', url]);
  assertUsageError(t, asDirectory, /--data must be a path, got "postgres:/);
  t.notMatch(asDirectory.stderr, 'secret');
  const args = ['serve', '--port', '0', '--data', t.testdir()];
  const env = { SANDBOX_KIT_DATABASE_URL: url };
  const { end, stdoutSoFar } = await runInBackground(t, args, { env });
  t.equal(await end('SIGTERM'), 0);
  t.match(stdoutSoFar(), /;\s+SANDBOX_KIT_DATABASE_URL is not used$/m);
});

void t.test('serve: requires a key to listen beyond loopback', async (t) => {
  assertUsageError(t, await run(['serve', '--host', '0.0.0.0', '--port', '0']), /0\.0\.0\.0.*key/);
  const folder = t.testdir({ key: 'a-key-of-mine\n', short: 'secret\n' });
  const short = await run(['serve', '--port', '0', '--api-key-file', join(folder, 'short')]);
  assertUsageError(
    t,
    short,
    /The key in .*short \(--api-key-file\) must be a text of 8 to 256 visible/,
  );
  t.notMatch(short.stderr, 'secret');
  const variable = await run(['serve'], { env: { SANDBOX_KIT_SERVICE_API_KEY: 'secret' } });
  assertUsageError(
    t,
    variable,
    /The key in SANDBOX_KIT_SERVICE_API_KEY must be a text of 8 to 256/,
  );
  const file = join(folder, 'key');
  const { introduction, end } = await serve(t, ['--host', '0.0.0.0', '--api-key-file', file]);
  t.equal((await fetch(`${introduction.adminUrl}/ready`)).status, 401);
  t.equal((await sendTo(introduction, 'GET /__admin/ready')).status, 200);
  t.equal(await end('SIGTERM'), 0);
});

void t.test('serve: keeps every request that it acknowledged before SIGTERM', async (t) => {
  const data = join(t.testdir(), 'data');
  const first = await serve(t, ['--data', data]);
  const acknowledged: string[] = [];
  const sent = Array.from({ length: 40 }, async (_, nth) => {
    const conversationId = `conv-${nth}`;
    const { status } = await sendTo(
      first.introduction,
      'POST /v1/traces',
      makeTraceRequest([makeSpan({ conversationId })]),
    );
    if (status === 200) acknowledged.push(conversationId);
  });
  const settled = Promise.allSettled(sent);
  await until('the first acknowledgment', () => acknowledged.length > 0);
  t.equal(await first.end('SIGTERM'), 0);
  await settled;
  t.comment(`${acknowledged.length} of ${sent.length} acknowledged`);
  const { introduction } = await serve(t, ['--data', data]);
  for (const id of acknowledged) {
    t.equal((await sendTo(introduction, `POST /v1/sessions/${id}/end`)).status, 200, id);
  }
});

void t.test(
  'serve --drain: not ready after SIGTERM, but it serves until the time is over',
  async (t) => {
    const { introduction, end } = await serve(t, ['--drain', '3s']);
    const statusOf = async (route: string, body?: unknown) =>
      (await sendTo(introduction, route, body)).status;
    t.equal(await statusOf('GET /ready'), 200);
    const startedMs = systemClock.monotonicMs();
    const ended = end('SIGTERM');
    await until('it is not ready', async () => (await statusOf('GET /ready')) === 503);
    const { text } = await sendTo(introduction, 'GET /__admin/ready');
    t.match(JSON.parse(text), { ready: false, reason: 'The service is stopping.' });
    t.equal(await statusOf('POST /v1/traces', makeTraceRequest()), 200);
    t.equal(await statusOf('POST /v1/sessions/conv-1/end'), 200);
    t.equal(await ended, 0);
    t.ok(systemClock.monotonicMs() - startedMs >= 2_900, 'it served for the whole time');
    await t.rejects(statusOf('GET /ready'), 'nothing listens anymore');
  },
);

void t.test('serve --drain: says how long it drains, and a second signal ends it', async (t) => {
  const { child, end, stderrSoFar } = await start(t, ['serve', '--port', '0', '--drain', '10m']);
  child.kill('SIGTERM');
  await until('it drains', () => stderrSoFar() !== '');
  const advice = `Send SIGTERM to process ${child.pid} to exit immediately.`;
  t.equal(stderrSoFar(), `Draining for 600 s. ${advice}\n`);
  t.equal(await end('SIGINT'), null, 'the signal ended it');
  t.equal(child.signalCode, 'SIGINT', 'which a shell reports as 130');
  const { stdout } = await run(['serve', '--help']);
  t.match(unwrap(stdout), /, 130 ended by a second Ctrl-C, 143 ended by a second SIGTERM\./);
});

void t.test('serve: logs contain no conversation text and no key', async (t) => {
  const data = join(t.testdir(), 'data');
  const served = await serve(t, ['--data', data, '--log-level', 'info']);
  const { introduction } = served;
  const [question, word] = ['my-secret-question', 'my-secret-word'];
  const tag = { attributes: { 'user.name': 'my-secret-name', 'gen_ai.tool.name': question } };
  const definition = { id: 'says', name: 'Says it', kind: 'contains', params: { text: word } };
  await sendTo(introduction, 'POST /__admin/evals', definition);
  await sendTo(introduction, 'PUT /__admin/settings', { evals: ['says'] });
  const spans = [
    makeSpan({ user: question, agent: 'my-secret-answer', ...tag }),
    { traceId: question },
  ];
  t.equal((await sendTo(introduction, 'POST /v1/traces', makeTraceRequest(spans))).status, 200);
  t.equal((await sendTo(introduction, 'POST /v1/traces', { resourceSpans: question })).status, 400);
  const unauthorized = { ...introduction, apiKey: 'my-secret-key' };
  t.equal((await sendTo(unauthorized, 'POST /v1/traces', makeTraceRequest())).status, 401);
  t.equal((await sendTo(introduction, `POST /v1/sessions/conv-1/end?x=${question}`)).status, 200);
  t.equal((await sendTo(introduction, 'POST /__admin/drain')).status, 200);
  t.equal(await served.end('SIGTERM'), 0);
  const stderr = await served.stderr;
  t.match(stderr, /service_listening/, 'the log is not empty');
  for (const line of stderr.trimEnd().split('\n'))
    t.ok(JSON.parse(line), 'each line is a JSON object');
  t.notMatch(stderr, /my-secret/);
  t.notOk(stderr.includes(introduction.apiKey));
});

void t.test('serve: warns if only the database of a data directory is missing', async (t) => {
  const data = join(t.testdir(), 'data');
  const first = await serve(t, ['--data', data]);
  t.equal(await first.end('SIGTERM'), 0);
  t.equal(await first.stderr, '', 'a new directory');
  rmSync(join(data, 'service.db'));
  const second = await serve(t, ['--data', data]);
  t.equal(await second.end('SIGTERM'), 0);
  const lines = (await second.stderr).trimEnd().split('\n');
  t.equal(lines.length, 1);
  t.match(JSON.parse(lines[0] ?? ''), {
    level: 40,
    file: join(data, 'service.db'),
    msg: 'database_missing',
    warning: /^The service starts empty\. .* restore the file from a backup\.$/,
  });
  const third = await serve(t, ['--data', data]);
  t.equal(await third.end('SIGTERM'), 0);
  t.equal(await third.stderr, '', 'the directory now has the new database');
});

const GOOD_SEED = `
evals:
  - { id: polite, name: Polite, kind: contains, params: { text: please } }
settings:
  evals: [polite]
transcripts:
  - session_id: call-1
    turns: [{ user_input: Hello, agent_response: 'Your name, please?' }]
`;

void t.test('serve --seed-file: the seed data is available at the start', async (t) => {
  const file = join(t.testdir({ 'seed.yaml': GOOD_SEED }), 'seed.yaml');
  const { introduction, end, stderr } = await serve(t, ['--seed-file', file]);
  t.equal((await sendTo(introduction, 'POST /__admin/drain')).status, 200);
  const { text } = await sendTo(introduction, 'GET /api/prod-evaluations/sessions/');
  t.match(JSON.parse(text), {
    total: 1,
    items: [{ source_session_id: 'call-1', outcome_summary: { passed_count: 1 } }],
  });
  await end('SIGTERM');
  t.equal(await stderr, '', 'no progress output in a pipe');
});

void t.test('serve --seed-file: an invalid file is rejected with line and column', async (t) => {
  const folder = t.testdir();
  const rows: [text: string, message: RegExp][] = [
    [GOOD_SEED.replace('[polite]', '[polite'), /seed\.yaml:[67]:\d+: /],
    [GOOD_SEED.replace('kind: contains', 'kind: guess'), /seed\.yaml:3:\d+: \/evals\/0\/kind/],
    [GOOD_SEED.replace('[polite]', '7'), /seed\.yaml:5:\d+: \/settings\/evals must be .*got 7/],
    [GOOD_SEED.replace('Hello', '{}'), /seed\.yaml:8:\d+: \/transcripts\/0\/turns\/0\/user_input/],
    [`${GOOD_SEED}colour: red\n`, /seed\.yaml:\d+:\d+: .*colour/],
    [GOOD_SEED.replace('[polite]', '[rude]'), /seed\.yaml:5:\d+: \/settings\/evals\/0 .*"rude"/],
    [
      GOOD_SEED.replace('session_id', 'evals: [polite, rude]\n    session_id'),
      /seed\.yaml:7:\d+: \/transcripts\/0\/evals\/1 .*"rude"/,
    ],
    [
      `${GOOD_SEED}scenarios:\n  - { id: s, name: S, persona: p, user: { opening: Hi } }\n`,
      /seed\.yaml:10:\d+: \/scenarios\/0\/persona must be the id of a persona, got "p"/,
    ],
    ['- just\n- a list\n', /seed\.yaml:1:\d+: the document must be an object/],
  ];
  for (const [text, message] of rows) {
    const file = join(folder, 'seed.yaml');
    writeFileSync(file, text);
    assertUsageError(t, await run(['serve', '--port', '0', '--seed-file', file]), message);
  }
  assertUsageError(t, await run(['serve', '--seed-file', join(folder, 'none')]), /no such file/);
});

void t.test('serve: a port in use and an unexpected argument are wrong usage', async (t) => {
  const { introduction } = await serve(t);
  const { port } = new URL(introduction.url);
  const message = new RegExp(
    `Port ${port} on 127\\.0\\.0\\.1 is in use\\. Choose another --port; 0 selects a free one`,
  );
  assertUsageError(t, await run(['serve', '--port', port]), message);
  assertUsageError(
    t,
    await run(['serve', 'seed.yaml']),
    /Unexpected argument "seed\.yaml"\. Did you mean --seed-file seed\.yaml\?/,
  );
});
