import t from 'tap';
import { findViolations, type EvalDefinition } from '../../../src/contract/index.ts';
import { scoreSession } from '../../../src/service/scoring/eval-kinds.ts';
import type { Score } from '../../../src/service/scoring/score.ts';
import type { ScoredSession } from '../../../src/service/domain/scored-session.ts';
import { makeToolCall, makeEval, makeSession } from '../../helpers/scoring.ts';

/** What a row says, the parameters, the session, the outcome, and what the reasoning shows. */
type Row = [
  says: string,
  params: Record<string, unknown>,
  session: ScoredSession,
  outcome: Score['outcome'],
  shows: RegExp,
];

const never = new AbortController().signal;

const score = (definition: EvalDefinition, session: ScoredSession): Promise<Score> =>
  scoreSession(definition, session, undefined, never);

function table(kind: EvalDefinition['kind'], rows: readonly Row[]): void {
  void t.test(`${kind}: passes, failures, and edge cases`, async (t) => {
    for (const [says, params, session, outcome, shows] of rows) {
      const definition = makeEval(kind, params);
      t.same(findViolations('EvalDefinition', definition), [], `${says}: the schema allows it`);
      const found = await score(definition, session);
      t.equal(found.outcome, outcome, `${says}: ${found.reasoning}`);
      t.match(found.reasoning, shows, says);
      t.ok(found.reasoning.length < 2_000, `${says}: the reasoning is short`);
    }
  });
}

const said = (...responses: string[]): ScoredSession =>
  makeSession(...responses.map((agentResponse) => ({ agentResponse })));

const LONG = `${'x'.repeat(5_000)} shipped ${'y'.repeat(5_000)}`;

