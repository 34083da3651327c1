/** The command `resend`, and the function of the library: a request of a run is sent again, and judged. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { resend } from '../../library/index.ts';
import {
  findViolations,
  isMessage,
  type CheckReport,
  type ResendReport,
} from '../../src/contract/index.ts';
import { assertUsageError, run, unwrap, type CommandResult } from '../support/commands/command.ts';
import { createFolder } from '../support/commands/folder.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import {
  hangUp,
  refusal,
  reply,
  respondWith,
  withSandboxDouble,
  type RouteBehavior,
  type RouteBehaviors,
  type SandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';

const FOLDER = createFolder(t);
const at = (name: string): string => join(FOLDER, name);
const KEY = 'sk-Very/secret~key.0123456789';

/** Refuses requests that are not a conversation. */
const inChat =
  (respond: RouteBehavior): RouteBehavior =>
  (response, request) => {
    const isValid = isMessage('ChatRequest', request.body);
    (isValid ? respond : refusal(400, 'bad_request'))(response, request);
  };

const nullContent = inChat(
  respondWith(200, { choices: [{ message: { role: 'assistant', content: null } }] }),
);

/** A sandbox that was checked, and what the check wrote. */
interface Checked {
  sandbox: SandboxDouble;
  result: CommandResult;
  report: CheckReport;
  reportPath: string;
  recordingPath: string;
  /** Returns the number of the first exchange that a requirement names. */
  exchangeOf: (id: string) => number;
}

let runs = 0;

