import t from 'tap';
import type { TracedTurn } from '../../../../src/service/turns/turn-types.ts';
import { buildTurns } from '../../../../src/service/turns/turns.ts';
import {
  agent,
  buildTurnsOf,
  makeToolCallMessage,
  makeToolResultMessage,
  makeStoredSpan,
  user,
  type StoredSpanSketch,
} from '../../../support/traces/stored-span.ts';

const formatTurns = (turns: readonly TracedTurn[]): string[] =>
  turns.map(({ userInput, agentResponse }) => `${userInput} > ${agentResponse}`);

const invoke = (sketch: StoredSpanSketch): StoredSpanSketch => ({
  operation: 'invoke_agent',
  ...sketch,
});
const tool = (sketch: StoredSpanSketch): StoredSpanSketch => ({
  operation: 'execute_tool',
  ...sketch,
});
const tokens = (count: number): Record<string, unknown> => ({
  'gen_ai.usage.input_tokens': count,
  'gen_ai.usage.output_tokens': count,
});

/** A turn as the AI SDK sends it: agent > step > model call and tool. Each span includes the usage of its children. */
function aiSdkTurn(): StoredSpanSketch[] {
  const question = [user('Where is it?')];
  const callMessage = makeToolCallMessage('find', { n: 1 }, 'x');
  return [
    {
      id: 'd',
      parent: 'c',
      atMs: 20,
      forMs: 900,
      input: question,
      output: [callMessage],
      attributes: tokens(10),
    },
    tool({
      id: 'e',
      parent: 'c',
      atMs: 1000,
      forMs: 50,
      attributes: {
        'gen_ai.tool.name': 'find',
        'gen_ai.tool.call.id': 'x',
        'gen_ai.tool.call.arguments': '{"n":1}',
        'gen_ai.tool.call.result': '{"at":"home"}',
      },
    }),
    { id: 'c', parent: 'a', operation: 'agent_step', atMs: 10, attributes: tokens(10) },
    {
      id: 'g',
      parent: 'f',
      atMs: 1200,
      input: [...question, callMessage, makeToolResultMessage({ at: 'home' }, 'x')],
      output: [agent('At home')],
      attributes: tokens(20),
    },
    { id: 'f', parent: 'a', operation: 'agent_step', atMs: 1100, attributes: tokens(20) },
    invoke({
      id: 'a',
      forMs: 2500,
      input: question,
      output: [agent('At home')],
      attributes: tokens(30),
    }),
  ];
}

void t.test('an AI SDK agent with its steps, calls, and tools is one turn', (t) => {
  const [turn, ...more] = buildTurnsOf(aiSdkTurn());
  t.strictSame(more, []);
  t.match(turn, {
    userInput: 'Where is it?',
    agentResponse: 'At home',
    inputTokens: 30,
    outputTokens: 30,
    latencyMs: 2500,
  });
  t.strictSame(turn?.toolCalls, [{ name: 'find', arguments: { n: 1 }, result: { at: 'home' } }]);
  t.end();
});

void t.test('a wrapper without its own text or usage takes those of its steps', (t) => {
  const [turn] = buildTurnsOf(
    aiSdkTurn().map((span) => (span.id === 'a' ? invoke({ id: 'a', forMs: 2500 }) : span)),
  );
  t.match(turn, { userInput: 'Where is it?', agentResponse: 'At home', inputTokens: 30 });
  t.end();
});

void t.test('tool calls repeated by a wrapper are listed once', (t) => {
  const output = [
    makeToolCallMessage('find', { n: 1 }, 'x'),
    makeToolResultMessage({ at: 'home' }, 'x'),
    agent('At home'),
  ];
  const [turn] = buildTurnsOf(
    aiSdkTurn().map((span) => (span.id === 'a' ? { ...span, output } : span)),
  );
  t.equal(turn?.toolCalls.length, 1);
  t.end();
});

void t.test('a single wrapper span gives a complete turn', (t) => {
  const [turn] = buildTurnsOf([
    invoke({
      id: 'a',
      input: [user('Hi'), makeToolCallMessage('f', {}), makeToolResultMessage('r')],
      output: [makeToolCallMessage('g', [1], 'y'), agent('Hello')],
      attributes: { ...tokens(3), 'gen_ai.request.model': 'm' },
    }),
  ]);
  t.match(turn, { userInput: 'Hi', agentResponse: 'Hello', inputTokens: 3, models: ['m'] });
  t.strictSame(turn?.toolCalls, [
    { name: 'f', arguments: {}, result: 'r' },
    { name: 'g', arguments: [1], result: null },
  ]);
  t.end();
});

