/** What real clients send, by their own means, comes out right. */
import { context, SpanStatusCode, trace, type Attributes, type Tracer } from '@opentelemetry/api';
import { createOpenAI } from '@ai-sdk/openai';
import { OpenTelemetry } from '@ai-sdk/otel';
import { OpenAIInstrumentation } from '@traceloop/instrumentation-openai';
import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { OpenAI } from 'openai';
import t, { type Test } from 'tap';
import {
  exporters,
  startExporter,
  collectDiagnostics,
  formatMessages,
} from '../../helpers/exporting.ts';
import { behaviors, startOpenAiServer, type Behavior } from '../../helpers/openai-server.ts';
import { makeContainsEval, withService, type Bench } from '../../helpers/service.ts';
import { readSessionPage } from '../../helpers/session-page.ts';
import { until } from '../../helpers/until.ts';

const complaints = collectDiagnostics();
t.beforeEach(() => void complaints.splice(0));

const wanted = { order_id: 'A-17' };
const found = { order_id: 'A-17', status: 'shipped' };

/** A service whose live set asks for a call of `find_order` for order A-17. */
async function withEval(t: Test): Promise<Bench> {
  const bench = await withService(t);
  const params = { name: 'find_order', arguments: wanted };
  await bench.admin('POST /evals', makeContainsEval('looks', '', { kind: 'tool_args', params }));
  await bench.admin('PUT /settings', { evals: ['looks'] });
  return bench;
}

/** The one session that there is, after its conversation was closed and scored. */
async function scored({ end, drain, production }: Bench, conversationId: string) {
  await end(conversationId);
  await drain();
  const { items } = await production('?include_traces=true');
  const [item] = items;
  if (item?.source_session_id !== conversationId || items.length > 1) {
    throw new Error(`expected one session, ${conversationId}, got ${items.length}`);
  }
  const said = (item.traces ?? []).map((turn) => [turn.user_input, turn.agent_response]);
  return { item, said, shown: await readSessionPage(item.url) };
}

/** The answers to requests for traces, in the order in which they were given. */
async function statuses({ admin }: Bench): Promise<number[]> {
  const { requests } = (await admin('GET /requests')) as {
    requests: { path: string; status: number }[];
  };
  return requests.filter(({ path }) => path === '/v1/traces').map(({ status }) => status);
}

/** A span that ends at once, below another one where there is one. */
function span(tracer: Tracer, operation: string, attributes: Attributes, below = context.active()) {
  const all = { 'gen_ai.operation.name': operation, ...attributes };
  return tracer.startSpan(`${operation} test`, { attributes: all }, below);
}

/** An agent's turn with a tool loop. Only the root carries the id, and it ends last. */
function toolTurn(tracer: Tracer, conversationId: string): void {
  const question = formatMessages('user', 'Where is A-17?');
  const call = { type: 'tool_call', id: 'call_1', name: 'find_order', arguments: wanted };
  const asking = JSON.stringify([{ role: 'assistant', parts: [call] }]);
  const root = span(tracer, 'invoke_agent', {
    'gen_ai.conversation.id': conversationId,
    'gen_ai.input.messages': question,
    'user.tier': 'gold',
  });
  const below = trace.setSpan(context.active(), root);
  const models = { 'gen_ai.request.model': 'model-1', 'gen_ai.input.messages': question };
  span(tracer, 'chat', { ...models, 'gen_ai.output.messages': asking }, below).end();
  const executed = {
    'gen_ai.tool.name': 'find_order',
    'gen_ai.tool.call.id': 'call_1',
    'gen_ai.tool.call.arguments': JSON.stringify(wanted),
    'gen_ai.tool.call.result': JSON.stringify(found),
    retries: 2,
    vip: true,
    labels: ['a', 'b'],
  };
  span(tracer, 'execute_tool', executed, below).end();
  const response = { 'gen_ai.output.messages': formatMessages('assistant', 'It has shipped.') };
  span(tracer, 'chat', { ...models, ...response, 'gen_ai.usage.input_tokens': 30 }, below).end();
  root.setAttributes(response).end();
}

