/**
 * Turns do not depend on the order in which spans arrive, even if they start at the same time, or so
 * close together that the clocks of hosts may be wrong.
 */
import t from 'tap';
import { seededRandom } from '../../../../src/platform/random.ts';
import { buildTurns } from '../../../../src/service/turns/turns.ts';
import {
  agent,
  makeStoredSpan,
  makeToolCallMessage,
  makeToolResultMessage,
  system,
  user,
  type StoredSpanSketch,
} from '../../../support/traces/stored-span.ts';
import { generateConversation, shuffle } from '../../../support/traces/turn-shapes.ts';

void t.test('any order of arrival gives the same turns: generated conversations', (t) => {
  for (let round = 0; round < 300; round += 1) {
    const random = seededRandom(`order-${round}`);
    const { spans, turns: expected } = generateConversation(random);
    const kept = spans.filter(({ operation }) => operation !== '').map(makeStoredSpan);
    const inOrder = buildTurns(kept);
    for (let order = 0; order < 4; order += 1) {
      const turns = buildTurns(shuffle(kept, random));
      if (JSON.stringify(turns) !== JSON.stringify(inOrder)) t.fail(`round ${round}`);
    }
    // Without the ignored spans, steps can't be assigned to a wrapper that has ended.
    if (kept.length < spans.length) continue;
    const lines = inOrder.map(({ userInput, toolCalls, agentResponse }) =>
      [userInput, toolCalls.map(({ name }) => name).join(), agentResponse].join(' > '),
    );
    t.strictSame(lines, expected, `round ${round}`);
  }
  t.end();
});

type Line = readonly [user: string, agent: string];

const script: readonly Line[] = [
  ['A long question about an order, so that no length shows the order', 'Which one?'],
  ['A-17', 'A refund?'],
  ['Yes', 'Sure?'],
  ['Yes', 'Sure?'],
  ['No', 'Fine'],
];

/** Returns the model calls of a conversation, each in its own trace and within one millisecond. */
function makeCalls(
  lines: readonly Line[],
  toInput: (history: readonly object[], turn: number) => readonly object[],
): StoredSpanSketch[] {
  const random = seededRandom('durations');
  const history: object[] = [];
  return lines.map(([line, response], turn) => {
    history.push(user(line));
    const input = [...toInput(history, turn)];
    history.push(agent(response));
    // Ids and ends say nothing about the order.
    const forMs = random.fraction();
    const id = random.integer(10, 99);
    return { id: `${id}${turn}`, trace: `${id}`, forMs, input, output: [agent(response)] };
  });
}

/** Lists all orders of a few items. */
function listOrders<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((first, nth) =>
    listOrders(items.toSpliced(nth, 1)).map((rest) => [first, ...rest]),
  );
}

/** Returns the different results of all orders of arrival, or of many of them, as text. */
function listResults(spans: readonly StoredSpanSketch[]): string[] {
  const stored = spans.map(makeStoredSpan);
  const random = seededRandom('orders');
  const orders =
    stored.length > 5
      ? Array.from({ length: 150 }, () => shuffle(stored, random))
      : listOrders(stored);
  return [...new Set(orders.map((order) => JSON.stringify(buildTurns(order).map(toLine))))];
}

const toLine = (turn: { userInput: string; agentResponse: string }): Line => [
  turn.userInput,
  turn.agentResponse,
];

/** How clients repeat the history. */
const forms: Readonly<
  Record<string, (history: readonly object[], turn: number) => readonly object[]>
> = {
  'all messages': (history) => history,
  'a system prompt that changes': (history, turn) => [system(`Turn ${turn}`), ...history],
  'the last messages': (history) => history.slice(-5),
  'a summary and the last messages': (history, turn) =>
    turn < 2 ? history : [agent(`So far: ${turn}`), ...history.slice(-5)],
  'a summary as a system prompt': (history, turn) =>
    turn < 2 ? history : [system(`So far: ${turn}`), ...history.slice(-5)],
  'answers that were changed': (history) =>
    history.map((message, nth) => (nth % 2 === 0 ? message : agent(`Changed ${nth}`))),
  'questions with an added context': (history) => [
    ...history.slice(0, -1),
    user(`Context\n${JSON.stringify(history.at(-1))}`),
  ],
};

for (const [name, toInput] of Object.entries(forms)) {
  void t.test(`any order of arrival gives the same turns: ${name}`, (t) => {
    const calls = makeCalls(script, toInput);
    const expected = calls.flatMap((call) => buildTurns([makeStoredSpan(call)]).map(toLine));
    t.equal(expected.length, script.length);
    t.strictSame(listResults(calls), [JSON.stringify(expected)]);
    t.end();
  });
}

void t.test('any order of arrival gives the same turns: calls without output', (t) => {
  const calls = makeCalls(script, (history) => history);
  const silent = calls.map((call) => ({ ...call, output: undefined }));
  const expected = script.map(([line]): Line => [line, '']);
  t.strictSame(listResults(silent), [JSON.stringify(expected)]);
  t.end();
});

void t.test('equal lines in a history that is cut are all before what follows them', (t) => {
  const lines: readonly Line[] = [
    ['Yes', 'Sure?'],
    ['Yes', 'Sure?'],
    ['Yes', 'Sure?'],
    ['Yes', 'Sure?'],
    ['No', 'Fine'],
  ];
  for (const kept of [2, 3, 4, 9]) {
    const calls = makeCalls(lines, (history) => history.slice(-kept));
    t.strictSame(listResults(calls), [JSON.stringify(lines)], `the last ${kept} messages`);
  }
  t.end();
});

