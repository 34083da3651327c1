import t from 'tap';
import { seededRandom } from '../../../../src/platform/random.ts';
import { readMessages } from '../../../../src/service/turns/messages.ts';
import type { TracedTurn } from '../../../../src/service/turns/turn-types.ts';
import { buildTurns } from '../../../../src/service/turns/turns.ts';
import { damageJson, randomJson } from '../../../support/contract/random-json.ts';
import { atNight } from '../../../support/nightly.ts';
import {
  agent,
  makeToolCallMessage,
  makeToolResultMessage,
  makeStoredSpan,
  user,
} from '../../../support/traces/stored-span.ts';

/** Returns the turn of one chat span. */
function turnOf(input: unknown, output?: unknown): TracedTurn | undefined {
  return buildTurns([makeStoredSpan({ id: 'a', input, output })])[0];
}

void t.test('text is read from every place where instrumentations put it', (t) => {
  const forms: unknown[] = [
    { role: 'user', parts: [{ type: 'text', content: 'Hi' }] },
    { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
    { role: 'user', parts: { type: 'text', content: 'Hi' } },
    { role: 'user', parts: ['Hi'] },
    { role: 'user', parts: 'Hi' },
    { role: 'user', content: 'Hi' },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    { role: 'USER', content: 'Hi' },
    { role: 'human', content: 'Hi' },
    { role: 'customer', content: 'Hi' },
    { content: 'Hi' },
    'Hi',
  ];
  for (const form of forms) t.equal(turnOf([form])?.userInput, 'Hi', JSON.stringify(form));
  t.equal(
    turnOf({ role: 'user', content: 'Hi' })?.userInput,
    'Hi',
    'a message that is not in an array',
  );
  t.end();
});

void t.test('text parts become lines; reasoning and files are not text', (t) => {
  const parts = [
    { type: 'reasoning', content: 'hmm' },
    { type: 'text', content: 'One' },
    { type: 'blob', content: 'AAAA' },
    { type: 'text', content: 'Two' },
  ];
  t.equal(turnOf([], [{ role: 'assistant', parts }])?.agentResponse, 'One\nTwo');
  t.end();
});

void t.test("the agent's last message is its response, regardless of its role", (t) => {
  t.equal(turnOf([], [agent('One'), agent('Two')])?.agentResponse, 'Two');
  t.equal(turnOf([], [agent('One'), makeToolCallMessage('f', {})])?.agentResponse, 'One');
  t.equal(turnOf([], [{ role: 'model', content: 'Ja' }])?.agentResponse, 'Ja');
  t.equal(turnOf([], [{ content: 'Ja' }])?.agentResponse, 'Ja');
  t.equal(turnOf([], [user('not me')])?.agentResponse, '');
  t.end();
});

void t.test('the user input is the last message with the role user', (t) => {
  t.equal(turnOf([user('One'), agent('1'), user('Two')])?.userInput, 'Two');
  t.equal(turnOf([user('One'), agent('Go on')])?.userInput, 'One');
  t.equal(turnOf([user('One'), { role: 'unknown', content: 'x' }])?.userInput, 'One');
  t.equal(turnOf([{ role: 'system', content: 'x' }])?.userInput, '');
  t.end();
});

void t.test('tool calls are read in every form', (t) => {
  const result = { ok: true };
  const expected = [{ name: 'f', arguments: { n: 1 }, result }];
  const parts = (...list: unknown[]): unknown => ({ role: 'assistant', parts: list });
  const call = { name: 'f', arguments: '{"n":1}' };
  const inner = { function: call, id: 'x', type: 'function' };
  const pairs: [unknown, unknown][] = [
    [makeToolCallMessage('f', { n: 1 }, 'x'), makeToolResultMessage(result, 'x')],
    [makeToolCallMessage('f', '{"n":1}', 'x'), makeToolResultMessage('{"ok":true}', 'x')],
    [makeToolCallMessage('f', { n: 1 }), makeToolResultMessage(result)],
    [
      parts({ type: 'tool_call', id: 'x', ...call }),
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'x', result }] },
    ],
    [
      parts({ type: 'tool-call', toolCallId: 'x', toolName: 'f', args: { n: 1 } }),
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'x', output: result }] },
    ],
    [
      parts({ type: 'tool_use', id: 'x', name: 'f', input: { n: 1 } }),
      { role: 'user', content: [{ type: 'tool_result', tool_call_id: 'x', content: result }] },
    ],
    [
      { role: 'assistant', content: null, tool_calls: [inner] },
      { role: 'tool', tool_call_id: 'x', content: '{"ok":true}' },
    ],
  ];
  for (const [callMessage, resultMessage] of pairs) {
    const turn = turnOf([user('Hi'), callMessage, resultMessage], [agent('Done')]);
    t.strictSame(turn?.toolCalls, expected, JSON.stringify(callMessage));
    t.equal(turn?.userInput, 'Hi');
  }
  t.end();
});

void t.test('arguments that are not JSON stay text', (t) => {
  const [call] = turnOf([], [makeToolCallMessage('f', '{broken', 'x')])?.toolCalls ?? [];
  t.equal(call?.arguments, '{broken');
  t.equal(turnOf([], [makeToolCallMessage('f', '42', 'x')])?.toolCalls[0]?.arguments, '42');
  t.end();
});

void t.test('a value that is not a message array has no messages', (t) => {
  for (const text of ['', 'null', '7', '[', 'hello', '"hello"', '[[]]', '[null,7,[]]']) {
    const turn = turnOf(text, text);
    t.match(turn, { userInput: '', agentResponse: '', toolCalls: [] }, text);
  }
  t.strictSame(readMessages(undefined), []);
  t.strictSame(readMessages(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), [], 'too deep');
  t.end();
});

void t.test('messages of any shape give a turn and never throw', (t) => {
  const seed = 'turns-1';
  const chance = seededRandom(seed);
  const good = JSON.stringify([
    user('Hi'),
    makeToolCallMessage('f', { n: 1 }, 'x'),
    makeToolResultMessage('r', 'x'),
    agent('Yes'),
  ]);
  const anyText = (): string =>
    chance.integer(0, 2) === 0 ? randomJson(chance) : damageJson(good, chance);
  for (let round = 0; round < atNight(3_000, 500); round++) {
    const spans = ['a', 'b', 'c'].map((id, index) =>
      makeStoredSpan({
        id,
        atMs: index,
        operation: chance.integer(0, 3) === 0 ? 'invoke_agent' : 'chat',
        input: anyText(),
        output: anyText(),
        attributes: { 'gen_ai.usage.input_tokens': anyText(), 'gen_ai.request.model': 7 },
      }),
    );
    const turns = buildTurns(spans);
    const isValid = turns.every(
      (turn) => typeof turn.userInput === 'string' && turn.inputTokens >= 0,
    );
    if (!isValid || turns.length === 0) t.fail(`round ${round} of seed ${seed}`);
  }
  t.end();
});
