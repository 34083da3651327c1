import t from 'tap';
import { findViolations, type EvalDefinition } from '../../../../src/contract/index.ts';
import { scoreSession } from '../../../../src/service/scoring/eval-kinds.ts';
import type { Score } from '../../../../src/service/scoring/score.ts';
import { findCitedEvidence } from '../../../../src/service/evals/cited-evidence.ts';
import type { ScoredSession } from '../../../../src/service/sessions/scored-session.ts';
import { makeToolCall, makeEval, makeSession } from '../../../support/sessions/scoring.ts';

type Row = [
  what: string,
  params: Record<string, unknown>,
  session: ScoredSession,
  outcome: Score['outcome'],
  reasoning: RegExp,
];

const never = new AbortController().signal;

const score = (definition: EvalDefinition, session: ScoredSession): Promise<Score> =>
  scoreSession(definition, session, undefined, never);

function testKind(kind: EvalDefinition['kind'], rows: readonly Row[]): void {
  void t.test(`${kind}: passes, failures, and edge cases`, async (t) => {
    for (const [what, params, session, outcome, reasoning] of rows) {
      const definition = makeEval(kind, params);
      t.same(findViolations('EvalDefinition', definition), [], `${what}: valid by the schema`);
      const result = await score(definition, session);
      t.equal(result.outcome, outcome, `${what}: ${result.reasoning}`);
      t.match(result.reasoning, reasoning, what);
      t.ok(result.reasoning.length < 2_000, `${what}: the reasoning is short`);
    }
  });
}

/** Returns a session where the agent says these lines. */
const say = (...replies: string[]): ScoredSession =>
  makeSession(...replies.map((agentResponse) => ({ agentResponse })));

const LONG = `${'x'.repeat(5_000)} shipped ${'y'.repeat(5_000)}`;