for (const exporter of exporters) {
  void t.test(`${exporter}: an id on the root span, turns, tools, and tags`, async (t) => {
    const bench = await withEval(t);
    const resource = { 'deployment.environment': 'test' };
    const { tracer, flush } = startExporter(t, bench.service, { exporter, resource });
    toolTurn(tracer, 'conv-7');
    const failing = span(tracer, 'chat', {
      'gen_ai.conversation.id': 'conv-7',
      'gen_ai.input.messages': formatMessages('user', 'Thanks!'),
    });
    failing.setStatus({ code: SpanStatusCode.ERROR, message: 'the model is gone' }).end();
    tracer.startSpan('GET /health').end();
    await flush();

    const { item, said: turns, shown } = await scored(bench, 'conv-7');
    t.same(turns, [
      ['Where is A-17?', 'It has shipped.'],
      ['Thanks!', ''],
    ]);
    t.same(item.outcome_summary.passed_count, 1, 'the eval sees the arguments of the call');
    t.same(shown.turns[0]?.tools, [{ name: 'find_order', arguments: wanted, result: found }]);
    t.same(shown.turns[1]?.tools, []);
    t.notMatch(shown.turns[0]?.marks, /failed/, 'status UNSET is no failure');
    t.match(shown.turns[1]?.marks, /failed/);
    t.match(shown.tags, {
      'user.tier': 'gold',
      retries: '2',
      vip: 'true',
      labels: '["a","b"]',
      'service.name': 'shop',
      'deployment.environment': 'test',
    });
    t.same(complaints, []);
  });

  void t.test(`${exporter}: the id in X-Conversation-Id`, async (t) => {
    const bench = await withEval(t);
    const conversationId = 'by header: größer';
    const header = Buffer.from(conversationId).toString('latin1');
    const { tracer, flush } = startExporter(t, bench.service, { exporter, conversationId: header });
    const hello = { 'gen_ai.input.messages': formatMessages('user', 'Hello') };
    span(tracer, 'chat', {
      ...hello,
      'gen_ai.output.messages': formatMessages('assistant', 'Hi!'),
    }).end();
    await flush();
    t.same((await scored(bench, conversationId)).said, [['Hello', 'Hi!']]);
    t.same(complaints, []);
  });

  void t.test(
    `${exporter}: the exporter retries a rejected batch, which is stored once`,
    async (t) => {
      const bench = await withEval(t);
      for (const kind of ['rate_limit', 'unavailable']) {
        const fault = { kind, route: 'traces', times: 1, retry_after_s: 1 };
        await bench.admin('POST /faults', fault);
      }
      const { tracer, flush } = startExporter(t, bench.service, { exporter });
      toolTurn(tracer, 'conv-8');
      await flush();
      t.same(await statuses(bench), [429, 503, 200]);
      t.same((await scored(bench, 'conv-8')).said, [['Where is A-17?', 'It has shipped.']]);
      t.same(complaints, []);
    },
  );

  void t.test(`${exporter}: a rate-limited batch is accepted after Retry-After`, async (t) => {
    const bench = await withEval(t);
    const empty = { headers: { 'content-type': 'application/x-protobuf' } };
    const sent = Array.from({ length: 120 }, () => bench.send('POST /v1/traces', empty));
    t.ok((await Promise.all(sent)).every(({ status }) => status === 200));
    bench.clock.advance(59_500);
    const { tracer, flush } = startExporter(t, bench.service, { exporter });
    toolTurn(tracer, 'conv-9');
    const flushed = flush();
    // The exporter comes again after the second that it was told to wait.
    await until('refused', async () => (await statuses(bench)).at(-1) === 429);
    bench.clock.advance(500);
    await flushed;
    t.same((await statuses(bench)).slice(-2), [429, 200]);
    t.same((await scored(bench, 'conv-9')).said.length, 1);
    t.same(complaints, []);
  });

  void t.test(`${exporter}: the exporter reports what it drops`, async (t) => {
    const { admin, service } = await withService(t);
    await admin('POST /faults', { kind: 'server_error', route: 'traces', times: 1 });
    const { tracer, flush } = startExporter(t, service, { exporter });
    toolTurn(tracer, 'conv-10');
    await flush().catch(() => undefined);
    t.match(complaints.join('\n'), /500|Internal Server Error/, 'so that silence means accepted');
  });
}