/** Checks a sandbox. */
async function checkSandbox(
  t: Test,
  own: RouteBehaviors,
  { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
): Promise<Checked> {
  const sandbox = await withSandboxDouble(t, { chat: inChat(reply('Done.')), ...own });
  const [reportPath, recordingPath] = [at(`report-${++runs}.json`), at(`run-${runs}.ndjson`)];
  const common = ['--area', 'chat,health,users', '--seed', 'resend'];
  const files = ['--json', reportPath, '--record', recordingPath];
  const result = await run(['check', sandbox.url, ...common, ...files, ...args], { env });
  const report = JSON.parse(readFileSync(reportPath, 'utf8')) as CheckReport;
  sandbox.requests.length = 0;
  return {
    ...{ sandbox, result, report, reportPath, recordingPath },
    exchangeOf: (id) =>
      report.requirements.find((row) => row.id === id)?.evidence[0]?.exchange ?? 0,
  };
}

/** Sends a request again, and returns the report of the command. */
async function resendJson(
  t: Test,
  args: string[],
): Promise<{ code: number | null; text: string; report: ResendReport }> {
  const { code, stdout, stderr } = await run(['resend', ...args, '--json', '-']);
  const report = JSON.parse(stdout) as ResendReport;
  t.same(findViolations('ResendReport', report), []);
  t.equal(report.exitCode, code);
  return { code, text: stderr, report };
}

const routesOf = ({ requests }: SandboxDouble): string[] => requests.map(({ route }) => route);

void t.test('a broken response exits with 1, and with 0 after the repair', async (t) => {
  const { sandbox, result, reportPath, recordingPath, exchangeOf } = await checkSandbox(t, {
    chat: nullContent,
  });
  t.equal(result.code, 1);
  const id = exchangeOf('CHAT-024');
  t.match(result.stdout, `sandbox-kit resend ${reportPath} ${id}\n`, 'a failure names the command');
  const broken = await run(['resend', reportPath, String(id)]);
  t.equal(broken.code, 1, broken.stderr);
  t.match(broken.stdout, /\nFAIL {2}CHAT-024\n/);
  t.match(broken.stdout, /NOT CONFORMING {2}The response still breaks CHAT-024\.\n$/);
  sandbox.setBehavior({});
  for (const path of [reportPath, recordingPath]) {
    const repaired = await run(['resend', path, String(id)]);
    t.equal(repaired.code, 0, repaired.stderr);
    t.match(unwrap(repaired.stdout), /Broken in the run, met now: CHAT-024\./);
    t.match(repaired.stdout, /\nCONFORMING {2}The response conforms now\. A fault/);
  }
  sandbox.setBehavior({ chat: respondWith(200, 'Oops') });
  const other = await run(['resend', reportPath, String(id)]);
  t.equal(other.code, 1, 'it breaks another requirement now');
});

void t.test('the same bytes and headers are sent, except the trace', async (t) => {
  const { sandbox, report, reportPath, exchangeOf } = await checkSandbox(t, { chat: nullContent });
  const id = exchangeOf('CHAT-024');
  const { report: again } = await resendJson(t, [reportPath, String(id)]);
  const before = report.resendable?.exchanges.find(({ exchange }) => exchange.id === id)?.exchange;
  const { traceparent: first, ...headers } = before?.request.headers ?? {};
  const { traceparent: second, ...headersAgain } = again.exchange?.request.headers ?? {};
  t.not(first, second, 'a new trace');
  t.same(headersAgain, headers);
  t.equal(again.exchange?.request.body, before?.request.body);
  t.same(again.before, before);
  t.equal(sandbox.chats().length, 1, 'alone');
});

void t.test('a request that needs a user creates it, and deletes it afterward', async (t) => {
  const { sandbox, report, reportPath } = await checkSandbox(t, { delete: refusal(500, 'broken') });
  const deletion = report.resendable?.exchanges.find(
    ({ exchange }) => exchange.step === 'delete' && exchange.probe === 'users/forms',
  );
  const id = String(deletion?.exchange.id);
  const broken = await run(['resend', reportPath, id]);
  t.equal(broken.code, 1, broken.stderr);
  t.match(
    broken.stdout,
    /\nPrepared\n {2}POST \/users -> 201 \(creates the user, exchange \d+\)\n/,
  );
  t.same(routesOf(sandbox), ['create', 'delete', 'delete'], 'the failed deletion is tried again');
  sandbox.requests.length = 0;
  sandbox.setBehavior({});
  const repaired = await run(['resend', reportPath, id]);
  t.equal(repaired.code, 0);
  t.match(repaired.stdout, /\nOPEN {2}USERS-074\n/, 'the form of an error no longer matters');
  t.same(routesOf(sandbox), ['create', 'delete'], 'the user is gone');
  sandbox.requests.length = 0;
  sandbox.setBehavior({ create: refusal(500, 'broken') });
  const stuck = await run(['resend', reportPath, id]);
  t.equal(stuck.code, 3, 'the preparation failed');
  t.match(stuck.stdout, /The request depends on POST \/users, which creates the user and/);
  t.same(routesOf(sandbox), ['create'], 'the request itself is not sent');
});

void t.test('a new user is deleted before and after its creation', async (t) => {
  const wrong = respondWith(201, { user_id: 7 });
  const { sandbox, reportPath, exchangeOf, report } = await checkSandbox(t, { create: wrong });
  const [failed] = report.requirements.filter(
    ({ verdict, area }) => verdict === 'fail' && area === 'users',
  );
  const id = exchangeOf(failed?.id ?? '');
  sandbox.setBehavior({});
  const { code, report: again } = await resendJson(t, [reportPath, String(id)]);
  t.equal(code, 0);
  t.same(routesOf(sandbox), ['delete', 'create', 'delete']);
  t.match(again.prepared[0]?.purpose, 'makes sure that the user does not exist');
  t.match(again.cleanedUp[0], { outcome: '200', purpose: 'deletes the user' });
});

void t.test('a later turn is sent after the earlier turns of its session', async (t) => {
  const { sandbox, recordingPath } = await checkSandbox(t, {});
  const exchanges = readFileSync(recordingPath, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; step: string; connection?: string });
  const turns = exchanges.filter(({ step }) => step === 'turn');
  const { code, report } = await resendJson(t, [recordingPath, String(turns.at(-1)?.id)]);
  t.equal(code, 0);
  t.same(
    report.prepared.map(({ purpose, exchange }) => [purpose, exchange]).slice(1),
    turns.slice(0, 2).map(({ id }) => ['is an earlier turn of the session', id]),
  );
  t.equal(sandbox.chats().length, 3);
  const second = exchanges.find(({ step }) => step === 'second on a connection');
  t.equal(second?.connection, 'keep-alive');
  const kept = await resendJson(t, [recordingPath, String(second?.id)]);
  t.ok(kept.report.prepared.some(({ purpose }) => purpose === 'comes first on the connection'));
  t.equal(kept.report.exchange?.connection, 'keep-alive');
});

