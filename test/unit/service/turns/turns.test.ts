import t from 'tap';
import type { TracedTurn } from '../../../../src/service/turns/turn-types.ts';
import { buildTurns } from '../../../../src/service/turns/turns.ts';
import { START_MS } from '../../../support/traces/span-sketch.ts';
import {
  agent,
  buildTurnsOf,
  makeToolCallMessage,
  makeToolResultMessage,
  makeToolLoop,
  system,
  user,
  type StoredSpanSketch,
} from '../../../support/traces/stored-span.ts';

/** Formats each turn as one line. */
function formatTurns(turns: readonly TracedTurn[]): string[] {
  return turns.map(({ sequence, userInput, agentResponse }) => {
    return `${sequence} ${userInput} > ${agentResponse}`;
  });
}

const usage = (input: unknown, output: unknown): Record<string, unknown> => ({
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
});

void t.test('a chat span becomes a turn with all of its data', (t) => {
  const attributes = {
    ...usage(12, 34),
    'gen_ai.request.model': 'requested-model',
    'gen_ai.response.model': 'response-model',
  };
  const [turn, ...more] = buildTurnsOf([
    { id: 'a', atMs: 500, forMs: 1250, input: [user('Hi')], output: [agent('Hello')], attributes },
  ]);
  t.strictSame(more, []);
  t.strictSame(turn, {
    sequence: 1,
    userInput: 'Hi',
    agentResponse: 'Hello',
    toolCalls: [],
    models: ['response-model'],
    inputTokens: 12,
    outputTokens: 34,
    failed: false,
    startedAtMs: START_MS + 500,
    latencyMs: 1250,
  });
  t.end();
});

void t.test('no turns come from an empty list or from spans that make no turn', (t) => {
  t.strictSame(buildTurns([]), []);
  const operations = ['execute_tool', 'embeddings', 'agent_step'];
  t.strictSame(buildTurnsOf(operations.map((operation) => ({ id: operation, operation }))), []);
  t.end();
});

void t.test('turns are sorted by start, history, and end, regardless of arrival', (t) => {
  const spans: StoredSpanSketch[] = [
    { id: 'd', trace: '4', atMs: 10, input: [user('last')] },
    { id: 'a', trace: '1', forMs: 900, input: [user('1st'), agent('1'), user('third')] },
    { id: 'b', trace: '2', input: [user('2nd')] },
    { id: 'c', trace: '3', forMs: 900, input: [user('1st')] },
  ];
  const expected = ['1 1st > ', '2 third > ', '3 2nd > ', '4 last > '];
  t.strictSame(formatTurns(buildTurnsOf(spans)), expected);
  t.strictSame(formatTurns(buildTurnsOf(spans.toReversed())), expected);
  t.end();
});

void t.test('turns that show nothing are left out if others have text', (t) => {
  const empty = { operation: 'invoke_agent', atMs: 5000 };
  const chat = { id: 'a', input: [user('Hi')], output: [agent('Hello')] };
  const failed = { id: 'd', trace: 'u', failed: true, atMs: 9000 };
  t.strictSame(formatTurns(buildTurnsOf([chat, { id: 'b', ...empty }, { id: 'c', trace: 'v' }])), [
    '1 Hi > Hello',
  ]);
  t.equal(buildTurnsOf([chat, failed]).length, 2, 'a failure is worth showing');
  t.equal(
    buildTurnsOf([{ id: 'b', ...empty }, failed]).length,
    2,
    'content is not captured at all',
  );
  t.end();
});

void t.test('a chat span whose parent chat span already ended is a separate turn', (t) => {
  const chain = (parent: string | undefined, second: number): StoredSpanSketch[] => [
    {
      id: 'a',
      ...(parent && { parent }),
      forMs: 100,
      input: [user('One')],
      output: [agent('1')],
    },
    { id: 'b', parent: 'a', atMs: second, forMs: 10, input: [user('Two')], output: [agent('2')] },
  ];
  t.strictSame(formatTurns(buildTurnsOf(chain(undefined, 5_000))), ['1 One > 1', '2 Two > 2']);
  t.strictSame(
    formatTurns(buildTurnsOf(chain('b', 5_000))),
    ['1 One > 1', '2 Two > 2'],
    'also in a cycle',
  );
  t.equal(
    buildTurnsOf(chain(undefined, 50)).length,
    1,
    'a nested span is the same call recorded twice',
  );
  t.end();
});

void t.test('history repeated in every span appears once', (t) => {
  const first = [system('Be kind'), user('One')];
  const turns = buildTurnsOf([
    { id: 'a', trace: '1', input: first, output: [agent('1')] },
    {
      id: 'b',
      trace: '2',
      atMs: 10,
      input: [...first, agent('1'), user('Two')],
      output: [agent('2')],
    },
  ]);
  t.strictSame(formatTurns(turns), ['1 One > 1', '2 Two > 2']);
  t.end();
});

const bothCalls = [
  { name: 'find', arguments: { n: 1 }, result: { ok: 1 } },
  { name: 'track', arguments: { n: 2 }, result: { ok: 2 } },
];