const completion = (message: object, finish = 'stop'): Behavior =>
  behaviors.body({
    id: 'completion-1',
    object: 'chat.completion',
    created: 1_795_168_800,
    model: 'model-1-2026',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  });
const call = { name: 'find_order', arguments: JSON.stringify(wanted) };
const askForTool = completion(
  { content: null, tool_calls: [{ id: 'call_1', type: 'function', function: call }] },
  'tool_calls',
);

void t.test('AI SDK with OpenTelemetry: a tool loop is one turn', async (t) => {
  const [bench, model] = [await withEval(t), await startOpenAiServer(t)];
  model.behave(askForTool, completion({ content: 'It has shipped.' }));
  const exporter = 'OTLP/protobuf with gzip';
  const { tracer, flush } = startExporter(t, bench.service, { exporter, conversationId: 'ai-1' });
  const openai = createOpenAI({ baseURL: model.baseUrl, apiKey: 'a-key' });
  const { text } = await generateText({
    model: openai.chat('model-1'),
    instructions: 'You help.',
    prompt: 'Where is A-17?',
    tools: {
      find_order: tool({
        description: 'Finds an order.',
        inputSchema: jsonSchema<typeof wanted>({
          type: 'object',
          properties: { order_id: { type: 'string' } },
          required: ['order_id'],
        }),
        execute: () => found,
      }),
    },
    stopWhen: isStepCount(5),
    telemetry: { functionId: 'shop', integrations: [new OpenTelemetry({ tracer })] },
  });
  t.equal(text, 'It has shipped.');
  t.equal(model.requests.length, 2);
  await flush();

  const { item, said: turns, shown } = await scored(bench, 'ai-1');
  t.same(turns, [['Where is A-17?', 'It has shipped.']]);
  t.same(item.eval_outcomes[0]?.outcome, 'pass');
  t.same(
    shown.turns.map(({ tools }) => tools),
    [[{ name: 'find_order', arguments: wanted, result: found }]],
  );
  t.match(shown.tags, { 'service.name': 'shop', 'server.address': '127.0.0.1' });
  t.same(complaints, []);
});

void t.test('Traceloop for OpenAI: each user message is one turn', async (t) => {
  const [bench, model] = [await withEval(t), await startOpenAiServer(t)];
  const hello = completion({ content: 'Good morning!' });
  model.behave(hello, askForTool, completion({ content: 'It has shipped.' }));
  const { provider, flush } = startExporter(t, bench.service, { conversationId: 'traceloop-1' });
  const instrumentation = new OpenAIInstrumentation({ exceptionLogger: (error) => t.error(error) });
  instrumentation.setTracerProvider(provider);
  instrumentation.manuallyInstrument(OpenAI);
  const openai = new OpenAI({ baseURL: model.baseUrl, apiKey: 'a-key', maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: 'You help.' }];
  const ask = async (message: OpenAI.ChatCompletionMessageParam): Promise<void> => {
    messages.push(message);
    const { choices } = await openai.chat.completions.create({ model: 'model-1', messages });
    if (choices[0]) messages.push(choices[0].message);
  };
  await ask({ role: 'user', content: 'Hello' });
  await ask({ role: 'user', content: 'Where is A-17?' });
  await ask({ role: 'tool', tool_call_id: 'call_1', content: JSON.stringify(found) });
  await flush();

  const { item, said: turns, shown } = await scored(bench, 'traceloop-1');
  t.same(turns, [
    ['Hello', 'Good morning!'],
    ['Where is A-17?', 'It has shipped.'],
  ]);
  t.same(item.eval_outcomes[0]?.outcome, 'pass');
  t.same(
    shown.turns.map(({ tools }) => tools),
    [[], [{ name: 'find_order', arguments: wanted, result: found }]],
  );
  t.same(complaints, []);
});
