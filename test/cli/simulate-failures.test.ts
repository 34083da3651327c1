/** `sandbox-kit simulate`: what it shows of sessions that fail. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import type { SimulationReport } from '../../src/contract/index.ts';
import { assertUsageError, run, unwrap } from '../support/commands/command.ts';
import { createFolder, writeFileIn } from '../support/commands/folder.ts';
import { assertPlain, HELLO, readSimulationReport } from '../support/commands/simulate-command.ts';
import {
  hangUp,
  healthy,
  reply,
  respondWith,
  withSandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';

const FOLDER = createFolder(t);
const file = (name: string, text: string): string => writeFileIn(FOLDER, name, text);
const read = (path: string): SimulationReport => readSimulationReport(t, path);

void t.test(
  'the transcript of the first failed session with several turns is printed',
  async (t) => {
    const agentText = `Go\u001b[31m away.\n<b>${'w'.repeat(200)}`;
    const { url } = await withSandboxDouble(t, { chat: reply(agentText) });
    const twice = HELLO.replace('opening: Hello', 'opening: Hello, steps: [{ say: Hm. }]');
    const path = file('twice/hello.scenario.yaml', twice);
    const junit = join(FOLDER, 'transcript.xml');
    const args = ['--scenario', path, '--samples', '3', '--junit', junit];
    const ran = await run(['simulate', url, ...args]);
    t.equal(ran.code, 1, ran.stderr);
    t.match(
      ran.stdout,
      /Transcript of hello, sample 1:\n {2}user {3}Hello\n {2}agent {2}Go\uFFFD\[31m away\.\n {9}<b>www/,
    );
    t.match(ran.stdout, /^--json FILE writes the transcripts of the other failed sessions\.$/m);
    assertPlain(t, ran);
    const xml = readFileSync(junit, 'utf8');
    t.match(xml, /Transcript of sample 1:\nuser: Hello\nagent: Go\uFFFD\[31m away\. &lt;b&gt;w/);
    t.equal(xml.match(/none of 2 messages/g)?.length, 1, 'stated once');
    t.match(xml, /sample 1 \(\S+\) and 2 more: Is kind/);
  },
);

void t.test('a failed turn shows both lines, why it matters, and how to repeat it', async (t) => {
  const double = await withSandboxDouble(t, { chat: reply('Go away.') });
  const scenario = HELLO.replace('params:', 'reason: Users expect it., params:').replace(
    '{ opening: Hello }',
    '{ opening: Hello, steps: [{ say: "It\'s me." }] }',
  );
  const path = file('shown/a.scenario.yaml', scenario);
  const json = join(FOLDER, 'shown.json');
  const env = { SANDBOX_KIT_API_KEY: 'a-secret' };
  const args = ['simulate', double.url, '--scenario', path, '--verbose'];
  const ran = await run(args, { env });
  t.equal(ran.code, 1, ran.stderr);
  const text = ran.stdout.replaceAll(/\s+/g, ' ');
  t.match(text, /the last is "Go away\." Why it matters: Users expect it\./);
  t.match(ran.stdout, /\n {2}- Turn 2:\n {6}user {3}It's me\.\n {6}agent {2}Go away\.\n/);
  const [, command = ''] = /\n {4}(curl .*)\n/.exec(ran.stdout) ?? [];
  t.match(command, '-H "authorization: Bearer $SANDBOX_KIT_API_KEY"');
  const lines = /^failed +hello +2 turns.*\n {2}user {3}Hello\n {2}agent {2}Go away\.\n {2}user/m;
  t.match(ran.stderr, lines, '--verbose shows each turn');
  const assertSentAgain = (turnsBetween: number): void => {
    const again = double.chats().at(-1);
    const before = double.chats().at(-2 - turnsBetween);
    t.type(again?.user_id, 'string');
    t.same(again, before, 'the command sends the request again');
    t.equal(double.requests.at(-1)?.headers.authorization, 'Bearer a-secret');
  };
  const shell = promisify(execFile);
  await shell('sh', ['-c', command], { env: { ...process.env, ...env } });
  assertSentAgain(0);
  const withReport = await run([...args, '--json', json], { env });
  t.match(withReport.stdout, `sandbox-kit resend ${json} hello-1/2\n`);
  t.notMatch(withReport.stdout, 'curl', 'the report is the better source');
  await run(['resend', json, 'hello-1/2'], { env });
  assertSentAgain(1);
  const [session] = read(json).sessions;
  t.equal(session?.failed_turn?.session_sequence, 2);
  for (const output of [ran.stdout, ran.stderr, withReport.stdout, withReport.stderr]) {
    t.notMatch(output, 'a-secret');
  }
});

void t.test('a long request is not printed; the report has it', async (t) => {
  const { url } = await withSandboxDouble(t, { chat: reply('Go away.') });
  const ran = await run(['simulate', url, '--scenario', 'long-message']);
  t.equal(ran.code, 1, ran.stderr);
  t.match(
    unwrap(ran.stdout),
    /To send a request again, add --json report\.json, then run (npx )?sandbox-kit resend/,
  );
  assertPlain(t, ran);
});

void t.test(
  '--set and --scenario exclude each other; --voice leaves out what needs chat',
  async (t) => {
    const { url } = await withSandboxDouble(t);
    const both = await run(['simulate', url, '--set', 'shop', '--scenario', 'greeting']);
    assertUsageError(t, both, /--scenario and --set can't be combined\./);
    const voice = await run(['simulate', url, '--voice']);
    t.equal(voice.code, 3, voice.stderr);
    t.match(voice.stdout, /^8 scenarios, 8 sessions by voice/m);
    const text = voice.stdout.replaceAll(/\s+/g, ' ');
    t.match(text, /No voice endpoint found: .* unless --voice-url sets another address\./);
  },
);

void t.test('an invalid health response is named once, and no session starts', async (t) => {
  const double = await withSandboxDouble(t, {
    health: respondWith(200, { status: 'ok', timestamp: '2026-11-20T09:30:00Z' }),
  });
  const ran = await run(['simulate', double.url]);
  t.equal(ran.code, 3, ran.stdout);
  t.equal(ran.stderr, '', 'no session was started');
  t.same(double.chats(), []);
  const text = unwrap(ran.stdout);
  t.equal(text.split('GET /health returned 200 with an invalid body').length, 2, text);
  t.match(text, /got "ok"\. Every session needs a valid response of \/health\. To check it, run /);
  t.match(text, `check ${double.url} --area health.`);
});

void t.test('a sandbox that is not ready during the preflight can be ready later', async (t) => {
  const notReady = respondWith(503, { status: 'unhealthy', timestamp: '2026-11-20T09:30:00Z' });
  let requests = 0;
  const { url } = await withSandboxDouble(t, {
    health: (response, request) => (++requests === 1 ? notReady : healthy)(response, request),
  });
  const path = file('mine/hello.scenario.yaml', HELLO);
  const ran = await run(['simulate', url, '--scenario', path]);
  t.match(ran.stdout, /1 session in /, 'the session ran');
  t.notMatch(ran.stdout, 'No session was started');
});

void t.test('an error of the agent in every session is named once, with check', async (t) => {
  const message = { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] };
  const { url } = await withSandboxDouble(t, {
    chat: respondWith(200, { choices: [{ message }] }),
  });
  const json = join(FOLDER, 'typed.json');
  const ran = await run(['simulate', url, '--json', json]);
  t.equal(ran.code, 3, ran.stderr);
  const text = ran.stdout.replaceAll(/\s+/g, ' ');
  const reason = 'choices[0].message.content is not a string: received an array.';
  t.equal(text.split(`returned 200, but ${reason}`).length, 2, 'once');
  t.match(ran.stdout, /^undecided correction, sample 1 and \d+ more /m, 'its user says something');
  t.equal(text.match(/\bundecided /g)?.length, 1, 'no table where every row is undecided');
  const advice =
    /Every session stopped because of an error of the agent\. Run (npx )?sandbox-kit check http:\S+ to find out why\./;
  t.match(text, advice);
  t.match(read(json).sentence, advice);
});

void t.test('a sandbox that stops sessions in other ways is named once, too', async (t) => {
  const path = file('stops/a.scenario.yaml', HELLO);
  for (const behavior of [{ create: respondWith(500, {}) }, { chat: hangUp }]) {
    const { url } = await withSandboxDouble(t, behavior);
    const ran = await run(['simulate', url, '--scenario', path, '--samples', '3']);
    t.equal(ran.code, 3, ran.stderr);
    const sentence = 'Every session stopped because of a problem with the sandbox. Run';
    t.equal(unwrap(ran.stdout).split(sentence).length, 2, ran.stdout);
  }
});

void t.test('a reply that is not one shows what the user said, and how to repeat it', async (t) => {
  const message = { role: 'assistant', content: null };
  const { url } = await withSandboxDouble(t, {
    chat: respondWith(200, { choices: [{ message }] }),
  });
  const path = file('null/a.scenario.yaml', HELLO);
  const ran = await run(['simulate', url, '--scenario', path]);
  t.equal(ran.code, 3, ran.stderr);
  const text = ran.stdout.replaceAll(/\s+/g, ' ');
  t.match(
    text,
    '- POST /v1/chat/completions returned 200, but choices[0].message.content is not a string: received null.',
  );
  t.match(ran.stdout, /\n {2}- Turn 1:\n {6}user {3}Hello\n {6}agent {2}\(invalid response\)\n/);
  t.match(ran.stdout, /\n {4}curl 'http.*"content":"Hello"/);
});
