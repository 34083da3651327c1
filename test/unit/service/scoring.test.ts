import t from 'tap';
import { findViolations, type EvalDefinition } from '../../../src/contract/index.ts';
import { scoreSession } from '../../../src/service/scoring/eval-kinds.ts';
import type { Score } from '../../../src/service/scoring/score.ts';
import type { ScoredSession } from '../../../src/service/domain/scored-session.ts';
import { makeToolCall, makeEval, makeSession } from '../../helpers/scoring.ts';

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

const sessionWithReplies = (...replies: string[]): ScoredSession =>
  makeSession(...replies.map((agentResponse) => ({ agentResponse })));

const LONG = `${'x'.repeat(5_000)} shipped ${'y'.repeat(5_000)}`;

testKind('contains', [
  [
    'found',
    { text: 'shipped' },
    sessionWithReplies('Hello', 'It has shipped.'),
    'pass',
    /turn 2 has it/,
  ],
  [
    'not found',
    { text: 'lost' },
    sessionWithReplies('Hello', 'Bye'),
    'fail',
    /none of 2 messages.*"Bye"/,
  ],
  ['any case', { text: 'SHIPPED' }, sessionWithReplies('It has shipped.'), 'pass', /turn 1/],
  [
    'another case',
    { text: 'SHIPPED', case_sensitive: true },
    sessionWithReplies('shipped'),
    'fail',
    /none of 1/,
  ],
  [
    'the same case',
    { text: 'Ship', case_sensitive: true },
    sessionWithReplies('Shipped'),
    'pass',
    /turn 1/,
  ],
  ['sharp s', { text: 'STRASSE' }, sessionWithReplies('die Straße'), 'pass', /turn 1/],
  ['capital sharp s', { text: 'straße' }, sessionWithReplies('DIE STRAẞE'), 'pass', /turn 1/],
  ['final sigma', { text: 'ΟΔΟΣ' }, sessionWithReplies('η οδος μου'), 'pass', /turn 1/],
  ['sigma within', { text: 'οδος' }, sessionWithReplies('ΟΔΟΣΑ'), 'pass', /turn 1/],
  ['umlaut', { text: 'ÄRGER' }, sessionWithReplies('kein ärger'), 'pass', /turn 1/],
  ['Cyrillic', { text: 'заказ' }, sessionWithReplies('ВАШ ЗАКАЗ'), 'pass', /turn 1/],
  ['ligature', { text: 'FILE' }, sessionWithReplies('the ﬁle'), 'pass', /turn 1/],
  ['composed accents', { text: 'cafe\u0301' }, sessionWithReplies('CAFÉ'), 'pass', /turn 1/],
  ['another accent', { text: 'cafe' }, sessionWithReplies('café'), 'fail', /none/],
  [
    'not the user by default',
    { text: 'order' },
    sessionWithReplies('Hello'),
    'fail',
    /agent's messages/,
  ],
  [
    'the user if requested',
    { text: 'order', in: 'user' },
    sessionWithReplies('Hello'),
    'pass',
    /the user said/,
  ],
  [
    'the user, not the agent',
    { text: 'Hello', in: 'user' },
    sessionWithReplies('Hello'),
    'fail',
    /user's messages/,
  ],
  ['any', { text: 'hello', in: 'any' }, sessionWithReplies('Hello'), 'pass', /all messages/],
  ['no turns', { text: '' }, sessionWithReplies(), 'fail', /there are no messages/],
  ['empty text', { text: '' }, sessionWithReplies('Hello'), 'pass', /turn 1/],
  ['not a pattern', { text: '.*' }, sessionWithReplies('Hello'), 'fail', /none/],
  [
    'a long message is cut',
    { text: 'shipped' },
    sessionWithReplies(LONG),
    'pass',
    /…x* shipped y*…/,
  ],
  ['not across messages', { text: 'ab' }, sessionWithReplies('a', 'b'), 'fail', /none of 2/],
]);

const HOSTILE = `${'a'.repeat(50)}b`;

