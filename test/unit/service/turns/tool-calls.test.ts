import t from 'tap';
import {
  agent,
  buildTurnsOf,
  makeToolCallMessage,
  makeToolResultMessage,
  makeToolLoop,
  user,
  type StoredSpanSketch,
} from '../../../support/traces/stored-span.ts';

void t.test('execute_tool spans and messages are merged into one call', (t) => {
  const [first, second, third] = makeToolLoop(['t', 't', 't'], ['x', 'y']);
  const tool = (
    id: string,
    attributes: Record<string, unknown>,
    atMs: number,
  ): StoredSpanSketch => ({
    id,
    operation: 'execute_tool',
    name: 'execute_tool find',
    atMs,
    forMs: 10,
    attributes,
  });
  const toolAttributes = { 'gen_ai.tool.name': 'find', 'gen_ai.tool.call.id': 'x' };
  const turns = buildTurnsOf([
    { ...first, id: 'a' },
    tool('p', { ...toolAttributes, 'gen_ai.tool.call.result': '{"ok":9}' }, 1500),
    { ...second, id: 'b' },
    tool('q', { 'gen_ai.tool.name': 'track', 'gen_ai.tool.call.arguments': { n: 7 } }, 3500),
    tool('r', { 'gen_ai.tool.name': 'log' }, 3600),
    { ...third, id: 'c' },
  ]);
  t.equal(turns.length, 1);
  t.strictSame(turns[0]?.toolCalls, [
    { name: 'find', arguments: { n: 1 }, result: { ok: 9 } },
    { name: 'track', arguments: { n: 7 }, result: { ok: 2 } },
    { name: 'log', arguments: null, result: null },
  ]);
  t.end();
});

void t.test('tool results without ids match the calls of the same name in order', (t) => {
  const tool = { operation: 'execute_tool', name: 'execute_tool f', forMs: 10 };
  const result = (text: string): Record<string, unknown> => ({ 'gen_ai.tool.call.result': text });
  const [turn] = buildTurnsOf([
    {
      id: 'a',
      input: [user('Hi')],
      output: [makeToolCallMessage('f', [1]), makeToolCallMessage('f', [2])],
    },
    { ...tool, id: 'b', atMs: 1500, attributes: result('one') },
    { ...tool, id: 'c', atMs: 1600, parent: 'a', attributes: result('two') },
  ]);
  t.strictSame(turn?.toolCalls, [
    { name: 'f', arguments: [1], result: 'one' },
    { name: 'f', arguments: [2], result: 'two' },
  ]);
  t.end();
});

void t.test('two spans of one call are one call', (t) => {
  const attributes = { 'gen_ai.tool.name': 'f', 'gen_ai.tool.call.id': 'x' };
  const tool = { operation: 'execute_tool', attributes };
  const [turn] = buildTurnsOf([
    { id: 'a', input: [user('Hi')] },
    { ...tool, id: 'b', atMs: 100 },
    { ...tool, id: 'c', atMs: 110 },
  ]);
  t.equal(turn?.toolCalls.length, 1);
  t.end();
});

void t.test('calls are in the order they were made, regardless of their source', (t) => {
  const [turn] = buildTurnsOf([
    { id: 'a', input: [user('Hi')], output: [makeToolCallMessage('late', {})] },
    { id: 'b', parent: 'a', operation: 'execute_tool', name: 'execute_tool early', atMs: 100 },
  ]);
  t.strictSame(
    turn?.toolCalls.map(({ name }) => name),
    ['early', 'late'],
  );
  t.end();
});

void t.test('a tool span is assigned to its turn by parent, by id, by trace, or by time', (t) => {
  const chats: StoredSpanSketch[] = [
    { id: 'a', trace: '1', input: [user('One')] },
    {
      id: 'b',
      trace: '2',
      atMs: 5000,
      input: [user('Two')],
      output: [makeToolCallMessage('f', {}, 'x')],
    },
    { id: 'c', trace: '3', atMs: 9000, input: [user('Three')] },
  ];
  const owner = (sketch: Partial<StoredSpanSketch>): string | undefined => {
    const tool = { id: 'z', operation: 'execute_tool', name: 'execute_tool f', ...sketch };
    return buildTurnsOf([tool, ...chats]).find(
      ({ toolCalls }) => toolCalls.length > 0 && toolCalls[0]?.name === (sketch.name ?? 'f'),
    )?.userInput;
  };
  const other = { name: 'g' };
  t.equal(owner({ ...other, trace: '1', parent: 'a', atMs: 9999 }), 'One', 'parent');
  t.equal(owner({ trace: '9', attributes: { 'gen_ai.tool.call.id': 'x' } }), 'Two', 'id');
  t.equal(owner({ ...other, trace: '3', atMs: 1 }), 'Three', 'trace');
  t.equal(owner({ ...other, trace: '9', atMs: 1000 }), 'One', 'time');
  t.equal(owner({ ...other, trace: '9', atMs: -5 }), 'One', 'before all');
  t.equal(owner({ ...other, trace: '9', atMs: 99_999 }), 'Three', 'after all');
  t.end();
});

void t.test('calls whose results are in the same output are complete', (t) => {
  const output = [
    makeToolCallMessage('search', '{"q":"x"}', 's'),
    makeToolResultMessage({ hits: 3 }, 's', 'assistant'),
    { role: 'assistant', parts: [{ type: 'text', content: 'Found 3' }] },
  ];
  const [turn] = buildTurnsOf([{ id: 'a', input: [user('Find x')], output }]);
  t.match(turn, {
    agentResponse: 'Found 3',
    toolCalls: [{ name: 'search', arguments: { q: 'x' }, result: { hits: 3 } }],
  });
  t.end();
});

void t.test('calls of earlier turns in the history do not belong to this turn', (t) => {
  const input = [
    user('One'),
    makeToolCallMessage('f', {}, 'x'),
    makeToolResultMessage('r', 'x'),
    agent('1'),
    user('Two'),
  ];
  t.strictSame(buildTurnsOf([{ id: 'a', input, output: [agent('2')] }])[0]?.toolCalls, []);
  t.end();
});
