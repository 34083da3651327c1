/** The verbs `serve` and `exec`: what their callers rely on. */
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../src/shared/clock.ts';
import { run, start, type Ran, type RunOptions, type Started } from './helpers/command.ts';
import { aRequest, aSpan } from './helpers/otlp.ts';
import { until } from './helpers/until.ts';

/** The first line of `serve --json`. */
interface Introduction {
  url: string;
  apiKey: string;
  appUrl: string;
  adminUrl: string;
}

type Served = Started & { said: Introduction };

async function serve(t: Test, args: string[] = [], options: RunOptions = {}): Promise<Served> {
  const started = await start(t, ['serve', '--port', '0', '--json', ...args], options);
  return { ...started, said: JSON.parse(started.firstLine) as Introduction };
}

/** Sends to the service with its key, and gives the status and the body. */
async function ask({ url, apiKey }: Introduction, route: string, body?: unknown) {
  const [method = '', path = ''] = route.split(' ');
  const response = await fetch(url + path, {
    method,
    headers: { 'x-service-api-key': apiKey, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

/** Asserts wrong usage: exit code 2, nothing on stdout, one sentence on stderr. */
function isRefused(t: Test, { code, stdout, stderr }: Ran, says: RegExp): void {
  t.equal(code, 2);
  t.equal(stdout, '');
  t.match(stderr, says);
  t.match(stderr, /^sandbox-kit: [^\n]+[.]\n$/);
}

void t.test('serve: the first line is an interface', async (t) => {
  const beganMs = systemClock.monotonicMs();
  const { said, end } = await serve(t);
  t.comment(`ready after ${Math.round(systemClock.monotonicMs() - beganMs)} ms`);
  t.same(Object.keys(said), ['url', 'apiKey', 'appUrl', 'adminUrl']);
  t.match(said.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.equal(said.appUrl, said.url);
  t.equal(said.adminUrl, `${said.url}/__admin`);
  t.equal((await ask(said, 'GET /__admin/ready')).status, 200);
  t.equal((await ask(said, 'GET /api/prod-evaluations/sessions/')).status, 200);
  t.equal(await end('SIGINT'), 0);
});

void t.test('serve: for people, with lines to paste', async (t) => {
  const { firstLine, end } = await start(t, ['serve', '--port', '0']);
  t.match(firstLine, /^The service listens at http:\/\/127\.0\.0\.1:\d+$/);
  t.equal(await end('SIGTERM'), 0);
});

void t.test('serve: a development key that stays, or the key of the environment', async (t) => {
  const data = join(t.testdir(), 'data');
  const first = await serve(t, ['--data', data]);
  t.equal(await first.end('SIGTERM'), 0);
  t.equal(statSync(join(data, 'development-key')).mode & 0o777, 0o600);
  const second = await serve(t, ['--data', data]);
  t.equal(second.said.apiKey, first.said.apiKey);
  t.equal(await second.end('SIGTERM'), 0);

  const env = { SANDBOX_KIT_SERVICE_API_KEY: 'a-key-of-mine' };
  const third = await serve(t, ['--data', data], { env });
  t.equal(third.said.apiKey, 'a-key-of-mine');
  const old = { ...third.said, apiKey: first.said.apiKey };
  t.equal((await ask(old, 'GET /api/simulations/sessions/')).status, 401);
});

void t.test('serve: beyond loopback only with a key', async (t) => {
  isRefused(t, await run(['serve', '--host', '0.0.0.0', '--port', '0']), /0\.0\.0\.0.*key/);
  const file = join(t.testdir({ key: 'a-key-of-mine\n' }), 'key');
  const { said, end } = await serve(t, ['--host', '0.0.0.0', '--api-key-file', file]);
  t.equal((await fetch(`${said.adminUrl}/ready`)).status, 401);
  t.equal((await ask(said, 'GET /__admin/ready')).status, 200);
  t.equal(await end('SIGTERM'), 0);
});

void t.test('serve: what was acknowledged before SIGTERM is there after it', async (t) => {
  const data = join(t.testdir(), 'data');
  const first = await serve(t, ['--data', data]);
  const acknowledged: string[] = [];
  const sent = Array.from({ length: 40 }, async (_, nth) => {
    const conversationId = `conv-${nth}`;
    const { status } = await ask(
      first.said,
      'POST /v1/traces',
      aRequest([aSpan({ conversationId })]),
    );
    if (status === 200) acknowledged.push(conversationId);
  });
  const settled = Promise.allSettled(sent);
  await until('one is acknowledged', () => acknowledged.length > 0);
  t.equal(await first.end('SIGTERM'), 0);
  await settled;
  t.comment(`${acknowledged.length} of ${sent.length} acknowledged`);
  const { said } = await serve(t, ['--data', data]);
  for (const id of acknowledged) {
    t.equal((await ask(said, `POST /v1/sessions/${id}/end`)).status, 200, id);
  }
});

void t.test('serve: logs hold no conversation text and no key', async (t) => {
  const data = join(t.testdir(), 'data');
  const served = await serve(t, ['--data', data, '--log-level', 'info']);
  const { said } = served;
  const [text, word] = ['my-secret-question', 'my-secret-word'];
  const tag = { attributes: { 'user.name': 'my-secret-name', 'gen_ai.tool.name': text } };
  const definition = { id: 'says', name: 'Says it', kind: 'contains', params: { text: word } };
  await ask(said, 'POST /__admin/evals', definition);
  await ask(said, 'PUT /__admin/settings', { evals: ['says'] });
  const spans = [aSpan({ user: text, agent: 'my-secret-answer', ...tag }), { traceId: text }];
  t.equal((await ask(said, 'POST /v1/traces', aRequest(spans))).status, 200);
  t.equal((await ask(said, 'POST /v1/traces', { resourceSpans: text })).status, 400);
  const stranger = { ...said, apiKey: 'my-secret-key' };
  t.equal((await ask(stranger, 'POST /v1/traces', aRequest())).status, 401);
  t.equal((await ask(said, `POST /v1/sessions/conv-1/end?x=${text}`)).status, 200);
  t.equal((await ask(said, 'POST /__admin/drain')).status, 200);
  t.equal(await served.end('SIGTERM'), 0);
  const stderr = await served.stderr;
  t.match(stderr, /service listens/, 'there is a log');
  for (const line of stderr.trimEnd().split('\n')) t.ok(JSON.parse(line), 'a JSON object a line');
  t.notMatch(stderr, /my-secret/);
  t.notOk(stderr.includes(said.apiKey));
});

const goodSeed = `
evals:
  - { id: polite, name: Polite, kind: contains, params: { text: please } }
settings:
  evals: [polite]
transcripts:
  - session_id: call-1
    turns: [{ user_input: Hello, agent_response: 'Your name, please?' }]
`;

void t.test('serve --seed-file: YAML that is there at the start', async (t) => {
  const file = join(t.testdir({ 'seed.yaml': goodSeed }), 'seed.yaml');
  const { said } = await serve(t, ['--seed-file', file]);
  t.equal((await ask(said, 'POST /__admin/drain')).status, 200);
  const { text } = await ask(said, 'GET /api/prod-evaluations/sessions/');
  t.match(JSON.parse(text), {
    total: 1,
    items: [{ source_session_id: 'call-1', outcome_summary: { passed_count: 1 } }],
  });
});

void t.test('serve --seed-file: what is wrong, with its line', async (t) => {
  const folder = t.testdir();
  const rows: [text: string, says: RegExp][] = [
    [goodSeed.replace('[polite]', '[polite'), /seed\.yaml:[67]: /],
    [goodSeed.replace('kind: contains', 'kind: guess'), /seed\.yaml:3: \/evals\/0\/kind/],
    [goodSeed.replace('[polite]', '7'), /seed\.yaml:5: \/settings\/evals must be .*got 7/],
    [goodSeed.replace('Hello', '{}'), /seed\.yaml:8: \/transcripts\/0\/turns\/0\/user_input/],
    [`${goodSeed}colour: red\n`, /seed\.yaml:\d+: .*colour/],
    [goodSeed.replace('[polite]', '[rude]'), /seed\.yaml:5: \/settings\/evals\/0 .*"rude"/],
    [
      goodSeed.replace('session_id', 'evals: [polite, rude]\n    session_id'),
      /seed\.yaml:7: \/transcripts\/0\/evals\/1 .*"rude"/,
    ],
    [
      `${goodSeed}scenarios:\n  - { id: s, name: S, persona: p, user: { opening: Hi } }\n`,
      /seed\.yaml:10: \/scenarios\/0\/persona must be the id of a persona, got "p"/,
    ],
    ['- just\n- a list\n', /seed\.yaml:1: the document must be an object/],
  ];
  for (const [text, says] of rows) {
    const file = join(folder, 'seed.yaml');
    writeFileSync(file, text);
    isRefused(t, await run(['serve', '--port', '0', '--seed-file', file]), says);
  }
  isRefused(t, await run(['serve', '--seed-file', join(folder, 'none')]), /no such file/);
});

/** Runs a program of JavaScript inside `exec`, with a temp folder of its own. */
async function exec(t: Test, program: string, flags: string[] = []) {
  const temp = t.testdir({});
  const ran = await run(['exec', ...flags, '--', process.execPath, '-e', program], {
    env: { TMPDIR: temp, OF_THE_CALLER: 'kept' },
  });
  t.same(readdirSync(temp), [], 'nothing is left in the temp folder');
  return ran;
}

void t.test('exec: the command finds the service, and it is gone afterwards', async (t) => {
  const ran = await exec(
    t,
    `const { SANDBOX_KIT_SERVICE_URL: url, SANDBOX_KIT_SERVICE_API_KEY: key } = process.env;
     const headers = { 'x-service-api-key': key };
     fetch(url + '/api/prod-evaluations/sessions/', { headers })
       .then(({ status }) => console.log(JSON.stringify({ status, env: process.env })));`,
  );
  t.equal(ran.code, 0, ran.stderr);
  const { status, env } = JSON.parse(ran.stdout) as { status: number; env: Record<string, string> };
  t.equal(status, 200);
  const { SANDBOX_KIT_SERVICE_URL: url = '', SANDBOX_KIT_SERVICE_API_KEY: key = '' } = env;
  t.match(env, {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: `x-service-api-key=${key}`,
    SANDBOX_KIT_ADMIN_URL: `${url}/__admin`,
    OF_THE_CALLER: 'kept',
  });
  t.notOk('SANDBOX_KIT_AGENT_URL' in env);
  await t.rejects(fetch(url), 'nobody listens any more');
});

void t.test('exec: an exporter that is set up by the environment alone arrives', async (t) => {
  const ran = await exec(
    t,
    `import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
     import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
     const provider = new BasicTracerProvider({
       spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())],
     });
     const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': 'c' };
     provider.getTracer('x').startSpan('chat', { attributes }).end();
     await provider.shutdown();
     const { SANDBOX_KIT_SERVICE_URL: url, SANDBOX_KIT_SERVICE_API_KEY: key } = process.env;
     const headers = { 'x-service-api-key': key };
     console.log((await fetch(url + '/v1/sessions/c/end', { method: 'POST', headers })).status);`,
  );
  t.same([ran.code, ran.stdout.trim()], [0, '200'], ran.stderr);
});

void t.test('exec --agent: a sandbox as well', async (t) => {
  const program = `fetch(process.env.SANDBOX_KIT_AGENT_URL + '/health')
    .then((response) => response.json()).then(({ status }) => console.log(status));`;
  const ran = await exec(t, program, ['--agent']);
  t.same([ran.code, ran.stdout.trim()], [0, 'healthy'], ran.stderr);
});

void t.test('exec: the exit code is the one of the command', async (t) => {
  t.equal((await exec(t, 'process.exit(7)')).code, 7);
  t.equal((await exec(t, `process.kill(process.pid, 'SIGKILL')`)).code, 128 + 9);
  t.match(await exec(t, `throw new Error('boom')`), { code: 1, stderr: /boom/ });
});

void t.test('exec: a request to stop goes on to the command', async (t) => {
  const temp = t.testdir({});
  const program = `process.on('SIGTERM', () => process.exit(5)); setInterval(() => {}, 1e6);
    console.log('runs');`;
  const args = ['exec', '--', process.execPath, '-e', program];
  const { firstLine, end } = await start(t, args, { env: { TMPDIR: temp } });
  t.equal(firstLine, 'runs');
  t.equal(await end('SIGTERM'), 5);
  t.same(readdirSync(temp), []);
});

void t.test('exec: what can not be run', async (t) => {
  const temp = t.testdir({ file: 'no program' });
  const env = { TMPDIR: temp };
  isRefused(t, await run(['exec', '--', 'no-such-command'], { env }), /no-such-command/);
  isRefused(t, await run(['exec', '--', join(temp, 'file')], { env }), /EACCES/);
  isRefused(t, await run(['exec'], { env }), /exec -- CMD/);
  isRefused(t, await run(['exec', 'npm', 'test'], { env }), /./);
  t.same(readdirSync(temp), ['file']);
});