testKind('regex', [
  [
    'match',
    { pattern: 'A-\\d{4}' },
    sessionWithReplies('Hi', 'Order A-1001.'),
    'pass',
    /turn 2.*A-1001/,
  ],
  ['no match', { pattern: '^A-\\d{4}$' }, sessionWithReplies('Order A-1001.'), 'fail', /none of 1/],
  [
    'flags',
    { pattern: 'SHIPPED', flags: 'i' },
    sessionWithReplies('shipped'),
    'pass',
    /SHIPPED\/i/,
  ],
  ['no flags', { pattern: 'SHIPPED' }, sessionWithReplies('shipped'), 'fail', /none/],
  ['code points', { pattern: '^.$', flags: 'u' }, sessionWithReplies('😀'), 'pass', /turn 1/],
  ['letters', { pattern: '^\\p{Lu}', flags: 'u' }, sessionWithReplies('Ärger'), 'pass', /turn 1/],
  ['user', { pattern: 'order', in: 'user' }, sessionWithReplies('Hello'), 'pass', /the user said/],
  ['empty match', { pattern: '' }, sessionWithReplies('Hello'), 'pass', /turn 1/],
  ['no turns', { pattern: '' }, sessionWithReplies(), 'fail', /there are no messages/],
  [
    'broken pattern',
    { pattern: '(' },
    sessionWithReplies('Hello'),
    'error',
    /the pattern is invalid.*Unterminated/,
  ],
  [
    'flags twice',
    { pattern: 'a', flags: 'ii' },
    sessionWithReplies('Hello'),
    'error',
    /the pattern is invalid/,
  ],
  [
    'code is data',
    { pattern: "' \\+ process\\.exit" },
    sessionWithReplies('Hello'),
    'fail',
    /none/,
  ],
  [
    'a slow pattern that matches first',
    { pattern: '^(a+)+' },
    sessionWithReplies(HOSTILE),
    'pass',
    /turn 1/,
  ],
  [
    'a pattern that backtracks endlessly',
    { pattern: '^(a+)+$' },
    sessionWithReplies(HOSTILE),
    'error',
    /stopped after 2000/,
  ],
]);

const lookUp = makeToolCall('look_up_order', {
  order_id: 'A-1001',
  deep: { a: 1, b: [1, { c: 2, d: 3 }] },
});
const withToolCalls = makeSession(
  { toolCalls: [makeToolCall('greet')] },
  { toolCalls: [lookUp, makeToolCall('mail')] },
);
const withoutToolCalls = makeSession({});

testKind('tool_called', [
  ['called', { name: 'look_up_order' }, withToolCalls, 'pass', /turn 2 calls it.*A-1001/],
  [
    'not called',
    { name: 'refund' },
    withToolCalls,
    'fail',
    /calls "greet", "look_up_order", "mail"/,
  ],
  ['whole names', { name: 'look_up' }, withToolCalls, 'fail', /"look_up":/],
  ['another case', { name: 'Mail' }, withToolCalls, 'fail', /Mail/],
  ['no calls', { name: 'mail' }, withoutToolCalls, 'fail', /no tool calls/],
]);

const args = (value: unknown) => ({ name: 'look_up_order', arguments: value });
const asText = makeSession({ toolCalls: [makeToolCall('look_up_order', '{"order_id":"A-1001"}')] });
const twice = makeSession({
  toolCalls: [makeToolCall('look_up_order', { a: 1 }), makeToolCall('look_up_order', { b: 2 })],
});

testKind('tool_args', [
  ['a subset', args({ order_id: 'A-1001' }), withToolCalls, 'pass', /turn 2/],
  ['no required arguments', args({}), withToolCalls, 'pass', /turn 2/],
  ['a deep subset', args({ deep: { b: [1, { c: 2 }] } }), withToolCalls, 'pass', /turn 2/],
  [
    'a list is compared as a whole',
    args({ deep: { b: [1] } }),
    withToolCalls,
    'fail',
    /1 call had/,
  ],
  ['another value', args({ order_id: 'A-1' }), withToolCalls, 'fail', /1 call had .*A-1001/],
  ['another type', args({ deep: { a: '1' } }), withToolCalls, 'fail', /1 call had/],
  ['a missing key', args({ mail: null }), withToolCalls, 'fail', /1 call had/],
  ['an inherited key', args({ toString: {} }), withToolCalls, 'fail', /1 call had/],
  ['JSON text', args({ order_id: 'A-1001' }), asText, 'pass', /turn 1/],
  ['no single call has all arguments', args({ a: 1, b: 2 }), twice, 'fail', /2 calls had/],
  [
    'another tool',
    { name: 'mail', arguments: { order_id: 'A-1001' } },
    withToolCalls,
    'fail',
    /1 call/,
  ],
  ['no calls', args({}), withoutToolCalls, 'fail', /no tool calls/],
]);