void t.test('the key comes from the environment, and appears nowhere', async (t) => {
  const env = { SANDBOX_KIT_API_KEY: KEY };
  const chat = respondWith(200, { echo: KEY });
  const { sandbox, reportPath, exchangeOf } = await checkSandbox(t, { chat }, { env });
  const id = String(exchangeOf('CHAT-020'));
  const { stdout, stderr } = await run(['resend', reportPath, id, '--json', '-'], { env });
  t.match(sandbox.requests[0]?.headers.authorization, `Bearer ${KEY}`);
  t.notMatch(stdout + stderr, KEY);
  t.match(stdout, /Bearer <redacted>/);
  sandbox.requests.length = 0;
  assertUsageError(
    t,
    await run(['resend', reportPath, id]),
    /Exchange \d+ was sent with the API key\. Set it in SANDBOX_KIT_API_KEY or --api-key-file\./,
  );
  const elsewhere = ['resend', reportPath, id, '--url', 'https://other.example.com'];
  assertUsageError(
    t,
    await run(elsewhere, { env }),
    /The API key would be sent to other\.example\.com, but the run was about http:\/\/127\.0\.0\.1:\d+\. Use --allow-other-host/,
  );
  assertUsageError(
    t,
    await run([...elsewhere.with(-1, 'http://other.example.com'), '--allow-other-host'], { env }),
    /The API key would be sent unencrypted to other\.example\.com/,
  );
  t.equal(sandbox.requests.length, 0);
  sandbox.setBehavior({ chat: refusal(401, 'invalid_api_key') });
  const refused = await run(['resend', reportPath, id], { env });
  t.equal(refused.code, 3);
  t.match(unwrap(refused.stdout), /refuses the API key \(401\)/);
});

void t.test('what one response does not decide is not judged', async (t) => {
  const { sandbox, reportPath, exchangeOf } = await checkSandbox(t, { chat: nullContent });
  const id = exchangeOf('CHAT-024');
  const cut = JSON.parse(readFileSync(reportPath, 'utf8')) as CheckReport;
  for (const { exchange } of cut.resendable?.exchanges ?? []) {
    if (exchange.id === id) exchange.request.bodyBytes = 300_000;
  }
  writeFileSync(at('cut.json'), JSON.stringify(cut));
  const result = await run(['resend', at('cut.json'), String(id)]);
  t.equal(result.code, 3);
  t.match(
    unwrap(result.stdout),
    /NOT JUDGED\s+The body of exchange \d+ has 300000 bytes, and only its beginning is stored\./,
  );
  t.equal(sandbox.requests.length, 0, 'nothing is sent');
  const limited = { chat: refusal(429, 'rate_limited') };
  sandbox.setBehavior(limited);
  t.equal((await run(['resend', reportPath, String(id)])).code, 3, 'a rate limit');
  const away = await run(['resend', reportPath, String(id), '--url', 'http://127.0.0.1:1']);
  t.equal(away.code, 3, 'nothing listens');
  t.match(
    unwrap(away.stdout),
    /Nothing accepts connections \(.*\)\. Start the sandbox, or check the URL/,
  );
});

void t.test('a URL with a superfluous /v1 is named, and nothing is judged', async (t) => {
  const { reportPath, exchangeOf } = await checkSandbox(t, { chat: nullContent });
  const { agent } = await withReferenceAgent(t, { voice: null });
  const again = ['resend', reportPath, String(exchangeOf('CHAT-024')), '--url'];
  const wrong = await run([...again, `${agent.url}/v1`]);
  t.equal(wrong.code, 3, wrong.stdout);
  t.match(
    unwrap(wrong.stdout),
    /POST http:\S+\/v1\/\S+ responds with 404\. Remove \/v1 from the end of the URL\./,
  );
  t.notMatch(wrong.stdout, 'FAIL');
  t.equal((await run([...again, agent.url])).code, 0, 'without /v1');
});

