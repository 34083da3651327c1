/** Clients of the service that name their tool calls in one place, or nowhere. */
import t from 'tap';
import { rowOf } from '../support/conformance/verdicts.ts';
import { end, sendSpans } from '../support/conformance/client-requests.ts';
import { judgeRun, type Target } from '../support/conformance/judged-client.ts';
import { makeSpan, type SpanParts } from '../support/traces/otlp.ts';

const NAME = { 'gen_ai.tool.name': 'find_parcel' };
const ID = { 'gen_ai.tool.call.id': 'call-1' };

/** Returns the attribute with a reply that calls a tool, in the format of the conventions or of chat completions. */
function callIn(format: 'parts' | 'tool_calls', call: object): Record<string, unknown> {
  const parts: object[] = [{ type: 'text', content: 'I look for it.' }];
  const message =
    format === 'parts'
      ? { role: 'assistant', parts: [...parts, { type: 'tool_call', ...call }] }
      : { role: 'assistant', parts, tool_calls: [{ type: 'function', function: call }] };
  return { 'gen_ai.output.messages': JSON.stringify([message]) };
}

/** Sends a turn: a model call, and a tool call unless it is null. */
async function sendTurn(target: Target, model: SpanParts, tool: SpanParts | null): Promise<void> {
  const turn = makeSpan(model);
  const ids = { traceId: String(turn['traceId']), parentSpanId: String(turn['spanId']) };
  const tools = tool ? [makeSpan({ ...ids, operation: 'execute_tool', ...tool })] : [];
  await sendSpans(target, turn, ...tools);
  await end(target);
}

const clients: readonly (readonly [
  title: string,
  verdict: 'pass' | 'note' | 'warn' | 'not_observed',
  model: SpanParts,
  tool: SpanParts | null,
])[] = [
  ['without a tool call', 'not_observed', {}, null],
  ['with a named span', 'pass', {}, { name: 'tool', attributes: NAME }],
  ['without a name', 'warn', {}, { name: 'tool' }],
  ['with an empty name', 'warn', {}, { name: 'tool', attributes: { 'gen_ai.tool.name': '' } }],
  ['with a name only in the name of the span', 'note', {}, { name: 'execute_tool find_parcel' }],
  [
    'with a name only in the message',
    'pass',
    { attributes: callIn('parts', { id: 'call-1', name: 'find_parcel' }) },
    { name: 'tool', attributes: ID },
  ],
  [
    'with a name only on the span of the call in the message',
    'pass',
    { attributes: callIn('parts', { id: 'call-1' }) },
    { name: 'tool', attributes: { ...NAME, ...ID } },
  ],
  [
    'with a name on the span of another call',
    'warn',
    { attributes: callIn('parts', { id: 'call-2' }) },
    { name: 'tool', attributes: { ...NAME, ...ID } },
  ],
  [
    'in chat completions format',
    'pass',
    { attributes: callIn('tool_calls', { name: 'find_parcel', arguments: '{}' }) },
    null,
  ],
  [
    'in chat completions format, without a name',
    'warn',
    { attributes: callIn('tool_calls', { arguments: '{}' }) },
    null,
  ],
];

for (const [title, verdict, model, tool] of clients) {
  void t.test(`a client ${title}: ${verdict}`, async (t) => {
    const { report, failed, warned } = await judgeRun(t, (target) => sendTurn(target, model, tool));
    const row = rowOf(report, 'CLIENT-058');
    t.equal(row?.verdict, verdict);
    t.same([failed, warned], [[], verdict === 'warn' ? ['CLIENT-058'] : []]);
    if (verdict === 'warn') t.match(row?.hint, /gen_ai\.tool\.name|"name":"find_parcel"/);
  });
}