testKind('tool_order', [
  [
    'in order',
    { names: ['greet', 'look_up_order', 'mail'] },
    withToolCalls,
    'pass',
    /the session calls/,
  ],
  ['others between', { names: ['greet', 'mail'] }, withToolCalls, 'pass', /the session calls/],
  [
    'another order',
    { names: ['mail', 'greet'] },
    withToolCalls,
    'fail',
    /"greet" is missing after "mail"/,
  ],
  ['twice', { names: ['mail', 'mail'] }, withToolCalls, 'fail', /"mail" is missing after "mail"/],
  ['not at all', { names: ['refund'] }, withToolCalls, 'fail', /"refund" is missing; /],
  ['no calls', { names: ['mail'] }, withoutToolCalls, 'fail', /no tool calls/],
]);

testKind('max_turns', [
  ['fewer', { max: 3 }, sessionWithReplies('a', 'b'), 'pass', /at most 3 turns: the session has 2/],
  ['as many', { max: 2 }, sessionWithReplies('a', 'b'), 'pass', /has 2/],
  ['more', { max: 1 }, sessionWithReplies('a', 'b'), 'fail', /at most 1 turn: the session has 2/],
  ['none', { max: 0 }, sessionWithReplies(), 'pass', /has 0/],
]);

const withLatencies = (...ms: (number | undefined)[]): ScoredSession =>
  makeSession(...ms.map((latencyMs) => (latencyMs === undefined ? {} : { latencyMs })));

testKind('max_latency', [
  ['fast', { ms: 100 }, withLatencies(20, 100), 'pass', /slowest took 100 ms/],
  ['one is slow', { ms: 100 }, withLatencies(20, 100.5), 'fail', /turn 2 \(100\.5 ms\)/],
  [
    'unmeasured',
    { ms: 100 },
    withLatencies(undefined, undefined),
    'error',
    /turn 1, 2 has no measured latency/,
  ],
  ['partly measured', { ms: 100 }, withLatencies(20, undefined), 'error', /turn 2/],
  ['slow is enough', { ms: 100 }, withLatencies(undefined, 200), 'fail', /turn 2 \(200 ms\)/],
  ['no turns', { ms: 100 }, withLatencies(), 'error', /no turns/],
]);

const withMetadata: ScoredSession = {
  ...withToolCalls,
  agent: 'Shop',
  metadata: { 'a "b"': [[1, 2], { x: null }], plain: { '': 0 } },
};
const at = (path: string, equals: unknown) => ({ path, equals });