void t.test('a request is not judged by requirements that the run did not select', async (t) => {
  const sandbox = await withSandboxDouble(t, { chat: nullContent });
  const recording = at('chat-only.ndjson');
  await run(['check', sandbox.url, '--area', 'chat', '--record', recording]);
  const creation = readFileSync(recording, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; endpoint?: string })
    .find(({ endpoint }) => endpoint === 'create');
  // It breaks requirements of the area users.
  sandbox.setBehavior({ create: respondWith(201, { user_id: 7 }) });
  const { code, text, report } = await resendJson(t, [recording, String(creation?.id)]);
  t.equal(code, 3, text);
  t.same(report.requirements, []);
  t.match(
    unwrap(text),
    /NOT JUDGED\s+The request got a response \(201\), but the run checked only chat, so none of its requirements judges POST \/users\. To judge it, run (npx )?sandbox-kit check http:\S+ --area users/,
  );
});

void t.test('a request without a response says whether the sandbox still runs', async (t) => {
  const { sandbox, reportPath, exchangeOf } = await checkSandbox(t, { chat: nullContent });
  sandbox.setBehavior({ chat: hangUp });
  const { code, report } = await resendJson(t, [reportPath, String(exchangeOf('CHAT-024'))]);
  t.equal(code, 1);
  t.equal(report.stillResponds, true);
  sandbox.setBehavior({ chat: hangUp, health: hangUp });
  const stopped = await run(['resend', reportPath, String(exchangeOf('CHAT-024'))]);
  t.equal(stopped.code, 1);
  t.match(unwrap(stopped.stdout), /no longer responds to GET \/health: this request stopped it\./);
});

void t.test('a leak between requests is not cleared by one of them alone', async (t) => {
  let last = '';
  const chat: RouteBehaviors['chat'] = (response, request) => {
    reply(`You said: ${last}`)(response, request);
    last = JSON.stringify(request.body);
  };
  const { report, reportPath } = await checkSandbox(t, { chat }, { args: ['--concurrency', '1'] });
  const leaks = report.requirements.filter(
    ({ verdict, area }) => verdict === 'fail' && area === 'chat',
  );
  t.not(leaks.length, 0);
  for (const { evidence } of leaks) {
    const { code } = await run(['resend', reportPath, String(evidence[0]?.exchange)]);
    t.not(code, 0);
  }
});

void t.test('a failed turn of a simulation is sent again', async (t) => {
  const sandbox = await withSandboxDouble(t, {
    chat: (response, request) =>
      (sandbox.chats().length > 1 ? nullContent : reply('Which order?'))(response, request),
  });
  const scenario = at('talk.scenario.yaml');
  writeFileSync(
    scenario,
    'id: talk\nname: Talk\nuser:\n  mode: scripted\n  goal: Ask twice.\n  opening: Hello\n  steps: [{ say: Refund it. }]\nevals: [{ id: e, name: E, kind: no_repetition }]\n',
  );
  const path = at('simulation.json');
  const simulated = await run([
    ...['simulate', sandbox.url, '--scenario', scenario],
    ...['--json', path, '--seed', 's', '--concurrency', '1'],
  ]);
  t.match(simulated.stdout, `sandbox-kit resend ${path} talk-1/2\n`, simulated.stderr);
  const sent = sandbox.chats();
  sandbox.requests.length = 0;
  const broken = await run(['resend', path, 'talk-1/2'], {});
  t.same(sandbox.chats(), sent, 'the same conversation, with its earlier turns');
  t.same(routesOf(sandbox), ['create', 'chat', 'chat', 'delete']);
  t.equal(broken.code, 1, 'the second reply is still broken');
  sandbox.setBehavior({ chat: reply('Done.') });
  const repaired = await run(['resend', path, 'talk-1/2'], { env: { PATH: '/nowhere' } });
  t.equal(repaired.code, 0);
  t.match(
    unwrap(repaired.stdout),
    /The response conforms\. Run npx sandbox-kit simulate again for the verdict on the session\./,
  );
  assertUsageError(
    t,
    await run(['resend', path, '65']),
    /is a report of sandbox-kit simulate\. Name a turn as SCENARIO-SAMPLE\/TURN, such as refund-1\/3\. It contains talk-1\/2\./,
  );
  for (const [turn, nearest] of [
    ['talk-2/1', /The nearest are talk-1\/1, talk-1\/2\./],
    ['talk-1/9', /The nearest are talk-1\/2, talk-1\/1\./],
    ['tlak-1/2', /The nearest are talk-1\/2, talk-1\/1\./],
    ['other-1/2', /It contains talk-1\/2\./],
  ] as const) {
    const wrong = await run(['resend', path, turn]);
    assertUsageError(t, wrong, /does not contain the request/);
    t.match(unwrap(wrong.stderr), nearest, turn);
  }
});

