/** `--header-file`: headers of every request, whose values are never shown. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CheckReport } from '../../src/contract/index.ts';
import { assertUsageError, run, type CommandResult } from '../support/commands/command.ts';
import {
  closesCalls,
  reply,
  respondWith,
  withoutUsers,
  withSandboxDouble,
  type RouteBehavior,
  type SandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';

const TOKEN = 'gw-Secret/value+0123456789';
const BASIC = 'dXNlcjpwYXNzd29yZC0xMjM0';

/** Every form in which a secret could leak. */
const leaks = [TOKEN, BASIC].flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
]);

function createHeaderFile(t: Test, text: string): { directory: string; path: string } {
  const directory = t.testdir({});
  const path = join(directory, 'headers.txt');
  writeFileSync(path, text);
  return { directory, path };
}

const BOTH = `# Headers of the gateway\nX-Gateway-Key: ${TOKEN}\n\nAuthorization: Basic ${BASIC}\n`;

/** Replies with the headers of the request, in its own headers and in the body. */
const echo =
  (content: (secrets: string) => unknown): RouteBehavior =>
  (response, request) => {
    const { headers } = request;
    const secrets = `${String(headers['x-gateway-key'])} ${String(headers.authorization)}`;
    const shown = { 'x-echo': secrets, 'x-base64': btoa(TOKEN) };
    respondWith(200, content(secrets), shown)(response, request);
  };

/** Starts a sandbox without users that closes calls. */
const withSandbox = (t: Test, chat = reply('Hello.')): Promise<SandboxDouble> =>
  withSandboxDouble(t, { ...withoutUsers, chat }, closesCalls);

const callsTo = ({ requests }: SandboxDouble): SandboxDouble['requests'] =>
  requests.filter(({ route }) => route === 'call');

/** Asserts that no file and no output contains a secret. */
function assertNoLeak(t: Test, directory: string, { stdout, stderr }: CommandResult): void {
  const files = readdirSync(directory).filter((name) => name !== 'headers.txt');
  t.ok(files.length > 0);
  const texts = files.map((name) => [name, readFileSync(join(directory, name), 'utf8')] as const);
  for (const [name, text] of [...texts, ['stdout', stdout], ['stderr', stderr]] as const) {
    for (const leak of leaks) t.notOk(text.includes(leak), `${name} does not contain ${leak}`);
  }
}

void t.test('check: every request has the headers, and no output shows their values', async (t) => {
  const { directory, path } = createHeaderFile(t, BOTH);
  const broken = echo((secrets) => ({ choices: [{ message: { content: 1, note: secrets } }] }));
  const sandbox = await withSandbox(t, broken);
  const views = ['json', 'junit', 'markdown', 'html', 'record'];
  const ran = await run([
    ...['check', sandbox.url, '--area', 'chat,health', '--header-file', path, '--verbose'],
    ...views.flatMap((view) => [`--${view}`, join(directory, view)]),
  ]);
  t.equal(ran.code, 1, ran.stderr);
  t.ok(sandbox.requests.length > 30);
  for (const [name, value] of [
    ['x-gateway-key', TOKEN],
    ['authorization', `Basic ${BASIC}`],
  ] as const) {
    const values = sandbox.valuesOf(name);
    // Steps that test the key send their own authorization.
    t.ok(values.filter((each) => each === value).length > 30, `${name} is sent`);
  }
  t.ok(sandbox.valuesOf('x-gateway-key').every((each) => each === TOKEN));
  assertNoLeak(t, directory, ran);
  const record = readFileSync(join(directory, 'record'), 'utf8');
  t.match(record, /"headerNames":\["x-gateway-key","authorization"\]/, 'the names are recorded');
  const report = JSON.parse(readFileSync(join(directory, 'json'), 'utf8')) as CheckReport;
  const { curl = '' } = report.requirements.find(({ verdict }) => verdict === 'fail') ?? {};
  t.match(curl, /-H "x-gateway-key: \$X_GATEWAY_KEY" -H "authorization: \$AUTHORIZATION"/);
  const graded = await run(['grade', join(directory, 'record'), '--json', '-']);
  const again = JSON.parse(graded.stdout) as CheckReport;
  t.same(again.requirements, report.requirements, 'a recording gets the same verdicts');
});

void t.test('check: the request of a voice WebSocket has the headers', async (t) => {
  const { directory, path } = createHeaderFile(t, BOTH);
  const sandbox = await withSandbox(t);
  const args = ['check', sandbox.url, '--area', 'voice', '--header-file', path];
  const ran = await run([...args, '--json', join(directory, 'json')]);
  const calls = callsTo(sandbox);
  t.ok(calls.length > 0 && calls.every(({ headers }) => headers['x-gateway-key'] === TOKEN));
  assertNoLeak(t, directory, ran);
});