testKind('json_path', [
  [
    'a response',
    at('$.turns[0].agent_response', 'It has shipped.'),
    withMetadata,
    'pass',
    /found it/,
  ],
  ['another one', at('$.turns[0].agent_response', 'Lost'), withMetadata, 'fail', /found "It has/],
  ['the last', at('$.turns[-1].session_sequence', 2), withMetadata, 'pass', /found it/],
  ['any', at('$.turns[*].tool_calls[*].name', 'mail'), withMetadata, 'pass', /found it/],
  ['any not', at('$.turns[*].tool_calls[*].name', 'x'), withMetadata, 'fail', /"greet", "look_up/],
  ['any key', at('$.metadata.*[0]', [1, 2]), withMetadata, 'pass', /found it/],
  ['quoted', at('$["metadata"]["a \\"b\\""][0][1]', 2), withMetadata, 'pass', /found it/],
  ['single quotes', at("$['metadata']['plain']['']", 0), withMetadata, 'pass', /found it/],
  ['null', at('$.metadata["a \\"b\\""][1].x', null), withMetadata, 'pass', /found it/],
  ['keys in any order', at('$.metadata.plain', { '': 0 }), withMetadata, 'pass', /found it/],
  [
    'parsed arguments',
    at('$.turns[0].tool_calls[0].arguments.order_id', 'A-1001'),
    asText,
    'pass',
    /it/,
  ],
  ['absent', at('$.scenario', null), withMetadata, 'fail', /there is no value/],
  ['beyond the end', at('$.turns[2]', null), withMetadata, 'fail', /there is no value/],
  ['before the start', at('$.turns[-3]', null), withMetadata, 'fail', /there is no value/],
  ['a key of a list', at('$.turns.length', 2), withMetadata, 'fail', /there is no value/],
  ['inherited', at('$.constructor.name', 'Object'), withMetadata, 'fail', /there is no value/],
  ['prototype', at('$["__proto__"]', {}), withMetadata, 'fail', /there is no value/],
  [
    'text instead of a number',
    at('$.turns[0].session_sequence', '1'),
    withMetadata,
    'fail',
    /found 1/,
  ],
  ['no dollar', at('turns[0]', 1), withMetadata, 'error', /must begin with \$/],
  ['a filter', at('$.turns[?(@.failed)]', 1), withMetadata, 'error', /character 8/],
  ['descent', at('$..name', 1), withMetadata, 'error', /character 2/],
  ['unclosed', at('$.turns["a', 1), withMetadata, 'error', /character 8/],
  ['too long', at(`$${'.a'.repeat(300)}`, 1), withMetadata, 'error', /longer than 500/],
]);

const withEvaluationMetadata = makeSession(
  {},
  { evaluationMetadata: { order_found: true, steps: { a: [1] } } },
);

testKind('evaluation_metadata', [
  ['equal', { key: 'order_found', equals: true }, withEvaluationMetadata, 'pass', /turn 2 has it/],
  ['deep', { key: 'steps', equals: { a: [1] } }, withEvaluationMetadata, 'pass', /turn 2/],
  [
    'not a subset',
    { key: 'steps', equals: {} },
    withEvaluationMetadata,
    'fail',
    /turn 2 has \{"a"/,
  ],
  [
    'another',
    { key: 'order_found', equals: false },
    withEvaluationMetadata,
    'fail',
    /turn 2 has true/,
  ],
  [
    'as text',
    { key: 'order_found', equals: 'true' },
    withEvaluationMetadata,
    'fail',
    /turn 2 has true/,
  ],
  [
    'no such key',
    { key: 'tone', equals: null },
    withEvaluationMetadata,
    'fail',
    /no turn has that key/,
  ],
  [
    'inherited',
    { key: 'constructor', equals: {} },
    withEvaluationMetadata,
    'fail',
    /no turn has that key/,
  ],
  ['none', { key: 'tone', equals: 'calm' }, withoutToolCalls, 'fail', /no turn has that key/],
]);

void t.test('An eval with invalid parameters is an error, never a pass', async (t) => {
  const rows: [EvalDefinition['kind'], Record<string, unknown>, RegExp][] = [
    ['contains', {}, /text is not a string/],
    ['contains', { text: 'a', in: 'all' }, /in is not one of agent, user, any/],
    ['contains', { text: 'a', case_sensitive: 'no' }, /case_sensitive is not true or false/],
    ['regex', { pattern: 'a', flags: 1 }, /flags is not a string/],
    ['tool_args', { name: 'a', arguments: [] }, /arguments is not an object/],
    ['tool_order', { names: [1] }, /names is not a list/],
    ['max_turns', { max: '3' }, /max is not a number/],
    ['json_path', { path: '$' }, /equals is not present/],
    ['judge', {}, /criteria is not a string/],
  ];
  for (const [kind, params, message] of rows) {
    const { outcome, reasoning } = await score(makeEval(kind, params), withoutToolCalls);
    t.equal(outcome, 'error', kind);
    t.match(reasoning, message);
  }
  const unknown = makeEval('magic' as EvalDefinition['kind'], {});
  t.match(await score(unknown, withoutToolCalls), { outcome: 'error', reasoning: /kind magic/ });
});

void t.test(
  'A pattern with endless backtracking does not block the thread and can be aborted',
  async (t) => {
    const control = new AbortController();
    const definition = makeEval('regex', { pattern: '^(a+)+$' });
    const slow = scoreSession(definition, sessionWithReplies(HOSTILE), undefined, control.signal);
    const other = await score(makeEval('contains', { text: 'a' }), sessionWithReplies('a'));
    t.equal(other.outcome, 'pass');
    const reason = new Error('canceled');
    control.abort(reason);
    await t.rejects(slow, reason);
  },
);

void t.test('Deeply nested or malformed values can be quoted', async (t) => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const session = makeSession({
    toolCalls: [makeToolCall('dig', deep), makeToolCall('dig', '{"a":')],
  });
  const result = await score(makeEval('tool_args', { name: 'dig', arguments: { a: 1 } }), session);
  t.equal(result.outcome, 'fail');
  const malformed = await score(
    makeEval('contains', { text: 'x' }),
    sessionWithReplies('\ud83d'.repeat(100)),
  );
  t.ok(malformed.reasoning.isWellFormed());
});

void t.test('Without an LLM judge, the reasoning says how to configure one', async (t) => {
  const result = await score(makeEval('judge', { criteria: 'It greets.' }), withoutToolCalls);
  t.match(result, { outcome: 'error', reasoning: /SANDBOX_KIT_JUDGE_URL/ });
});