void t.test('a tool loop is one turn, and each of its calls is listed once', (t) => {
  const cases: { traces: [string, string, string]; ids: string[] }[] = [
    { traces: ['t', 't', 't'], ids: ['x', 'y'] },
    { traces: ['t', 't', 't'], ids: [] },
    { traces: ['t', 't', 't'], ids: ['call_0', 'call_0'] },
    { traces: ['1', '2', '3'], ids: ['x', 'y'] },
  ];
  for (const { traces, ids } of cases) {
    const name = `${traces.join('')} ${ids.join()}`;
    const turns = buildTurnsOf(makeToolLoop(traces, ids));
    t.strictSame(formatTurns(turns), ['1 Where? > Here'], name);
    t.strictSame(turns[0]?.toolCalls, bothCalls, name);
    t.equal(turns[0]?.latencyMs, 5000, 'until the end of the last response');
  }
  t.end();
});

void t.test('a tool loop sums its tokens and names its models once', (t) => {
  const models = ['m', 'n', 'm'];
  const spans = makeToolLoop(['t', 't', 't'], ['x', 'y']).map((span, index) => ({
    ...span,
    attributes: { ...usage(10, '5'), 'gen_ai.request.model': models[index] },
  }));
  t.match(buildTurnsOf(spans), [{ inputTokens: 30, outputTokens: 15, models: ['m', 'n'] }]);
  t.end();
});

void t.test('two tool loops in one trace are two turns', (t) => {
  const [first, , last] = makeToolLoop(['t', 't', 't'], ['x', 'y']);
  const turns = buildTurnsOf([
    { ...first, id: 'a' },
    { ...last, id: 'b', atMs: 2000 },
    { id: 'c', atMs: 4000, input: [user('And?')], output: [makeToolCallMessage('find', {}, 'z')] },
    {
      id: 'd',
      atMs: 6000,
      input: [user('And?'), makeToolCallMessage('find', {}, 'z'), makeToolResultMessage(0, 'z')],
      output: [agent('So')],
    },
  ]);
  t.strictSame(formatTurns(turns), ['1 Where? > Here', '2 And? > So']);
  t.end();
});

void t.test("a tool loop ends with the agent's response", (t) => {
  const turns = buildTurnsOf([
    ...makeToolLoop(['t', 't', 't'], ['x', 'y']),
    {
      id: 'd',
      atMs: 9000,
      input: [user('Two'), makeToolResultMessage('r', 'unknown')],
      output: [agent('2')],
    },
  ]);
  t.strictSame(formatTurns(turns), ['1 Where? > Here', '2 Two > 2']);
  t.end();
});

void t.test('a tool response without a preceding tool call starts a turn', (t) => {
  const turns = buildTurnsOf([
    { id: 'a', input: [user('One')], output: [agent('1')] },
    {
      id: 'b',
      atMs: 2000,
      input: [user('Two'), makeToolCallMessage('f', {}, 'x'), makeToolResultMessage('r', 'x')],
      output: [agent('2')],
    },
  ]);
  t.strictSame(formatTurns(turns), ['1 One > 1', '2 Two > 2']);
  t.strictSame(turns[1]?.toolCalls, [{ name: 'f', arguments: {}, result: 'r' }]);
  t.end();
});

void t.test('if tool calls are not recorded, the finish reason shows that there were any', (t) => {
  for (const reasons of [['tool_calls'], '["tool_calls"]', 'tool_calls', ['stop', 'toolUse']]) {
    const attributes = { 'gen_ai.response.finish_reasons': reasons };
    const turns = buildTurnsOf([
      { id: 'a', input: [user('Hi')], attributes },
      { id: 'b', atMs: 2000, input: [makeToolResultMessage('r', 'x')], output: [agent('Done')] },
    ]);
    t.strictSame(formatTurns(turns), ['1 Hi > Done'], JSON.stringify(reasons));
  }
  t.end();
});

void t.test('a tool response may have the role user, but not next to text', (t) => {
  const start = { id: 'a', input: [user('Hi')], output: [makeToolCallMessage('f', {}, 'x')] };
  const next = { id: 'b', atMs: 2000, output: [agent('Done')] };
  const asUser = buildTurnsOf([
    start,
    { ...next, input: [user('Hi'), makeToolResultMessage('r', 'x', 'user')] },
  ]);
  t.strictSame(formatTurns(asUser), ['1 Hi > Done']);
  const mixed = {
    role: 'user',
    parts: [...(makeToolResultMessage('r', 'x')['parts'] as []), { type: 'text', content: 'Wait' }],
  };
  t.strictSame(formatTurns(buildTurnsOf([start, { ...next, input: [user('Hi'), mixed] }])), [
    '1 Hi > ',
    '2 Wait > Done',
  ]);
  t.end();
});

void t.test('a span with status ERROR marks its own turn as failed and no other', (t) => {
  const spans: StoredSpanSketch[] = [
    { id: 'a', trace: '1', operation: 'invoke_agent', forMs: 5000 },
    { id: 'b', trace: '1', parent: 'a', atMs: 10 },
    { id: 'c', trace: '1', parent: 'b', atMs: 20, operation: 'execute_tool' },
    { id: 'd', trace: '2', atMs: 9000 },
  ];
  for (const { id } of spans) {
    const turns = buildTurnsOf(spans.map((span) => ({ ...span, failed: span.id === id })));
    t.strictSame(
      turns.map(({ failed }) => failed),
      id === 'd' ? [false, true] : [true, false],
      id,
    );
  }
  t.end();
});
