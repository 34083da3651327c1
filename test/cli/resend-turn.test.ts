/** The command `resend` on a turn of a simulation: the evals that failed are judged with the new reply. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  findViolations,
  isMessage,
  type ResendReport,
  type SimulationReport,
} from '../../src/contract/index.ts';
import { assertUsageError, run } from '../support/commands/command.ts';
import { createFolder } from '../support/commands/folder.ts';
import {
  refusal,
  reply,
  withSandboxDouble,
  type SandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';

const FOLDER = createFolder(t);
const at = (name: string): string => join(FOLDER, name);

const unwrap = (text: string): string => text.replaceAll(/\s+/g, ' ');

let runs = 0;

/** A user of two lines. */
const USER = 'mode: scripted\n  opening: Hello\n  steps: [{ say: Refund it. }]';

/** A session of two turns with the evals in its scenario, and the report of its simulation. */
async function simulateEvals(
  t: Test,
  evals: string[],
  replies: (turn: number) => string,
  user = USER,
): Promise<{ sandbox: SandboxDouble; path: string }> {
  const turnOf = (body: unknown): number =>
    isMessage('ChatRequest', body) ? body.messages.filter(({ role }) => role === 'user').length : 0;
  const sandbox = await withSandboxDouble(t, {
    chat: (response, request) => reply(replies(turnOf(request.body)))(response, request),
  });
  const name = `evals-${++runs}`;
  const scenario = at(`${name}.scenario.yaml`);
  const lines = evals.map((line, index) => `  - { id: e${index + 1}, name: E, ${line} }\n`);
  writeFileSync(scenario, `id: talk\nname: Talk\nuser:\n  ${user}\nevals:\n${lines.join('')}`);
  const path = at(`${name}.json`);
  const args = ['--scenario', scenario, '--json', path, '--seed', 's'];
  await run(['simulate', sandbox.url, ...args]);
  return { sandbox, path };
}

void t.test('the evals that failed at a turn are judged with the new reply', async (t) => {
  const evals = [
    'kind: contains, params: { text: refund, turn: 2 }',
    'kind: regex, params: { pattern: "[Nn]o\\\\b", absent: true }',
    'kind: contains, required: false, params: { text: sorry }',
  ];
  const { path, sandbox } = await simulateEvals(t, evals, (turn) => ['', 'Hi', 'No.'][turn] ?? '');
  const broken = await run(['resend', path, 'talk-1/2']);
  t.equal(broken.code, 1, broken.stderr);
  t.match(
    broken.stdout,
    /\nFAIL {2}eval e1: E\n {6}Looked for "refund" in the agent's messages of/,
  );
  t.match(broken.stdout, /\nWARN {2}eval e3: E\n/);
  t.match(unwrap(broken.stdout), 'a match of /[Nn]o\\b/ in', 'the expression as it was written');
  t.match(
    unwrap(broken.stdout),
    /NOT CONFORMING The response conforms\. With this reply, evals e1, e2 still fail\./,
  );
  const wrongTurn = await run(['resend', path, 'talk-1/1']);
  t.equal(wrongTurn.code, 3, 'the first reply failed nothing');
  t.match(unwrap(wrongTurn.stdout), /did not fail at this turn\. Send turn 2 again instead\./);
  sandbox.setBehavior({ chat: reply('Refund made, no worries.') });
  const half = await run(['resend', path, 'talk-1/2']);
  t.equal(half.code, 1, 'one eval still fails');
  t.match(half.stdout, /\nPASS {2}eval e1: E\n/);
  t.match(unwrap(half.stdout), /With this reply, eval e2 still fails\./);
  sandbox.setBehavior({ chat: reply('I made the refund.') });
  const { code, stdout } = await run(['resend', path, 'talk-1/2', '--json', '-']);
  const report = JSON.parse(stdout) as ResendReport;
  t.same(findViolations('ResendReport', report), []);
  t.equal(code, 0);
  t.same(
    report.evals?.map(({ id, verdict }) => [id, verdict]),
    [
      ['e1', 'pass'],
      ['e2', 'pass'],
      ['e3', 'warn'],
    ],
  );
  t.match(report.sentence, /With this reply, evals e1, e2 pass\. Run sandbox-kit simulate again/);
  sandbox.setBehavior({ chat: refusal(429, 'rate_limited') });
  t.equal((await run(['resend', path, 'talk-1/2'])).code, 3, 'no reply');
});