void t.test('a nested agent belongs to the outer one, with all its calls', (t) => {
  const turns = buildTurnsOf([
    invoke({ id: 'a', forMs: 9000, input: [user('Book')], output: [agent('Booked')] }),
    tool({ id: 'b', parent: 'a', atMs: 100, forMs: 5000, name: 'execute_tool delegate' }),
    invoke({
      id: 'c',
      parent: 'b',
      atMs: 200,
      forMs: 4000,
      input: [user('inner')],
      output: [agent('inner')],
    }),
    { id: 'd', parent: 'c', atMs: 300, input: [user('inner')], output: [agent('inner')] },
    tool({ id: 'e', parent: 'd', atMs: 400, name: 'execute_tool look' }),
  ]);
  t.strictSame(formatTurns(turns), ['Book > Booked']);
  t.strictSame(
    turns[0]?.toolCalls.map(({ name }) => name),
    ['delegate', 'look'],
  );
  t.end();
});

void t.test('steps whose parents are missing belong to the wrapper of their trace', (t) => {
  const turns = buildTurnsOf([
    invoke({ id: 'a', parent: 'lost', forMs: 3000, input: [user('One')] }),
    { id: 'b', parent: 'missing', atMs: 100, output: [agent('1')] },
    tool({ id: 'c', parent: 'missing', atMs: 1500, name: 'execute_tool f' }),
    invoke({ id: 'd', parent: 'also-missing', atMs: 200 }),
    invoke({ id: 'e', parent: 'lost', atMs: 5000, forMs: 3000, input: [user('Two')] }),
    { id: 'f', atMs: 5100, output: [agent('2')] },
    { id: 'g', trace: 'other', atMs: 5200, input: [user('Beside')] },
  ]);
  t.strictSame(formatTurns(turns), ['One > 1', 'Two > 2', 'Beside > ']);
  t.strictSame(
    turns[0]?.toolCalls.map(({ name }) => name),
    ['f'],
  );
  t.end();
});

void t.test('ignored spans show which wrapper a step belongs to, whenever it runs', (t) => {
  const spans = [
    invoke({ id: 'a', forMs: 100, input: [user('One')] }),
    invoke({ id: 'b', atMs: 50, forMs: 100, input: [user('Two')] }),
    { id: 'c', parent: 'i2', atMs: 500, output: [agent('1')] },
    { id: 'd', parent: 'i3', atMs: 600, output: [agent('2')] },
    invoke({ id: 'e', parent: 'root', atMs: 700, forMs: 900, input: [user('Three')] }),
    { id: 'f', parent: 'i4', atMs: 800, input: [user('Title')], output: [agent('T')] },
  ].map(makeStoredSpan);
  const links = [
    ['i1', 'a'],
    ['i2', 'i1'],
    ['i3', 'b'],
    ['i4', 'root'],
  ].map(([spanId = '', parentSpanId = '']) => ({ traceId: 't', spanId, parentSpanId }));
  t.strictSame(formatTurns(buildTurns(spans, links)), [
    'One > 1',
    'Two > 2',
    'Three > ',
    'Title > T',
  ]);
  const cycle = [...links, { traceId: 't', spanId: 'a', parentSpanId: 'i2' }];
  t.strictSame(formatTurns(buildTurns(spans, cycle))[0], 'One > 1', 'a stored span comes first');
  t.end();
});

void t.test('if two wrappers start at the same time, the longer one contains the other', (t) => {
  const turns = buildTurnsOf([
    invoke({ id: 'a', parent: 'missing', input: [user('inner')] }),
    invoke({ id: 'b', forMs: 3000, input: [user('outer')] }),
  ]);
  t.strictSame(formatTurns(turns), ['outer > ']);
  t.end();
});

void t.test('sibling wrappers are separate turns', (t) => {
  const siblings = buildTurnsOf([
    invoke({ id: 'a', parent: 'root', forMs: 3000, input: [user('One')] }),
    invoke({ id: 'b', parent: 'root', atMs: 100, input: [user('Two')] }),
  ]);
  t.strictSame(formatTurns(siblings), ['One > ', 'Two > ']);
  const roots = buildTurnsOf([
    invoke({ id: 'a', forMs: 3000, input: [user('One')] }),
    invoke({ id: 'b', atMs: 100, input: [user('Two')] }),
  ]);
  t.strictSame(formatTurns(roots), ['One > ', 'Two > ']);
  const twins = ['a', 'b'].map((id) => invoke({ id, parent: `lost-${id}`, input: [user(id)] }));
  t.strictSame(formatTurns(buildTurnsOf(twins)), ['a > ', 'b > ']);
  t.end();
});

void t.test(
  'a step may end up to 1 ms after its wrapper, because SDKs round start times down',
  (t) => {
    const inside = (endsLateByMs: number): string[] =>
      formatTurns(
        buildTurnsOf([
          invoke({ id: 'a', parent: 'lost', forMs: 100, input: [user('Hi')] }),
          {
            id: 'b',
            parent: 'missing',
            atMs: 1,
            forMs: 99 + endsLateByMs,
            output: [agent('Hello')],
          },
        ]),
      );
    t.strictSame(inside(0.999), ['Hi > Hello']);
    t.strictSame(inside(1), ['Hi > Hello']);
    t.strictSame(inside(1.001), ['Hi > ', ' > Hello']);
    const sameStart = buildTurnsOf([
      invoke({ id: 'a', forMs: 100, input: [user('outer')] }),
      invoke({ id: 'b', parent: 'missing', forMs: 100.9, input: [user('inner')] }),
    ]);
    t.strictSame(formatTurns(sameStart), ['outer > '], 'a root contains the longer one');
    t.end();
  },
);