void t.test('the library returns the same report', async (t) => {
  const { sandbox, report, reportPath, exchangeOf } = await checkSandbox(t, { chat: nullContent });
  const exchange = exchangeOf('CHAT-024');
  t.match(await resend({ report, exchange }), { verdict: 'not-conforming', exitCode: 1 });
  sandbox.setBehavior({});
  t.match(await resend({ report: reportPath, exchange }), { verdict: 'conforming', exitCode: 0 });
  await t.rejects(resend({ report, exchange: 9999 }), {
    name: 'TypeError',
    message: /^resend: The report does not contain exchange 9999/,
  });
  await t.rejects(resend({ report: at('missing'), exchange }), { code: 'unreadable_file' });
  await t.rejects(resend({ report, exchange: 0 }), { name: 'TypeError' });
  for (const [input, name] of [
    [report, 'the report'],
    [reportPath, reportPath],
  ] as const) {
    await t.rejects(resend({ report: input, exchange: 'x' }), {
      name: 'TypeError',
      message: `resend: exchange must be the number of an exchange of ${name}, got "x".`,
    });
  }
});

void t.test('resend refuses wrong arguments, and says what it expects', async (t) => {
  const { report, reportPath, recordingPath } = await checkSandbox(t, { chat: nullContent });
  writeFileSync(at('other.json'), '{"a":1}');
  writeFileSync(at('no-fields.json'), '{}');
  writeFileSync(at('list.json'), '[]');
  writeFileSync(at('text.txt'), 'hello');
  writeFileSync(at('empty.json'), '');
  const { resendable: _, ...old } = report;
  writeFileSync(at('old.json'), JSON.stringify(old));
  const service = report.requirements.map((row) => ({ ...row, area: 'service' }));
  writeFileSync(at('service.json'), JSON.stringify({ ...report, requirements: service }));
  const rows: [args: string[], message: RegExp][] = [
    [[], /REPORT is missing\. It must be a file of sandbox-kit check --json, check --record, or/],
    [
      [reportPath],
      /EXCHANGE is missing\. It must be the number of an exchange of the report, such as 65, or a turn of a simulation, such as refund-1\/3\./,
    ],
    // Also without the exchange, so that the wrong path is named at the first attempt.
    [[at('missing.json')], /REPORT must be a file of .*, but \S+missing\.json does not exist\./],
    [[at('missing.json'), '1'], /, but \S+missing\.json does not exist\./],
    [
      [at('other.json'), '1'],
      /REPORT must be a file of sandbox-kit check --json, .* a JSON object with other fields: "a"\. To write a report, run (npx )?sandbox-kit check URL --json report\.json\./,
    ],
    [[at('no-fields.json'), '1'], /no-fields\.json is a JSON object without fields\./],
    [[at('list.json'), '1'], /list\.json is a JSON file with an array\./],
    [[at('text.txt'), '1'], /text\.txt is not JSON\./],
    [[at('empty.json'), '1'], /REPORT must be a file of .*, but \S+empty\.json is empty\./],
    [[at('old.json'), '1'], /contains no requests, .* record the run with --record run\.ndjson/],
    [[at('service.json'), '1'], /is about a service or its client\. Only requests to a sandbox/],
    [
      [reportPath, '9999'],
      /does not contain exchange 9999, .* The nearest are \d+, \d+, \d+, \d+\./,
    ],
    [[recordingPath, '9999'], /does not contain exchange 9999\. The nearest are/],
    [
      [reportPath, 'CHAT-024'],
      /EXCHANGE must be the number of an exchange .*, got "CHAT-024"\. .* contains exchanges \d+, /,
    ],
    [
      [reportPath, 'refund-1/3'],
      /got "refund-1\/3"\. It names a turn, and only reports of sandbox-kit simulate have turns\./,
    ],
    [[recordingPath, 'refund-1:3'], /got "refund-1:3"\. It names a turn, and only reports of/],
    [[reportPath, '2', '--json', reportPath], /--json would overwrite .*, which REPORT reads\./],
  ];
  for (const [args, message] of rows) assertUsageError(t, await run(['resend', ...args]), message);
});