table('contains', [
  ['found', { text: 'shipped' }, said('Hello', 'It has shipped.'), 'pass', /turn 2 has it/],
  ['not found', { text: 'lost' }, said('Hello', 'Bye'), 'fail', /none of 2 messages.*"Bye"/],
  ['any case', { text: 'SHIPPED' }, said('It has shipped.'), 'pass', /turn 1/],
  ['its case', { text: 'SHIPPED', case_sensitive: true }, said('shipped'), 'fail', /none of 1/],
  ['the case met', { text: 'Ship', case_sensitive: true }, said('Shipped'), 'pass', /turn 1/],
  ['sharp s', { text: 'STRASSE' }, said('die Straße'), 'pass', /turn 1/],
  ['capital sharp s', { text: 'straße' }, said('DIE STRAẞE'), 'pass', /turn 1/],
  ['final sigma', { text: 'ΟΔΟΣ' }, said('η οδος μου'), 'pass', /turn 1/],
  ['sigma within', { text: 'οδος' }, said('ΟΔΟΣΑ'), 'pass', /turn 1/],
  ['umlaut', { text: 'ÄRGER' }, said('kein ärger'), 'pass', /turn 1/],
  ['Cyrillic', { text: 'заказ' }, said('ВАШ ЗАКАЗ'), 'pass', /turn 1/],
  ['ligature', { text: 'FILE' }, said('the ﬁle'), 'pass', /turn 1/],
  ['composed accents', { text: 'cafe\u0301' }, said('CAFÉ'), 'pass', /turn 1/],
  ['an accent is no letter', { text: 'cafe' }, said('café'), 'fail', /none/],
  ['user by default not', { text: 'order' }, said('Hello'), 'fail', /agent's messages/],
  ['user asked for', { text: 'order', in: 'user' }, said('Hello'), 'pass', /the user said/],
  ['agent not the user', { text: 'Hello', in: 'user' }, said('Hello'), 'fail', /user's messages/],
  ['any', { text: 'hello', in: 'any' }, said('Hello'), 'pass', /all messages/],
  ['no turns', { text: '' }, said(), 'fail', /there are no messages/],
  ['empty text', { text: '' }, said('Hello'), 'pass', /turn 1/],
  ['not a pattern', { text: '.*' }, said('Hello'), 'fail', /none/],
  ['a long message is cut', { text: 'shipped' }, said(LONG), 'pass', /…x* shipped y*…/],
  ['not across messages', { text: 'ab' }, said('a', 'b'), 'fail', /none of 2/],
]);

const HOSTILE = `${'a'.repeat(50)}b`;

table('regex', [
  ['match', { pattern: 'A-\\d{4}' }, said('Hi', 'Order A-1001.'), 'pass', /turn 2.*A-1001/],
  ['no match', { pattern: '^A-\\d{4}$' }, said('Order A-1001.'), 'fail', /none of 1/],
  ['flags', { pattern: 'SHIPPED', flags: 'i' }, said('shipped'), 'pass', /SHIPPED\/i/],
  ['no flags', { pattern: 'SHIPPED' }, said('shipped'), 'fail', /none/],
  ['code points', { pattern: '^.$', flags: 'u' }, said('😀'), 'pass', /turn 1/],
  ['letters', { pattern: '^\\p{Lu}', flags: 'u' }, said('Ärger'), 'pass', /turn 1/],
  ['user', { pattern: 'order', in: 'user' }, said('Hello'), 'pass', /the user said/],
  ['empty match', { pattern: '' }, said('Hello'), 'pass', /turn 1/],
  ['no turns', { pattern: '' }, said(), 'fail', /there are no messages/],
  [
    'broken pattern',
    { pattern: '(' },
    said('Hello'),
    'error',
    /the pattern is invalid.*Unterminated/,
  ],
  ['flags twice', { pattern: 'a', flags: 'ii' }, said('Hello'), 'error', /the pattern is invalid/],
  ['code is data', { pattern: "' \\+ process\\.exit" }, said('Hello'), 'fail', /none/],
  ['a slow pattern that matches first', { pattern: '^(a+)+' }, said(HOSTILE), 'pass', /turn 1/],
  ['one that does not end', { pattern: '^(a+)+$' }, said(HOSTILE), 'error', /stopped after 2000/],
]);

const lookUp = makeToolCall('look_up_order', {
  order_id: 'A-1001',
  deep: { a: 1, b: [1, { c: 2, d: 3 }] },
});
const worked = makeSession(
  { toolCalls: [makeToolCall('greet')] },
  { toolCalls: [lookUp, makeToolCall('mail')] },
);
const idle = makeSession({});

table('tool_called', [
  ['called', { name: 'look_up_order' }, worked, 'pass', /turn 2 calls it.*A-1001/],
  ['not called', { name: 'refund' }, worked, 'fail', /calls "greet", "look_up_order", "mail"/],
  ['whole names', { name: 'look_up' }, worked, 'fail', /"look_up":/],
  ['its case', { name: 'Mail' }, worked, 'fail', /Mail/],
  ['no calls', { name: 'mail' }, idle, 'fail', /no tool calls/],
]);

const args = (given: unknown) => ({ name: 'look_up_order', arguments: given });
const asText = makeSession({ toolCalls: [makeToolCall('look_up_order', '{"order_id":"A-1001"}')] });
const twice = makeSession({
  toolCalls: [makeToolCall('look_up_order', { a: 1 }), makeToolCall('look_up_order', { b: 2 })],
});

table('tool_args', [
  ['a subset', args({ order_id: 'A-1001' }), worked, 'pass', /turn 2/],
  ['nothing wanted', args({}), worked, 'pass', /turn 2/],
  ['a deep subset', args({ deep: { b: [1, { c: 2 }] } }), worked, 'pass', /turn 2/],
  ['lists whole', args({ deep: { b: [1] } }), worked, 'fail', /1 call had/],
  ['another value', args({ order_id: 'A-1' }), worked, 'fail', /1 call had .*A-1001/],
  ['another type', args({ deep: { a: '1' } }), worked, 'fail', /1 call had/],
  ['a missing key', args({ mail: null }), worked, 'fail', /1 call had/],
  ['an inherited key', args({ toString: {} }), worked, 'fail', /1 call had/],
  ['JSON text', args({ order_id: 'A-1001' }), asText, 'pass', /turn 1/],
  ['one call has all', args({ a: 1, b: 2 }), twice, 'fail', /2 calls had/],
  ['another tool', { name: 'mail', arguments: { order_id: 'A-1001' } }, worked, 'fail', /1 call/],
  ['no calls', args({}), idle, 'fail', /no tool calls/],
]);

table('tool_order', [
  ['in order', { names: ['greet', 'look_up_order', 'mail'] }, worked, 'pass', /the session calls/],
  ['others between', { names: ['greet', 'mail'] }, worked, 'pass', /the session calls/],
  [
    'another order',
    { names: ['mail', 'greet'] },
    worked,
    'fail',
    /"greet" is missing after "mail"/,
  ],
  ['twice', { names: ['mail', 'mail'] }, worked, 'fail', /"mail" is missing after "mail"/],
  ['not at all', { names: ['refund'] }, worked, 'fail', /"refund" is missing; /],
  ['no calls', { names: ['mail'] }, idle, 'fail', /no tool calls/],
]);

table('max_turns', [
  ['fewer', { max: 3 }, said('a', 'b'), 'pass', /at most 3 turns: the session has 2/],
  ['as many', { max: 2 }, said('a', 'b'), 'pass', /has 2/],
  ['more', { max: 1 }, said('a', 'b'), 'fail', /at most 1 turn: the session has 2/],
  ['none', { max: 0 }, said(), 'pass', /has 0/],
]);

const took = (...ms: (number | undefined)[]): ScoredSession =>
  makeSession(...ms.map((latencyMs) => (latencyMs === undefined ? {} : { latencyMs })));

table('max_latency', [
  ['fast', { ms: 100 }, took(20, 100), 'pass', /slowest took 100 ms/],
  ['one is slow', { ms: 100 }, took(20, 100.5), 'fail', /turn 2 \(100\.5 ms\)/],
  [
    'unmeasured',
    { ms: 100 },
    took(undefined, undefined),
    'error',
    /turn 1, 2 has no measured latency/,
  ],
  ['partly measured', { ms: 100 }, took(20, undefined), 'error', /turn 2/],
  ['slow is enough', { ms: 100 }, took(undefined, 200), 'fail', /turn 2 \(200 ms\)/],
  ['no turns', { ms: 100 }, took(), 'error', /no turns/],
]);

const walked: ScoredSession = {
  ...worked,
  agent: 'Shop',
  metadata: { 'a "b"': [[1, 2], { x: null }], plain: { '': 0 } },
};
const at = (path: string, equals: unknown) => ({ path, equals });

table('json_path', [
  ['a response', at('$.turns[0].agent_response', 'It has shipped.'), walked, 'pass', /found it/],
  ['another one', at('$.turns[0].agent_response', 'Lost'), walked, 'fail', /found "It has/],
  ['the last', at('$.turns[-1].session_sequence', 2), walked, 'pass', /found it/],
  ['any', at('$.turns[*].tool_calls[*].name', 'mail'), walked, 'pass', /found it/],
  ['any not', at('$.turns[*].tool_calls[*].name', 'x'), walked, 'fail', /"greet", "look_up/],
  ['any key', at('$.metadata.*[0]', [1, 2]), walked, 'pass', /found it/],
  ['quoted', at('$["metadata"]["a \\"b\\""][0][1]', 2), walked, 'pass', /found it/],
  ['single quotes', at("$['metadata']['plain']['']", 0), walked, 'pass', /found it/],
  ['null', at('$.metadata["a \\"b\\""][1].x', null), walked, 'pass', /found it/],
  ['keys in any order', at('$.metadata.plain', { '': 0 }), walked, 'pass', /found it/],
  [
    'parsed arguments',
    at('$.turns[0].tool_calls[0].arguments.order_id', 'A-1001'),
    asText,
    'pass',
    /it/,
  ],
  ['absent', at('$.scenario', null), walked, 'fail', /there is no value/],
  ['beyond the end', at('$.turns[2]', null), walked, 'fail', /there is no value/],
  ['before the start', at('$.turns[-3]', null), walked, 'fail', /there is no value/],
  ['a key of a list', at('$.turns.length', 2), walked, 'fail', /there is no value/],
  ['inherited', at('$.constructor.name', 'Object'), walked, 'fail', /there is no value/],
  ['prototype', at('$["__proto__"]', {}), walked, 'fail', /there is no value/],
  ['text is no number', at('$.turns[0].session_sequence', '1'), walked, 'fail', /found 1/],
  ['no dollar', at('turns[0]', 1), walked, 'error', /must begin with \$/],
  ['a filter', at('$.turns[?(@.failed)]', 1), walked, 'error', /character 8/],
  ['descent', at('$..name', 1), walked, 'error', /character 2/],
  ['unclosed', at('$.turns["a', 1), walked, 'error', /character 8/],
  ['too long', at(`$${'.a'.repeat(300)}`, 1), walked, 'error', /longer than 500/],
]);

const hinted = makeSession({}, { evaluationMetadata: { order_found: true, steps: { a: [1] } } });

table('evaluation_metadata', [
  ['equal', { key: 'order_found', equals: true }, hinted, 'pass', /turn 2 has it/],
  ['deep', { key: 'steps', equals: { a: [1] } }, hinted, 'pass', /turn 2/],
  ['not a subset', { key: 'steps', equals: {} }, hinted, 'fail', /turn 2 has \{"a"/],
  ['another', { key: 'order_found', equals: false }, hinted, 'fail', /turn 2 has true/],
  ['as text', { key: 'order_found', equals: 'true' }, hinted, 'fail', /turn 2 has true/],
  ['no such key', { key: 'tone', equals: null }, hinted, 'fail', /no turn has that key/],
  ['inherited', { key: 'constructor', equals: {} }, hinted, 'fail', /no turn has that key/],
  ['none', { key: 'tone', equals: 'calm' }, idle, 'fail', /no turn has that key/],
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
  for (const [kind, params, shows] of rows) {
    const { outcome, reasoning } = await score(makeEval(kind, params), idle);
    t.equal(outcome, 'error', kind);
    t.match(reasoning, shows);
  }
  const unknown = makeEval('magic' as EvalDefinition['kind'], {});
  t.match(await score(unknown, idle), { outcome: 'error', reasoning: /kind magic/ });
});

void t.test(
  'A pattern with endless backtracking does not block the thread and can be aborted',
  async (t) => {
    const control = new AbortController();
    const definition = makeEval('regex', { pattern: '^(a+)+$' });
    const slow = scoreSession(definition, said(HOSTILE), undefined, control.signal);
    const other = await score(makeEval('contains', { text: 'a' }), said('a'));
    t.equal(other.outcome, 'pass');
    const reason = new Error('called off');
    control.abort(reason);
    await t.rejects(slow, reason);
  },
);

void t.test('Deeply nested or malformed values can be quoted', async (t) => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const session = makeSession({
    toolCalls: [makeToolCall('dig', deep), makeToolCall('dig', '{"a":')],
  });
  const found = await score(makeEval('tool_args', { name: 'dig', arguments: { a: 1 } }), session);
  t.equal(found.outcome, 'fail');
  const torn = await score(makeEval('contains', { text: 'x' }), said('\ud83d'.repeat(100)));
  t.ok(torn.reasoning.isWellFormed());
});

void t.test('Without an LLM judge, the reasoning says how to configure one', async (t) => {
  const found = await score(makeEval('judge', { criteria: 'It greets.' }), idle);
  t.match(found, { outcome: 'error', reasoning: /SANDBOX_KIT_JUDGE_URL/ });
});
