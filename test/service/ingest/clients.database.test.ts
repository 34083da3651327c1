/** Traces from real OpenTelemetry clients are stored, scored, and shown correctly. */
import { context, SpanStatusCode, trace, type Attributes, type Tracer } from '@opentelemetry/api';
import t, { type Test } from 'tap';
import { replicaCount } from '../../support/database/store.ts';
import { readSessionPage } from '../../support/pages/session-page.ts';
import {
  makeContainsEval,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { exporters, startExporter, collectDiagnostics } from '../../support/traces/exporting.ts';
import { formatMessages } from '../../support/traces/otlp.ts';
import { until } from '../../support/until.ts';

const diagnostics = collectDiagnostics();
t.beforeEach(() => void diagnostics.splice(0));

const toolArguments = { order_id: 'A-17' };
const toolResult = { order_id: 'A-17', status: 'shipped' };

/** Starts a service whose live evals require a call of `find_order` for order A-17. */
async function withEval(t: Test): Promise<ServiceUnderTest> {
  const tested = await withService(t);
  const params = { name: 'find_order', arguments: toolArguments };
  await tested.admin(
    'POST /evals',
    makeContainsEval('looks', 'order', { kind: 'tool_args', params }),
  );
  await tested.admin('PUT /settings', { evals: ['looks'] });
  return tested;
}

/** Closes and scores the only conversation, and returns its session. */
async function closeAndScore({ end, drain, production }: ServiceUnderTest, conversationId: string) {
  await end(conversationId);
  await drain();
  const { items } = await production('?include_traces=true');
  const [item] = items;
  if (item?.source_session_id !== conversationId || items.length > 1) {
    throw new Error(`Expected one session, ${conversationId}, got ${items.length}.`);
  }
  const lines = (item.traces ?? []).map((turn) => [turn.user_input, turn.agent_response]);
  return { item, lines, page: await readSessionPage(item.url) };
}

/** Returns the statuses of the trace requests, in order. Each replica lists only its requests. */
async function listStatuses({ admin }: ServiceUnderTest): Promise<number[]> {
  const requests: { path: string; status: number }[] = [];
  for (let nth = 0; nth < replicaCount; nth += 1) {
    requests.push(...((await admin('GET /requests')) as { requests: typeof requests }).requests);
  }
  return requests.filter(({ path }) => path === '/v1/traces').map(({ status }) => status);
}

/** Returns the statuses as they are listed: replicas together have no order. */
const inListedOrder = (statuses: number[]): number[] =>
  replicaCount === 1 ? statuses : statuses.toSorted();

/** Starts a span in a context. */
function startSpan(
  tracer: Tracer,
  operation: string,
  attributes: Attributes,
  parent = context.active(),
) {
  const all = { 'gen_ai.operation.name': operation, ...attributes };
  return tracer.startSpan(`${operation} test`, { attributes: all }, parent);
}

/** Records a turn with a tool loop. Only the root span has the conversation id, and it ends last. */
function recordToolTurn(tracer: Tracer, conversationId: string): void {
  const question = formatMessages('user', 'Where is A-17?');
  const call = { type: 'tool_call', id: 'call_1', name: 'find_order', arguments: toolArguments };
  const toolCallOutput = JSON.stringify([{ role: 'assistant', parts: [call] }]);
  const root = startSpan(tracer, 'invoke_agent', {
    'gen_ai.conversation.id': conversationId,
    'gen_ai.input.messages': question,
    'user.tier': 'gold',
  });
  const insideRoot = trace.setSpan(context.active(), root);
  const models = { 'gen_ai.request.model': 'model-1', 'gen_ai.input.messages': question };
  startSpan(
    tracer,
    'chat',
    { ...models, 'gen_ai.output.messages': toolCallOutput },
    insideRoot,
  ).end();
  const toolAttributes = {
    'gen_ai.tool.name': 'find_order',
    'gen_ai.tool.call.id': 'call_1',
    'gen_ai.tool.call.arguments': JSON.stringify(toolArguments),
    'gen_ai.tool.call.result': JSON.stringify(toolResult),
    retries: 2,
    vip: true,
    labels: ['a', 'b'],
  };
  startSpan(tracer, 'execute_tool', toolAttributes, insideRoot).end();
  const response = { 'gen_ai.output.messages': formatMessages('assistant', 'It has shipped.') };
  startSpan(
    tracer,
    'chat',
    { ...models, ...response, 'gen_ai.usage.input_tokens': 30 },
    insideRoot,
  ).end();
  root.setAttributes(response).end();
}

for (const exporter of exporters) {
  void t.test(`${exporter}: an id on the root span, turns, tools, and tags`, async (t) => {
    const tested = await withEval(t);
    const resource = { 'deployment.environment': 'test' };
    const { tracer, flush } = startExporter(t, tested.service, { exporter, resource });
    recordToolTurn(tracer, 'conv-7');
    const failing = startSpan(tracer, 'chat', {
      'gen_ai.conversation.id': 'conv-7',
      // Both turns may start within one millisecond; the history then shows their order.
      'gen_ai.input.messages': JSON.stringify([
        { role: 'user', parts: [{ type: 'text', content: 'Where is A-17?' }] },
        { role: 'assistant', parts: [{ type: 'text', content: 'It has shipped.' }] },
        { role: 'user', parts: [{ type: 'text', content: 'Thanks!' }] },
      ]),
    });
    failing.setStatus({ code: SpanStatusCode.ERROR, message: 'The model failed.' }).end();
    tracer.startSpan('GET /health').end();
    await flush();

    const { item, lines, page } = await closeAndScore(tested, 'conv-7');
    t.same(lines, [
      ['Where is A-17?', 'It has shipped.'],
      ['Thanks!', ''],
    ]);
    t.same(item.outcome_summary.passed_count, 1, 'the eval sees the arguments of the call');
    t.same(page.turns[0]?.tools, [
      { name: 'find_order', arguments: toolArguments, result: toolResult },
    ]);
    t.same(page.turns[1]?.tools, []);
    t.notMatch(page.turns[0]?.marks, /failed/, 'status UNSET is not a failure');
    t.match(page.turns[1]?.marks, /failed/);
    t.match(page.tags, {
      'user.tier': 'gold',
      retries: '2',
      vip: 'true',
      labels: '["a","b"]',
      'service.name': 'shop',
      'deployment.environment': 'test',
    });
    t.same(diagnostics, []);
  });

  void t.test(`${exporter}: a conversation id in X-Conversation-Id`, async (t) => {
    const tested = await withEval(t);
    const conversationId = 'by header: größer';
    const header = Buffer.from(conversationId).toString('latin1');
    const { tracer, flush } = startExporter(t, tested.service, {
      exporter,
      conversationId: header,
    });
    const hello = { 'gen_ai.input.messages': formatMessages('user', 'Hello') };
    startSpan(tracer, 'chat', {
      ...hello,
      'gen_ai.output.messages': formatMessages('assistant', 'Hi!'),
    }).end();
    await flush();
    t.same((await closeAndScore(tested, conversationId)).lines, [['Hello', 'Hi!']]);
    t.same(diagnostics, []);
  });

  void t.test(
    `${exporter}: the exporter retries a rejected batch, which is stored once`,
    async (t) => {
      const tested = await withEval(t);
      for (const kind of ['rate_limit', 'unavailable']) {
        const fault = { kind, route: 'traces', times: 1, retry_after_s: 1 };
        await tested.admin('POST /faults', fault);
      }
      const { tracer, flush } = startExporter(t, tested.service, { exporter });
      recordToolTurn(tracer, 'conv-8');
      await flush();
      t.same(inListedOrder(await listStatuses(tested)), inListedOrder([429, 503, 200]));
      t.same((await closeAndScore(tested, 'conv-8')).lines, [
        ['Where is A-17?', 'It has shipped.'],
      ]);
      t.same(diagnostics, []);
    },
  );

  void t.test(`${exporter}: a rate-limited batch is accepted after Retry-After`, async (t) => {
    const tested = await withEval(t);
    const empty = { headers: { 'content-type': 'application/x-protobuf' } };
    const sending = Array.from({ length: 120 }, () => tested.send('POST /v1/traces', empty));
    t.ok((await Promise.all(sending)).every(({ status }) => status === 200));
    tested.clock.advance(59_500);
    const { tracer, flush } = startExporter(t, tested.service, { exporter });
    recordToolTurn(tracer, 'conv-9');
    const flushed = flush();
    // The exporter retries after the Retry-After of one second.
    await until(
      'the batch is rejected',
      async () => inListedOrder(await listStatuses(tested)).at(-1) === 429,
    );
    tested.clock.advance(500);
    await flushed;
    const statuses = inListedOrder(await listStatuses(tested));
    t.same(statuses.slice(-2), inListedOrder([429, 200]));
    t.same((await closeAndScore(tested, 'conv-9')).lines.length, 1);
    t.same(diagnostics, []);
  });

  void t.test(`${exporter}: the exporter reports what it drops`, async (t) => {
    const { admin, service } = await withService(t);
    await admin('POST /faults', { kind: 'server_error', route: 'traces', times: 1 });
    const { tracer, flush } = startExporter(t, service, { exporter });
    recordToolTurn(tracer, 'conv-10');
    await flush().catch(() => undefined);
    t.match(
      diagnostics.join('\n'),
      /500|Internal Server Error/,
      'a drop is reported, so no report means accepted',
    );
  });
}
