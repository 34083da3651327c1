/** Tool loops that no single wrapper contains: one wrapper per model call, or one trace per model call. */
import t from 'tap';
import type { TracedTurn } from '../../../../src/service/turns/turn-types.ts';
import {
  agent,
  buildTurnsOf,
  makeToolCallMessage,
  makeToolResultMessage,
  makeToolLoop,
  user,
  type StoredSpanSketch,
} from '../../../support/traces/stored-span.ts';

const formatTurns = (turns: readonly TracedTurn[]): string[] =>
  turns.map(({ userInput, agentResponse, toolCalls }) => {
    const names = toolCalls.map(({ name }) => name);
    return `${userInput} > ${names.join()} > ${agentResponse}`;
  });

/** Returns a wrapper around each model call. */
function wrapEach(
  chats: readonly StoredSpanSketch[],
  copy: (chat: StoredSpanSketch) => Partial<StoredSpanSketch> = () => ({}),
): StoredSpanSketch[] {
  return chats.flatMap((chat) => {
    const id = `w${chat.id}`;
    const { trace, atMs } = chat;
    const wrapper = { id, operation: 'invoke_agent', forMs: 1500, ...copy(chat) };
    return [
      { ...chat, parent: id },
      { ...wrapper, ...(trace !== undefined && { trace }), ...(atMs !== undefined && { atMs }) },
    ];
  });
}

const nextTurn: StoredSpanSketch = {
  id: 'z',
  trace: '9',
  atMs: 9000,
  input: [user('And?')],
  output: [agent('So')],
};

void t.test('one wrapper per model call: those that continue a tool loop are one turn', (t) => {
  const expected = ['Where? > find,track > Here', 'And? >  > So'];
  for (const ids of [['x', 'y'], []]) {
    const chats = [...makeToolLoop(['t', 't', 't'], ids), nextTurn];
    t.strictSame(formatTurns(buildTurnsOf(wrapEach(chats))), expected);
    const withOutput = wrapEach(chats, ({ output }) => ({ output }));
    t.strictSame(formatTurns(buildTurnsOf(withOutput)), expected, 'wrappers with their own output');
    const withAll = wrapEach(chats, ({ input, output }) => ({ input, output }));
    t.strictSame(formatTurns(buildTurnsOf(withAll)), expected, 'wrappers that repeat all messages');
    const onlyWrappers = withAll.filter(({ operation }) => operation === 'invoke_agent');
    t.strictSame(formatTurns(buildTurnsOf(onlyWrappers)), expected, 'wrappers without model calls');
  }
  t.end();
});

void t.test('the latency of a loop of wrappers ends with the last one', (t) => {
  const [turn] = buildTurnsOf(wrapEach(makeToolLoop(['t', 't', 't'], ['x', 'y'])));
  t.equal(turn?.latencyMs, 5500);
  t.end();
});

void t.test('the last text of a loop is its response, even if an earlier wrapper has one', (t) => {
  const chats = makeToolLoop(['t', 't', 't'], ['x', 'y']);
  const turns = buildTurnsOf(
    wrapEach(chats, ({ id }) => (id === 'a' ? { output: [agent('One moment')] } : {})),
  );
  t.strictSame(formatTurns(turns), ['Where? > find,track > Here']);
  t.end();
});

void t.test('a wrapper with a new user message is a turn, although a tool loop waits', (t) => {
  const [first] = makeToolLoop(['t', 't', 't'], ['x', 'y']);
  const turns = buildTurnsOf(wrapEach([first ?? nextTurn, { ...nextTurn, trace: 't' }]));
  t.strictSame(formatTurns(turns), ['Where? > find > ', 'And? >  > So']);
  t.end();
});

/** Removes the call id from messages with a tool response, as some SDKs do. */
function withoutResponseIds(sketch: StoredSpanSketch): StoredSpanSketch {
  const input = JSON.parse(
    JSON.stringify(sketch.input, (_, value: unknown) => {
      const isResponse = (value as { type?: string } | null)?.type === 'tool_call_response';
      return isResponse ? { ...(value as object), id: undefined } : value;
    }),
  ) as unknown;
  return { ...sketch, input };
}

void t.test('a tool loop across traces is found by the ids of its calls', (t) => {
  const loop = makeToolLoop(['1', '2', '3'], ['x', 'y']).map(withoutResponseIds);
  const other = makeToolLoop(['4', '5', '6'], ['p', 'q']).map((chat) => ({
    ...withoutResponseIds(chat),
    id: `o${chat.id}`,
    atMs: (chat.atMs ?? 0) + 500,
  }));
  t.strictSame(formatTurns(buildTurnsOf([...loop, nextTurn])), [
    'Where? > find,track > Here',
    'And? >  > So',
  ]);
  t.strictSame(
    formatTurns(buildTurnsOf([...loop, ...other])),
    Array<string>(2).fill('Where? > find,track > Here'),
    'two concurrent loops with the same messages',
  );
  t.end();
});

void t.test('a tool loop across traces without ids is found by the messages it repeats', (t) => {
  const loop = makeToolLoop(['1', '2', '3'], []);
  t.strictSame(formatTurns(buildTurnsOf([...loop, nextTurn])), [
    'Where? > find,track > Here',
    'And? >  > So',
  ]);
  t.strictSame(formatTurns(buildTurnsOf(wrapEach(loop))), ['Where? > find,track > Here']);
  const [first, second] = loop;
  const unanswered = { ...first, id: 'a' };
  const later = [...(second?.input as object[]), user('Hello?'), makeToolResultMessage('late')];
  t.strictSame(
    formatTurns(
      buildTurnsOf([unanswered, { ...second, id: 'b', input: later, output: [agent('Yes')] }]),
    ),
    ['Where? > find > ', 'Hello? >  > Yes'],
    'not after another user message',
  );
  const foreign = [user('Who?'), makeToolCallMessage('f', {}), makeToolResultMessage('r')];
  t.strictSame(
    formatTurns(buildTurnsOf([unanswered, { id: 'b', trace: '8', atMs: 2000, input: foreign }])),
    ['Where? > find > ', 'Who? > f > '],
    'not if the messages differ',
  );
  t.end();
});
