/** What turns lack without anyone noticing: texts, names of tools, and messages in one text. */
import t from 'tap';
import {
  describeTurnLosses,
  findTurnLosses,
  type TurnLoss,
} from '../../../../src/service/turns/turn-losses.ts';
import type { ToolCall, TracedTurn } from '../../../../src/service/turns/turn-types.ts';
import {
  agent,
  buildTurnsOf,
  makeToolCallMessage,
  user,
  type StoredSpanSketch,
} from '../../../support/traces/stored-span.ts';

const complete: TracedTurn = {
  sequence: 1,
  userInput: 'SECRET question',
  agentResponse: 'SECRET answer',
  toolCalls: [],
  models: [],
  inputTokens: 0,
  outputTokens: 0,
  failed: false,
  startedAtMs: 0,
  latencyMs: 0,
};
const call: ToolCall = { name: 'find', arguments: { id: 1 }, result: null };

const listKinds = (...turns: Partial<TracedTurn>[]): string[] =>
  findTurnLosses(turns.map((turn, index) => ({ ...complete, sequence: index + 1, ...turn }))).map(
    ({ sequence, kind }) => `${sequence} ${kind}`,
  );

void t.test('a turn has no loss if its text and tool calls are complete', (t) => {
  const rows: Partial<TracedTurn>[] = [
    {},
    { toolCalls: [call, { ...call, arguments: {}, result: null }] },
    { toolCalls: [{ ...call, arguments: null, result: 'found' }] },
    { failed: true, agentResponse: '' },
    { userInput: '', agentResponse: '' },
    { userInput: '[1, 2]' },
    { userInput: '[{"id": 1}, {"id": 2}]' },
    { userInput: '[{"type": "circle"}]' },
    { userInput: '[{"role": "user"' },
    { userInput: 'Is [{"role":"user","content":"x"}] valid?' },
    { agentResponse: '[{"role":"user","content":"x"}]' },
  ];
  for (const turn of rows) t.strictSame(listKinds(turn), [], JSON.stringify(turn));
  t.strictSame(findTurnLosses([]), []);
  t.end();
});

void t.test('each kind of loss is listed with the number of its turn', (t) => {
  const messages = JSON.stringify([{ role: 'user', content: 'Hello' }]);
  const items = JSON.stringify([
    { role: 'user', content: 'Hello' },
    { type: 'function_call', name: 'find', arguments: '{}' },
  ]);
  t.strictSame(
    listKinds(
      {},
      { userInput: '' },
      { agentResponse: '' },
      { userInput: '', agentResponse: '', toolCalls: [call] },
      { toolCalls: [call, { ...call, name: '' }] },
      { userInput: messages },
      { userInput: items, agentResponse: '', toolCalls: [{ ...call, name: '' }] },
      { toolCalls: [{ name: 'find', arguments: null, result: null }] },
    ),
    [
      '2 turn_without_user_text',
      '3 turn_without_agent_text',
      '5 unnamed_tool_call',
      '6 messages_as_text',
      '7 messages_as_text',
      '8 tool_call_without_details',
    ],
  );
  t.end();
});

void t.test('losses in spans: a tool without a name, and a wrapper without a question', (t) => {
  const listOf = (...spans: StoredSpanSketch[]): string[] =>
    findTurnLosses(buildTurnsOf(spans)).map(({ kind }) => kind);
  const turn = { input: [user('Hello')], output: [agent('Hi')] };
  const tool = { id: 'b', parent: 'a', operation: 'execute_tool' };
  const result = { attributes: { 'gen_ai.tool.call.result': 'x' } };
  t.strictSame(listOf({ id: 'a', ...turn }), []);
  for (const name of ['execute_tool', 'execute_tool ']) {
    t.strictSame(
      listOf({ id: 'a', operation: 'invoke_agent', ...turn }, { ...tool, ...result, name }),
      ['unnamed_tool_call'],
      name,
    );
  }
  t.strictSame(
    listOf({ id: 'a', ...turn, output: [makeToolCallMessage('', { a: 1 }), agent('Hi')] }),
    ['unnamed_tool_call'],
  );
  t.strictSame(listOf({ id: 'a', output: [agent('Hi')] }), ['turn_without_user_text']);
  t.end();
});

void t.test('log entries: one per kind, with the first turn and a count, and no text', (t) => {
  const losses: TurnLoss[] = [
    { kind: 'turn_without_user_text', sequence: 2 },
    { kind: 'unnamed_tool_call', sequence: 3 },
    { kind: 'turn_without_user_text', sequence: 5 },
  ];
  const entries = describeTurnLosses('conv-1', losses);
  t.match(entries, [
    {
      level: 'warn',
      code: 'turn_without_user_text',
      message: /gen_ai\.input\.messages/,
      about: { conversation_id: 'conv-1', turn: 2, count: 2 },
    },
    {
      level: 'warn',
      code: 'unnamed_tool_call',
      message: /gen_ai\.tool\.name/,
      about: { conversation_id: 'conv-1', turn: 3, count: 1 },
    },
  ]);
  t.equal(entries.length, 2);
  t.strictSame(describeTurnLosses('conv-1', []), []);
  const [details] = describeTurnLosses('c', [{ kind: 'tool_call_without_details', sequence: 1 }]);
  t.equal(details?.level, 'info', 'the capture of tool content may be off on purpose');
  t.end();
});