void t.test('load: requests, warm-up, and calls have the headers', async (t) => {
  const { directory, path } = createHeaderFile(t, BOTH);
  let count = 0;
  const sandbox = await withSandbox(t, (response, request) => {
    const secrets = String(request.headers['x-gateway-key']);
    const limited = respondWith(429, secrets, { 'retry-after': secrets });
    (count++ < 5 ? reply('Hello.') : limited)(response, request);
  });
  const views = ['json', 'junit', 'markdown', 'html'];
  const ran = await run([
    ...['load', sandbox.url, '--profile', 'chat', '--rate', '10', '--duration', '1s'],
    ...['--header-file', path],
    ...views.flatMap((view) => [`--${view}`, join(directory, view)]),
  ]);
  t.match(ran.stdout, /rate_limited/);
  t.ok(sandbox.valuesOf('x-gateway-key').every((value) => value === TOKEN));
  assertNoLeak(t, directory, ran);
  sandbox.requests.length = 0;
  const voice = await run([
    ...['load', sandbox.url, '--profile', 'voice', '--calls', '1', '--duration', '1s'],
    ...['--header-file', path, '--json', join(directory, 'json')],
  ]);
  t.ok(callsTo(sandbox).length > 1, voice.stderr);
  t.ok(sandbox.valuesOf('x-gateway-key').every((value) => value === TOKEN));
  assertNoLeak(t, directory, voice);
});

void t.test(
  'simulate and doctor: every request has the headers, and no output shows their values',
  async (t) => {
    const { directory, path } = createHeaderFile(t, BOTH);
    const chat = echo((secrets) => ({
      choices: [{ message: { role: 'assistant', content: secrets } }],
    }));
    const sandbox = await withSandbox(t, chat);
    const ran = await run([
      ...['simulate', sandbox.url, '--scenario', 'follow-up', '--header-file', path],
      ...['--json', join(directory, 'json'), '--junit', join(directory, 'junit')],
    ]);
    t.not(ran.code, 2, ran.stderr);
    t.ok(sandbox.valuesOf('x-gateway-key').every((value) => value === TOKEN));
    t.match(readFileSync(join(directory, 'json'), 'utf8'), /<redacted>/, 'the reply is redacted');
    assertNoLeak(t, directory, ran);
    const doctor = await run([
      ...['doctor', sandbox.url, '--header-file', path, '--json', join(directory, 'doctor')],
    ]);
    t.equal(doctor.code, 0, doctor.stderr);
    t.match(doctor.stdout, /--header-file/, 'the next command has the option');
    assertNoLeak(t, directory, doctor);
  },
);

void t.test('an error in a file names the line, and never the value', async (t) => {
  const rows: [text: string, message: RegExp, key?: string][] = [
    [TOKEN, /headers\.txt:1 \(--header-file\): A line must be in the form Name: value\./],
    [`X-A: 1\nContent-Length: ${TOKEN}`, /:2 .* Content-Length can't be in this file/],
    [`Host: ${TOKEN}`, /The header Host can't be in this file/],
    [`Traceparent: ${TOKEN}`, /The header Traceparent can't be in this file/],
    [`Sec-WebSocket-Protocol: ${TOKEN}`, /Sec-WebSocket-Protocol can't be in this file/],
    [`X-A: ${TOKEN}\nx-a: 2`, /:2 .* The header x-a occurs twice\. Remove one line\./],
    [`X-A: ${TOKEN}é`, /The value of X-A must be printable ASCII and not empty\./],
    ['X-A:', /The value of X-A must be printable ASCII and not empty\./],
    [
      `Authorization: ${TOKEN}`,
      /The header Authorization carries the API key\. Remove it/,
      'key-1',
    ],
  ];
  for (const [text, message, key] of rows) {
    const { path } = createHeaderFile(t, text);
    const env = key === undefined ? {} : { SANDBOX_KIT_API_KEY: key };
    const ran = await run(['check', 'http://127.0.0.1:1', '--header-file', path], { env });
    assertUsageError(t, ran, message);
    t.notOk(ran.stderr.includes(TOKEN), 'the value is not shown');
  }
  const missing = await run(['load', 'http://127.0.0.1:1', '--header-file', 'nope']);
  assertUsageError(t, missing, /Can't read nope \(--header-file\): no such file or directory\./);
});
