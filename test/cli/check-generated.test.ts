/** `check` against sandboxes that refuse legal requests, or send bytes that are not UTF-8. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readTranscript } from '../../conformance/index.ts';
import { run } from '../support/commands/command.ts';
import { startTextMutant } from '../support/sandboxes/text-agent.ts';

/** Checks a mutant of the reference agent. Returns the output on one line, and the recording. */
async function checkMutant(
  t: Test,
  id: string,
  area: string,
): Promise<{ text: string; record: string }> {
  const url = await startTextMutant(t, id);
  const record = join(t.testdir({}), 'run.ndjson');
  const args = ['check', url, '--area', area, '--seed', 'e7ead5b5ba', '--record', record];
  const { code, stdout } = await run(args);
  t.equal(code, 1, stdout);
  return { text: stdout.replaceAll(/\s+/g, ' '), record };
}

const refusals = [
  [
    'chat/refuses-two-systems',
    'FAIL CHAT-010 A chat request succeeds with `system`, `user`, and `assistant` messages in any order.',
    'expected a 2xx response for a request with two system messages in a row',
  ],
  [
    'chat/refuses-later-system',
    'FAIL CHAT-010',
    'expected a 2xx response for a request with a system message after a user message',
  ],
  [
    'chat/refuses-deep-metadata',
    'FAIL CHAT-009',
    'expected a 2xx response for a request with 6 levels of objects in `metadata`',
  ],
  [
    'users/refuses-nested-preferences',
    'FAIL USERS-004',
    'expected a 2xx response for a request with nested `preferences` in `metadata`',
  ],
] as const;

void t.test('a refused request is named by its property and is the smallest one', async (t) => {
  for (const [id, rule, expected] of refusals) {
    const { text } = await checkMutant(t, id, id.startsWith('chat') ? 'chat' : 'users');
    t.ok(text.includes(rule), `${id}: ${rule}`);
    t.ok(text.includes(expected), `${id}: ${expected}`);
    t.match(text, /hint (The same request without it|A request with .*) was accepted \(exchange/);
    t.match(text, /NOT CONFORMING \d+ pass, 1 fail/);
  }
});

void t.test('the smallest refused size is named, with one that is accepted', async (t) => {
  const { text } = await checkMutant(t, 'chat/refuses-60-messages', 'chat');
  t.match(text, 'FAIL CHAT-015 A chat request with a history of 100 messages succeeds.');
  t.match(text, 'expected a 2xx response for a request with a history of 61 messages');
  t.match(text, /A request with a history of 59 messages was accepted \(exchange \d+\)\./);
});

void t.test('a body that is not UTF-8 is not JSON, and its bytes are recorded', async (t) => {
  const { text, record } = await checkMutant(t, 'chat/latin-1', 'chat');
  t.match(text, /FAIL CHAT-011 /);
  t.match(text, 'expected a JSON object for a request with accented letters in `content`');
  t.match(text, /received ".*" \(0xFC at byte offset \d+ is not UTF-8\)/);
  t.match(text, 'hint Encode the body as UTF-8, even if Content-Type names another charset.');
  const { exchanges } = readTranscript(readFileSync(record, 'utf8'));
  const [first] = exchanges.filter(({ response }) => response?.bodyBase64 !== undefined);
  const bytes = Buffer.from(first?.response?.bodyBase64 ?? '', 'base64');
  t.match(bytes.toString('latin1'), '"Grüezi"', 'the recording has the bytes');
  t.match(first, { json: undefined, response: { body: /Gr\ufffdezi/ } });
  const graded = await run(['grade', record]);
  t.match(graded.stdout.replaceAll(/\s+/g, ' '), /0xFC at byte offset \d+ is not UTF-8/);
});