void t.test('chained model calls that overlap by up to 1 ms are consecutive', (t) => {
  const chain = (first: number, second: number): number =>
    buildTurnsOf([
      { id: 'a', forMs: first, input: [user('One')], output: [agent('1')] },
      { id: 'b', parent: 'a', atMs: 10, forMs: second, input: [user('Two')], output: [agent('2')] },
    ]).length;
  t.equal(chain(10.9, 20), 2);
  t.equal(chain(11.1, 20), 1, 'a longer overlap is the same call recorded twice');
  t.equal(chain(10.9, 0.5), 1, 'a short call inside another one, too');
  t.end();
});

void t.test('a model call nested in a model call is the same call recorded twice', (t) => {
  const spans = ['a', 'b'].map((id) => ({
    id,
    ...(id === 'b' && { parent: 'a' }),
    input: [user('Hi')],
    output: [makeToolCallMessage('f', {}), agent('Hello')],
    attributes: tokens(5),
  }));
  const [turn, ...more] = buildTurnsOf(spans);
  t.strictSame(more, []);
  t.match(turn, { inputTokens: 5, toolCalls: [{ name: 'f' }] });
  t.equal(turn?.toolCalls.length, 1);
  t.end();
});

void t.test('children may start before their parents, and parent cycles are tolerated', (t) => {
  const early = buildTurnsOf([
    { id: 'b', parent: 'a', atMs: -5, output: [agent('Hello')] },
    invoke({ id: 'a', input: [user('Hi')] }),
  ]);
  t.strictSame(formatTurns(early), ['Hi > Hello']);
  const cycle = buildTurnsOf([
    { id: 'a', parent: 'b', input: [user('Hi')] },
    { id: 'b', parent: 'a', atMs: 10 },
    tool({ id: 'c', parent: 'c', atMs: 20 }),
  ]);
  t.ok(cycle.length > 0);
  t.end();
});

void t.test(
  'strands: structured parts, tool results with the role user, and calls under a wrapper',
  (t) => {
    const question = user('Weather?');
    const callMessage = makeToolCallMessage('weather', { city: 'Bern' }, 'w1');
    const turns = buildTurnsOf([
      {
        id: 'b',
        parent: 'x',
        atMs: 10,
        input: [question],
        output: [{ ...callMessage, finish_reason: 'toolUse' }],
      },
      tool({
        id: 'c',
        parent: 'x',
        atMs: 1100,
        attributes: {
          'gen_ai.tool.name': 'weather',
          'gen_ai.tool.call.id': 'w1',
          'gen_ai.tool.call.arguments': { city: 'Bern' },
        },
      }),
      {
        id: 'd',
        parent: 'x',
        atMs: 1500,
        input: [question, callMessage, makeToolResultMessage([{ text: 'sunny' }], 'w1', 'user')],
        output: [{ ...agent('Sunny'), finish_reason: 'endTurn' }],
      },
      invoke({ id: 'a', forMs: 3000, input: [question], output: [agent('Sunny')] }),
    ]);
    t.strictSame(formatTurns(turns), ['Weather? > Sunny']);
    t.strictSame(turns[0]?.toolCalls, [
      { name: 'weather', arguments: { city: 'Bern' }, result: [{ text: 'sunny' }] },
    ]);
    t.end();
  },
);

void t.test('ten thousand spans are grouped quickly, however they are nested', (t) => {
  const count = 10_000;
  const chain = Array.from({ length: count }, (_, n) => ({
    id: `${n}`,
    parent: `${n - 1}`,
    atMs: n,
    operation: 'plan',
  }));
  t.strictSame(buildTurnsOf(chain), []);
  const wrappers = Array.from({ length: count }, (_, n) =>
    invoke({ id: `${n}`, parent: `p${n}`, atMs: n, forMs: 1 }),
  );
  const lost = Array.from({ length: count }, (_, n) => ({
    id: `c${n}`,
    parent: 'missing',
    atMs: n,
    forMs: 50,
  }));
  t.equal(buildTurnsOf([...wrappers, ...lost]).length, 2 * count);
  const calls = Array.from({ length: 5000 }, (_, n) =>
    tool({ id: `t${n}`, parent: '0', name: `f${n}` }),
  );
  t.equal(buildTurnsOf([...wrappers.slice(0, 1), ...calls])[0]?.toolCalls.length, 1000, 'bounded');
  t.end();
});