void t.test('an eval that one reply does not decide is never a success', async (t) => {
  const judged = 'kind: judge, params: { criteria: The agent is kind. }';
  for (const [evals, reason] of [
    [['kind: max_turns, params: { max: 1 }'], /It counts the turns of the session\./],
    [[judged], /A model judges the whole session\./],
    [['kind: tool_order, params: { names: [a, b] }'], /It compares the tool calls of several/],
    [['kind: contains, params: { text: x, in: user }'], /It is about what the user says/],
    [['kind: json_path, params: { path: $.persona, equals: x }'], /does not lead to a reply/],
  ] as const) {
    const { path } = await simulateEvals(t, [...evals], (turn) => `Reply number ${turn}`);
    const { code, stdout } = await run(['resend', path, 'talk-1/2']);
    t.equal(code, 3, stdout);
    t.match(stdout, /\nOPEN {2}eval e1: E\n/);
    t.match(unwrap(stdout), reason);
    t.match(unwrap(stdout), /NOT JUDGED .* This reply alone does not decide eval e1\. Run/);
  }
});

void t.test('an eval that any reply can meet is decided by the last one', async (t) => {
  const evals = [
    'kind: contains, params: { text: sorry }',
    'kind: tool_called, required: false, params: { name: look_up }',
  ];
  const { path, sandbox } = await simulateEvals(t, evals, (turn) => `Reply number ${turn}`);
  t.equal((await run(['resend', path, 'talk-1/2'])).code, 1);
  const first = await run(['resend', path, 'talk-1/1']);
  t.equal(first.code, 3);
  t.match(unwrap(first.stdout), /A later reply may have it\./);
  sandbox.setBehavior({ chat: reply('I am sorry.') });
  for (const turn of [1, 2]) t.equal((await run(['resend', path, `talk-1/${turn}`])).code, 0);
});

void t.test('an eval about a line is judged at the turns of the line', async (t) => {
  const facts = 'facts: [{ name: number, value: A-1, asked_by: [which one] }]';
  const user = `opening: Hello\n  ${facts}\n  steps: [{ when: { contains: found }, say: Refund it. }]`;
  const replies = (turn: number): string => ['', 'Which one?', 'I found it.', 'No.'][turn] ?? '';
  const evals = ['kind: contains, params: { text: refund, turn: 2 }'];
  const { path, sandbox } = await simulateEvals(t, evals, replies, user);
  const fact = await run(['resend', path, 'talk-1/2']);
  t.equal(fact.code, 3, 'the fact belongs to the first line');
  t.match(unwrap(fact.stdout), /did not fail at this turn\. Send turn 3 again instead\./);
  const broken = await run(['resend', path, 'talk-1/3']);
  t.equal(broken.code, 1, broken.stdout);
  t.match(unwrap(broken.stdout), /in the agent's messages of line 2 \(turn 3\): none/);
  sandbox.setBehavior({ chat: reply('I made the refund.') });
  t.equal((await run(['resend', path, 'talk-1/3'])).code, 0);
});

void t.test('a repetition is judged with the recorded replies before it', async (t) => {
  const same = (): string => 'Please tell me the number of your order.';
  const { path, sandbox } = await simulateEvals(t, ['kind: no_repetition'], same);
  t.equal((await run(['resend', path, 'talk-1/2'])).code, 1);
  sandbox.setBehavior({ chat: reply('The refund is on its way.') });
  t.equal((await run(['resend', path, 'talk-1/2'])).code, 0);
});

void t.test(
  'a session by voice is not sent again, and the message says how to repeat it',
  async (t) => {
    const { path } = await simulateEvals(t, ['kind: max_turns, params: { max: 1 }'], () => 'Hi.');
    const report = JSON.parse(readFileSync(path, 'utf8')) as SimulationReport;
    for (const session of report.sessions) {
      session.channel = 'voice';
      delete session.resendable;
    }
    const voice = at('voice.json');
    writeFileSync(voice, JSON.stringify(report));
    const expected =
      /talk-1\/2 is a turn of a voice session, and only .* simulate again with --scenario talk and --seed s\.$/m;
    assertUsageError(t, await run(['resend', voice, 'talk-1/2']), expected);
  },
);

void t.test('a leak from another session is not cleared without that session', async (t) => {
  const sandbox = await withSandboxDouble(t, { chat: reply('Hi.') });
  const path = at('isolation.json');
  const scenario = at('isolation.scenario.yaml');
  writeFileSync(
    scenario,
    'id: apart\nname: Apart\nother_session: [My name is Laura.]\nuser: { opening: Hello }\nevals: [{ id: e, name: E, kind: contains, params: { text: Hi, absent: true } }]\n',
  );
  await run(['simulate', sandbox.url, '--scenario', scenario, '--json', path]);
  sandbox.setBehavior({ chat: reply('Good day.') });
  const { code, stdout } = await run(['resend', path, 'apart-1/1']);
  t.equal(code, 3, stdout);
  t.match(unwrap(stdout), /It depends on the session of another user before this one/);
});