/** Returns the model calls of turns with a tool loop of three calls each. */
function makeLoops(isKept: boolean): StoredSpanSketch[] {
  const lines = script.slice(0, 2);
  const history: object[] = [];
  return lines.flatMap(([line, response], turn) => {
    history.push(user(line));
    const calls = ['find', 'track'].map((name) => makeToolCallMessage(name, { turn }));
    const results = ['found', 'tracked'].map((result) =>
      makeToolResultMessage(`${result} ${turn}`),
    );
    const [find = {}, track = {}] = calls;
    const [found = {}, tracked = {}] = results;
    const question = [...history];
    const steps = [
      question,
      [...question, find, found],
      [...question, find, found, track, tracked],
    ];
    if (isKept) history.push(find, found, track, tracked);
    history.push(agent(response));
    return steps.map((input, step) => ({
      id: `${9 - step}${turn}`,
      trace: `${turn}${3 - step}`,
      forMs: 0.9 - step / 10,
      input,
      output: [calls[step] ?? agent(response)],
    }));
  });
}

void t.test('any order of arrival gives the same turns: tool loops without call ids', (t) => {
  for (const isKept of [true, false]) {
    const spans = makeLoops(isKept);
    t.strictSame(listResults(spans), [JSON.stringify(script.slice(0, 2))]);
    const stored = spans.map(makeStoredSpan);
    for (let round = 0; round < 50; round += 1) {
      const order = shuffle(stored, seededRandom(`loops-${round}`));
      const tools = buildTurns(order).map(({ toolCalls }) => toolCalls);
      const names = tools.map((calls) => calls.map(({ name, result }) => [name, result]));
      const expected = [0, 1].map((turn) => [
        ['find', `found ${turn}`],
        ['track', `tracked ${turn}`],
      ]);
      if (JSON.stringify(names) !== JSON.stringify(expected)) t.fail(JSON.stringify(names));
    }
  }
  t.end();
});

/** Puts each call into a wrapper. */
const wrap = (
  calls: readonly StoredSpanSketch[],
  toMessages: (call: StoredSpanSketch, turn: number) => Partial<StoredSpanSketch>,
): StoredSpanSketch[] =>
  calls.flatMap((call, turn) => {
    const wrapper = { ...call, id: `w${call.id}`, operation: 'invoke_agent' };
    return [
      { ...call, parent: wrapper.id },
      { ...wrapper, input: undefined, output: undefined, ...toMessages(call, turn) },
    ];
  });

void t.test('any order of arrival gives the same turns: wrappers', (t) => {
  const lines = script.slice(0, 3);
  const calls = makeCalls(lines, (history) => history);
  const newOnly = (_call: StoredSpanSketch, turn: number) => ({
    input: [user(lines[turn]?.[0] ?? '')],
    output: [agent(lines[turn]?.[1] ?? '')],
  });
  const kinds = {
    'without messages': wrap(calls, () => ({})),
    'with the same messages': wrap(calls, ({ input, output }) => ({ input, output })),
    'with the new messages': wrap(calls, newOnly),
    'whose calls get only the new message': wrap(
      makeCalls(lines, (history) => history.slice(-1)),
      (_call, turn) => ({ input: calls[turn]?.input, output: calls[turn]?.output }),
    ),
  };
  for (const [name, spans] of Object.entries(kinds)) {
    t.strictSame(listResults(spans), [JSON.stringify(lines)], name);
  }
  t.end();
});

void t.test('without a history, the order is by end in milliseconds, and then by arrival', (t) => {
  const calls = makeCalls(script, (history) => history.slice(-1));
  t.strictSame(buildTurns(calls.map(makeStoredSpan)).map(toLine), script);
  const reversed = calls.toReversed().map(makeStoredSpan);
  t.strictSame(buildTurns(reversed).map(toLine), script.toReversed());
  const ending = calls.map((call, turn) => ({ ...call, forMs: turn + (call.forMs ?? 0) }));
  t.strictSame(listResults(ending), [JSON.stringify(script)]);
  t.end();
});

void t.test('a history corrects the clocks of hosts by up to a second', (t) => {
  const lines = script.slice(0, 4);
  const at = (times: readonly number[]) =>
    makeCalls(lines, (history) => history).map((call, turn) => ({
      ...call,
      atMs: times[turn] ?? 0,
    }));
  // The second and the third call ran on a host whose clock is slow.
  t.strictSame(listResults(at([900, 2, 4, 905])), [JSON.stringify(lines)]);
  t.strictSame(listResults(at([5, 2, 8, 6])), [JSON.stringify(lines)]);
  const [first, second, ...others] = lines;
  const byClock = [second, first, ...others];
  t.strictSame(listResults(at([1100, 0, 2000, 4000])), [JSON.stringify(byClock)]);
  t.end();
});

void t.test('equal conversations under one id, one after the other, stay apart', (t) => {
  const lines = script.slice(0, 3);
  const again = makeCalls(lines, (history) => history);
  const spans = [0, 1].flatMap((round) =>
    again.map((call, turn) => ({ ...call, id: `${round}${turn}`, atMs: round * 30 + turn * 10 })),
  );
  t.strictSame(listResults(spans), [JSON.stringify([...lines, ...lines])]);
  t.end();
});

void t.test('histories that contradict each other do not stop the service', (t) => {
  const spans = [
    { id: 'a', trace: '1', input: [user('1'), agent('2'), user('3')], output: [agent('4')] },
    { id: 'b', trace: '2', input: [user('3'), agent('4'), user('1')], output: [agent('2')] },
  ];
  for (const order of [spans, spans.toReversed()]) {
    t.equal(buildTurns(order.map(makeStoredSpan)).length, 2);
  }
  t.end();
});