testKind('contains', [
  ['found', { text: 'shipped' }, say('Hello', 'It has shipped.'), 'pass', /turn 2 has it/],
  ['not found', { text: 'lost' }, say('Hello', 'Bye'), 'fail', /none of 2 messages.*"Bye"/],
  ['any case', { text: 'SHIPPED' }, say('It has shipped.'), 'pass', /turn 1/],
  ['another case', { text: 'SHIPPED', case_sensitive: true }, say('shipped'), 'fail', /none of 1/],
  ['the same case', { text: 'Ship', case_sensitive: true }, say('Shipped'), 'pass', /turn 1/],
  ['sharp s', { text: 'STRASSE' }, say('die Straße'), 'pass', /turn 1/],
  ['capital sharp s', { text: 'straße' }, say('DIE STRAẞE'), 'pass', /turn 1/],
  ['final sigma', { text: 'ΟΔΟΣ' }, say('η οδος μου'), 'pass', /turn 1/],
  ['sigma within', { text: 'οδος' }, say('ΟΔΟΣΑ'), 'pass', /turn 1/],
  ['umlaut', { text: 'ÄRGER' }, say('kein ärger'), 'pass', /turn 1/],
  ['Cyrillic', { text: 'заказ' }, say('ВАШ ЗАКАЗ'), 'pass', /turn 1/],
  ['ligature', { text: 'FILE' }, say('the ﬁle'), 'pass', /turn 1/],
  ['composed accents', { text: 'cafe\u0301' }, say('CAFÉ'), 'pass', /turn 1/],
  ['another accent', { text: 'cafe' }, say('café'), 'fail', /none/],
  ['not the user by default', { text: 'order' }, say('Hello'), 'fail', /agent's messages/],
  ['the user if requested', { text: 'order', in: 'user' }, say('Hello'), 'pass', /the user said/],
  [
    'the user, not the agent',
    { text: 'Hello', in: 'user' },
    say('Hello'),
    'fail',
    /user's messages/,
  ],
  ['any', { text: 'hello', in: 'any' }, say('Hello'), 'pass', /all messages/],
  ['no turns', { text: 'x' }, say(), 'fail', /there are no messages/],
  [
    'no text',
    { text: 'x' },
    say('', ''),
    'fail',
    /none of 2 messages has text\. .* turn on its capture/,
  ],
  ['not a pattern', { text: '.*' }, say('Hello'), 'fail', /none/],
  ['a long message is cut', { text: 'shipped' }, say(LONG), 'pass', /…x* shipped y*…/],
  ['not across messages', { text: 'ab' }, say('a', 'b'), 'fail', /none of 2/],
  ['in its turn', { text: 'b', turn: 2 }, say('a', 'b'), 'pass', /messages of turn 2: turn 2/],
  ['in another turn', { text: 'a', turn: 2 }, say('a', 'b'), 'fail', /of turn 2: none of 1/],
  ['no such turn', { text: 'a', turn: 3 }, say('a', 'b'), 'fail', /there are no messages/],
  ['absent', { text: 'c', absent: true }, say('a', 'b'), 'pass', /Expected nothing.*none has it/],
  ['not absent', { text: 'b', absent: true }, say('a', 'b'), 'fail', /turn 2 has it; the agent/],
  ['absent in its turn', { text: 'a', absent: true, turn: 2 }, say('a', 'b'), 'pass', /turn 2/],
  ['absent without messages', { text: 'a', absent: true }, say(), 'fail', /no messages/],
]);

const REPLY = 'I can look up an order.';

testKind('no_repetition', [
  ['different', {}, say(REPLY, 'Which one is it?'), 'pass', /none repeats anything/],
  ['repeated', {}, say(REPLY, 'Hm.', REPLY), 'fail', /turn 3 repeats turn 1: "I can/],
  ['other spaces and case', {}, say(REPLY, 'i CAN  look up\nan order'), 'fail', /repeats turn 1/],
  ['a short reply', {}, say('Yes.', 'Yes.'), 'pass', /none/],
  ['no turns', {}, say(), 'fail', /the session has no turns/],
  ['an echo', {}, say('You said: where is my order?'), 'fail', /turn 1 returns the user's line/],
  [
    'a longer echo',
    {},
    say('Hello! So far you told me: Where is my order?'),
    'fail',
    /turn 1 returns/,
  ],
  [
    'the same words around each line',
    {},
    makeSession(
      ...['Where is my order?', 'When does it arrive?'].map((userInput) => ({
        userInput,
        agentResponse: `Thank you very much for this interesting message: ${userInput}`,
      })),
    ),
    'fail',
    /turn 2 repeats turn 1 with another line of the user/,
  ],
  ['a quotation', {}, say('"Where is my order?" is easy: on its way to you.'), 'pass', /none/],
  [
    'a greeting in return',
    {},
    makeSession({ userInput: 'Hello!', agentResponse: 'Hello!' }),
    'pass',
    /none/,
  ],
]);

const HOSTILE = `${'a'.repeat(50)}b`;

testKind('regex', [
  ['match', { pattern: 'A-\\d{4}' }, say('Hi', 'Order A-1001.'), 'pass', /turn 2.*A-1001/],
  ['no match', { pattern: '^A-\\d{4}$' }, say('Order A-1001.'), 'fail', /none of 1/],
  ['flags', { pattern: 'SHIPPED', flags: 'i' }, say('shipped'), 'pass', /SHIPPED\/i/],
  ['no flags', { pattern: 'SHIPPED' }, say('shipped'), 'fail', /none/],
  ['code points', { pattern: '^.$', flags: 'u' }, say('😀'), 'pass', /turn 1/],
  ['letters', { pattern: '^\\p{Lu}', flags: 'u' }, say('Ärger'), 'pass', /turn 1/],
  ['user', { pattern: 'order', in: 'user' }, say('Hello'), 'pass', /the user said/],
  ['empty match', { pattern: 'x*' }, say('Hello'), 'pass', /turn 1/],
  ['no turns', { pattern: 'x*' }, say(), 'fail', /there are no messages/],
  [
    'broken pattern',
    { pattern: '(' },
    say('Hello'),
    'error',
    /the pattern is invalid.*Unterminated/,
  ],
  ['flags twice', { pattern: 'a', flags: 'ii' }, say('Hello'), 'error', /the pattern is invalid/],
  ['in its turn', { pattern: '^b', turn: 2 }, say('b', 'a'), 'fail', /of turn 2: none of 1/],
  ['absent', { pattern: '^$', absent: true }, say('a', 'b'), 'pass', /none has it/],
  ['not absent', { pattern: '^$', absent: true }, say('a', ''), 'fail', /turn 2 has it/],
  ['code is data', { pattern: "' \\+ process\\.exit" }, say('Hello'), 'fail', /none/],
  ['a slow pattern that matches first', { pattern: '^(a+)+' }, say(HOSTILE), 'pass', /turn 1/],
  [
    'a pattern that backtracks endlessly',
    { pattern: '^(a+)+$' },
    say(HOSTILE),
    'error',
    /stopped after 2000/,
  ],
]);

const lookUp = makeToolCall('look_up_order', {
  order_id: 'A-1001',
  deep: { a: 1, b: [1, { c: 2, d: 3 }] },
});
/** A session with tool calls, and one without. */
const busy = makeSession(
  { toolCalls: [makeToolCall('greet')] },
  { toolCalls: [lookUp, makeToolCall('mail')] },
);
const idle = makeSession({});

testKind('tool_called', [
  ['called', { name: 'look_up_order' }, busy, 'pass', /turn 2 calls it.*A-1001/],
  ['not called', { name: 'refund' }, busy, 'fail', /calls "greet", "look_up_order", "mail"/],
  ['whole names', { name: 'look_up' }, busy, 'fail', /"look_up":/],
  ['another case', { name: 'Mail' }, busy, 'fail', /Mail/],
  ['no calls', { name: 'mail' }, idle, 'fail', /no tool calls/],
]);

const args = (value: unknown) => ({ name: 'look_up_order', arguments: value });
const asText = makeSession({ toolCalls: [makeToolCall('look_up_order', '{"order_id":"A-1001"}')] });
const twice = makeSession({
  toolCalls: [makeToolCall('look_up_order', { a: 1 }), makeToolCall('look_up_order', { b: 2 })],
});

testKind('tool_args', [
  ['a subset', args({ order_id: 'A-1001' }), busy, 'pass', /turn 2/],
  ['no required arguments', args({}), busy, 'pass', /turn 2/],
  ['a deep subset', args({ deep: { b: [1, { c: 2 }] } }), busy, 'pass', /turn 2/],
  ['a list is compared as a whole', args({ deep: { b: [1] } }), busy, 'fail', /1 call had/],
  ['another value', args({ order_id: 'A-1' }), busy, 'fail', /1 call had .*A-1001/],
  ['another type', args({ deep: { a: '1' } }), busy, 'fail', /1 call had/],
  ['a missing key', args({ mail: null }), busy, 'fail', /1 call had/],
  ['an inherited key', args({ toString: {} }), busy, 'fail', /1 call had/],
  ['JSON text', args({ order_id: 'A-1001' }), asText, 'pass', /turn 1/],
  ['no single call has all arguments', args({ a: 1, b: 2 }), twice, 'fail', /2 calls had/],
  ['another tool', { name: 'mail', arguments: { order_id: 'A-1001' } }, busy, 'fail', /1 call/],
  ['no calls', args({}), idle, 'fail', /no tool calls/],
]);

testKind('tool_order', [
  ['in order', { names: ['greet', 'look_up_order', 'mail'] }, busy, 'pass', /the session calls/],
  ['others between', { names: ['greet', 'mail'] }, busy, 'pass', /the session calls/],
  ['another order', { names: ['mail', 'greet'] }, busy, 'fail', /"greet" is missing after "mail"/],
  ['twice', { names: ['mail', 'mail'] }, busy, 'fail', /"mail" is missing after "mail"/],
  ['not at all', { names: ['refund'] }, busy, 'fail', /"refund" is missing; /],
  ['no calls', { names: ['mail'] }, idle, 'fail', /no tool calls/],
]);

testKind('max_turns', [
  ['fewer', { max: 3 }, say('a', 'b'), 'pass', /at most 3 turns: the session has 2/],
  ['as many', { max: 2 }, say('a', 'b'), 'pass', /has 2/],
  ['more', { max: 1 }, say('a', 'b'), 'fail', /at most 1 turn: the session has 2/],
  ['none', { max: 0 }, say(), 'pass', /has 0/],
]);

/** Returns a session whose turns have these latencies; undefined if not measured. */
const lasting = (...ms: (number | undefined)[]): ScoredSession =>
  makeSession(...ms.map((latencyMs) => (latencyMs === undefined ? {} : { latencyMs })));

testKind('max_latency', [
  ['fast', { ms: 100 }, lasting(20, 100), 'pass', /slowest took 100 ms/],
  ['one is slow', { ms: 100 }, lasting(20, 100.5), 'fail', /turn 2 \(100\.5 ms\)/],
  [
    'unmeasured',
    { ms: 100 },
    lasting(undefined, undefined),
    'error',
    /turn 1, 2 has no measured latency/,
  ],
  ['partly measured', { ms: 100 }, lasting(20, undefined), 'error', /turn 2/],
  ['slow is enough', { ms: 100 }, lasting(undefined, 200), 'fail', /turn 2 \(200 ms\)/],
  ['no turns', { ms: 100 }, lasting(), 'error', /no turns/],
]);

const full: ScoredSession = {
  ...busy,
  agent: 'Shop',
  metadata: { 'a "b"': [[1, 2], { x: null }], plain: { '': 0 } },
};
const at = (path: string, equals: unknown) => ({ path, equals });

testKind('json_path', [
  ['a response', at('$.turns[0].agent_response', 'It has shipped.'), full, 'pass', /found it/],
  ['another one', at('$.turns[0].agent_response', 'Lost'), full, 'fail', /found "It has/],
  ['the last', at('$.turns[-1].session_sequence', 2), full, 'pass', /found it/],
  ['any', at('$.turns[*].tool_calls[*].name', 'mail'), full, 'pass', /found it/],
  ['any not', at('$.turns[*].tool_calls[*].name', 'x'), full, 'fail', /"greet", "look_up/],
  ['any key', at('$.metadata.*[0]', [1, 2]), full, 'pass', /found it/],
  ['quoted', at('$["metadata"]["a \\"b\\""][0][1]', 2), full, 'pass', /found it/],
  ['single quotes', at("$['metadata']['plain']['']", 0), full, 'pass', /found it/],
  ['null', at('$.metadata["a \\"b\\""][1].x', null), full, 'pass', /found it/],
  ['keys in any order', at('$.metadata.plain', { '': 0 }), full, 'pass', /found it/],
  [
    'parsed arguments',
    at('$.turns[0].tool_calls[0].arguments.order_id', 'A-1001'),
    asText,
    'pass',
    /it/,
  ],
  ['absent', at('$.scenario', null), full, 'fail', /there is no value/],
  ['beyond the end', at('$.turns[2]', null), full, 'fail', /there is no value/],
  ['before the start', at('$.turns[-3]', null), full, 'fail', /there is no value/],
  ['a key of a list', at('$.turns.length', 2), full, 'fail', /there is no value/],
  ['inherited', at('$.constructor.name', 'Object'), full, 'fail', /there is no value/],
  ['prototype', at('$["__proto__"]', {}), full, 'fail', /there is no value/],
  ['text instead of a number', at('$.turns[0].session_sequence', '1'), full, 'fail', /found 1/],
  ['no dollar', at('turns[0]', 1), full, 'error', /must begin with \$/],
  ['a filter', at('$.turns[?(@.failed)]', 1), full, 'error', /character 8/],
  ['descent', at('$..name', 1), full, 'error', /character 2/],
  ['unclosed', at('$.turns["a', 1), full, 'error', /character 8/],
  ['too long', at(`$${'.a'.repeat(300)}`, 1), full, 'error', /longer than 500/],
]);

const hints = makeSession({}, { evaluationMetadata: { order_found: true, steps: { a: [1] } } });

testKind('evaluation_metadata', [
  ['equal', { key: 'order_found', equals: true }, hints, 'pass', /turn 2 has it/],
  ['deep', { key: 'steps', equals: { a: [1] } }, hints, 'pass', /turn 2/],
  ['not a subset', { key: 'steps', equals: {} }, hints, 'fail', /turn 2 has \{"a"/],
  ['another', { key: 'order_found', equals: false }, hints, 'fail', /turn 2 has true/],
  ['as text', { key: 'order_found', equals: 'true' }, hints, 'fail', /turn 2 has true/],
  ['no such key', { key: 'tone', equals: null }, hints, 'fail', /no turn has that key/],
  ['inherited', { key: 'constructor', equals: {} }, hints, 'fail', /no turn has that key/],
  ['none', { key: 'tone', equals: 'calm' }, idle, 'fail', /no turn has that key/],
]);

void t.test('an eval with invalid parameters is an error, never a pass', async (t) => {
  const rows: [EvalDefinition['kind'], Record<string, unknown>, RegExp][] = [
    ['contains', {}, /text is not a string/],
    ['contains', { text: 'a', in: 'all' }, /in is not one of agent, user, any/],
    ['contains', { text: 'a', case_sensitive: 'no' }, /case_sensitive is not true or false/],
    ['regex', { pattern: 'a', flags: 1 }, /flags is not a string/],
    ['regex', { pattern: 'a', turn: '1' }, /turn is not a number/],
    ['tool_args', { name: 'a', arguments: [] }, /arguments is not an object/],
    ['tool_order', { names: [1] }, /names is not a list/],
    ['max_turns', { max: '3' }, /max is not a number/],
    ['json_path', { path: '$' }, /equals is not present/],
    ['judge', {}, /criteria is not a string/],
  ];
  for (const [kind, params, message] of rows) {
    const { outcome, reasoning } = await score(makeEval(kind, params), idle);
    t.equal(outcome, 'error', kind);
    t.match(reasoning, message);
  }
  const unknown = makeEval('magic' as EvalDefinition['kind'], {});
  t.match(await score(unknown, idle), { outcome: 'error', reasoning: /kind magic/ });
});

void t.test(
  'a pattern with endless backtracking does not block the thread and can be aborted',
  async (t) => {
    const control = new AbortController();
    const definition = makeEval('regex', { pattern: '^(a+)+$' });
    const slow = scoreSession(definition, say(HOSTILE), undefined, control.signal);
    const other = await score(makeEval('contains', { text: 'a' }), say('a'));
    t.equal(other.outcome, 'pass');
    const reason = new Error('canceled');
    control.abort(reason);
    await t.rejects(slow, reason);
  },
);

void t.test('deeply nested or malformed values can be quoted', async (t) => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const session = makeSession({
    toolCalls: [makeToolCall('dig', deep), makeToolCall('dig', '{"a":')],
  });
  const result = await score(makeEval('tool_args', { name: 'dig', arguments: { a: 1 } }), session);
  t.equal(result.outcome, 'fail');
  const malformed = await score(makeEval('contains', { text: 'x' }), say('\ud83d'.repeat(100)));
  t.ok(malformed.reasoning.isWellFormed());
});

void t.test('without an LLM judge, the reasoning says how to configure one', async (t) => {
  const result = await score(makeEval('judge', { criteria: 'It greets.' }), idle);
  t.match(result, { outcome: 'error', reasoning: /SANDBOX_KIT_JUDGE_URL/ });
});

void t.test('contains: an eval without text, which an older release stored, passes', async (t) => {
  t.match(await score(makeEval('contains', { text: '' }), say('Hello')), {
    outcome: 'pass',
    reasoning: /turn 1/,
  });
});

void t.test('an outcome names the places in the transcript that decided it', async (t) => {
  const session = makeSession(
    { userInput: 'Where is it?', agentResponse: 'One moment.', latencyMs: 100 },
    {
      agentResponse: 'It has shipped.',
      latencyMs: 3_000,
      toolCalls: [makeToolCall('track', { order: 7 }), makeToolCall('notify', {})],
      evaluationMetadata: { intent: 'status' },
    },
  );
  const shipped = { turn: 2, part: 'agent', start: 7, end: 14 };
  const tracked = { turn: 2, part: 'tool_call', call: 0 };
  const rows: [EvalDefinition['kind'], Record<string, unknown>, unknown][] = [
    ['contains', { text: 'SHIPPED' }, [shipped]],
    ['contains', { text: 'where', in: 'any' }, [{ turn: 1, part: 'user', start: 0, end: 5 }]],
    ['contains', { text: 'lost' }, []],
    ['contains', { text: 'lost', turn: 2 }, [{ turn: 2, part: 'agent' }]],
    ['contains', { text: 'SHIPPED', absent: true }, [shipped]],
    ['regex', { pattern: 'ship+ed' }, [shipped]],
    ['tool_called', { name: 'track' }, [tracked]],
    ['tool_args', { name: 'track', arguments: { order: 7 } }, [tracked]],
    ['tool_args', { name: 'track', arguments: { order: 8 } }, [tracked]],
    ['tool_order', { names: ['track', 'notify'] }, [tracked, { ...tracked, call: 1 }]],
    ['max_turns', { max: 1 }, [{ turn: 2, part: 'turn' }]],
    ['max_latency', { ms: 1_000 }, [{ turn: 2, part: 'latency' }]],
    [
      'json_path',
      { path: '$.turns[-1].agent_response', equals: 'x' },
      [{ turn: 2, part: 'agent' }],
    ],
    [
      'evaluation_metadata',
      { key: 'intent', equals: 'status' },
      [{ turn: 2, part: 'evaluation_metadata' }],
    ],
  ];
  for (const [kind, params, evidence] of rows) {
    const result = await score(makeEval(kind, params), session);
    t.same(result.evidence, evidence, `${kind} ${JSON.stringify(params)}`);
  }
});

void t.test('the quotations and turns that a judge cites are evidence', (t) => {
  const turns = [
    { sequence: 1, userInput: 'It is broken!', agentResponse: 'Sorry to hear that.' },
    { sequence: 2, userInput: 'Refund?', agentResponse: 'Sorry to hear that. No.' },
    { sequence: 3, userInput: 'Why?', agentResponse: "It's policy." },
  ];
  const rows: [reasoning: string, evidence: unknown][] = [
    ['The agent says "Sorry to hear that."', [{ turn: 1, part: 'agent', start: 0, end: 18 }]],
    ['In turn 2 it says “Sorry to hear that”.', [{ turn: 2, part: 'agent', start: 0, end: 18 }]],
    ["The user says 'It is broken!'.", [{ turn: 1, part: 'user', start: 0, end: 13 }]],
    [
      'See turns 1 and 3.',
      [
        { turn: 1, part: 'turn' },
        { turn: 3, part: 'turn' },
      ],
    ],
    ['It never says "A full refund" in turn 9.', []],
  ];
  for (const [reasoning, evidence] of rows) {
    t.same(findCitedEvidence(reasoning, turns), evidence, reasoning);
  }
  const long = 'turn 1 "'.repeat(20_000);
  t.ok(findCitedEvidence(long, turns).length <= 20, 'a long reasoning is no problem');
  t.end();
});
