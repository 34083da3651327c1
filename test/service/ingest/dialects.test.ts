/**
 * Traces that the service can't read: each dialect is recognized and gets its cure. The spans have the
 * scope names and attributes that the sources of the SDKs show.
 */
import t from 'tap';
import {
  readTraceRequest,
  type KeyValue,
  type Span,
  type TraceExportRequest,
} from '../../../src/contract/index.ts';
import { dialects } from '../../../src/service/ingest/dialects/table.ts';
import type { IngestLogEntry } from '../../../src/service/store/store.ts';
import type { SpanWithEvents } from '../../support/traces/otlp-wire.ts';
import {
  conversation,
  expectAccepted,
  operation,
  readRequest,
} from '../../support/traces/read-spans.ts';
import { makeWireRequest, makeWireSpan } from '../../support/traces/span-sketch.ts';

/** A span as an SDK sends it. */
interface SdkSpan {
  scope?: string;
  language?: string;
  name?: string;
  attributes?: Record<string, unknown>;
  events?: readonly string[];
}

/** Returns a request with one span of an SDK; without an operation unless the attributes have one. */
function makeSdkRequest({ scope = 'app', language, name, ...rest }: SdkSpan): TraceExportRequest {
  const { attributes = {}, events = [] } = rest;
  const hasOperation = 'gen_ai.operation.name' in attributes;
  const span = makeWireSpan({ id: 'a1', attributes });
  const wire: SpanWithEvents = {
    ...span,
    name: name ?? 'span',
    attributes: (span.attributes ?? []).filter(
      ({ key }) => hasOperation || key !== 'gen_ai.operation.name',
    ),
    events: events.map((event) => ({ name: event })),
  };
  const resource = language === undefined ? {} : { 'telemetry.sdk.language': language };
  const request = makeWireRequest([wire], resource);
  for (const group of request.resourceSpans ?? [])
    for (const scoped of group.scopeSpans ?? []) scoped.scope = { name: scope };
  return request;
}

function makeAttribute(key: string): KeyValue {
  return { key, value: { stringValue: 'x' } };
}

/** Reads a span of an SDK and returns its warning about the dialect. */
function diagnose(span: SdkSpan): IngestLogEntry | undefined {
  const { logEntries } = expectAccepted(readRequest(readTraceRequest(makeSdkRequest(span))));
  return logEntries.find(({ code }) => code.startsWith('unreadable_'));
}

const chat = { ...operation('chat'), ...conversation('c') };
const older = { 'gen_ai.system': 'openai', 'gen_ai.prompt.0.content': 'SECRET' };

const ignored: [sdk: string, span: SdkSpan, cure: RegExp][] = [
  [
    'AI SDK 6',
    {
      scope: 'ai',
      attributes: { 'ai.operationId': 'ai.generateText.doGenerate', 'gen_ai.system': 'x' },
    },
    /registerTelemetry\(new OpenTelemetry\(\)\) from @ai-sdk\/otel/,
  ],
  [
    'AI SDK 6 with the OpenInference processor',
    {
      scope: 'ai',
      attributes: { 'ai.operationId': 'ai.streamText', 'openinference.span.kind': 'LLM' },
    },
    /AI SDK 7/,
  ],
  [
    'Langfuse, JavaScript',
    {
      scope: 'langfuse-sdk',
      language: 'nodejs',
      attributes: { 'langfuse.observation.type': 'generation' },
    },
    /no setting changes that\. Add .* @traceloop\/instrumentation-openai/,
  ],
  [
    'Langfuse, Python',
    {
      scope: 'langfuse-sdk',
      language: 'python',
      attributes: { 'langfuse.observation.type': 'generation' },
    },
    /opentelemetry-instrumentation-anthropic 0\.54/,
  ],
  [
    'OpenInference, Python',
    {
      scope: 'openinference.instrumentation.openai',
      language: 'python',
      attributes: { 'openinference.span.kind': 'LLM', 'llm.input_messages.0.message.role': 'user' },
    },
    /OPENINFERENCE_ENABLE_GENAI_SEMCONV=true.* 0\.1\.51/,
  ],
  [
    'OpenInference, JavaScript',
    {
      scope: '@arizeai/openinference-instrumentation-openai',
      language: 'nodejs',
      attributes: { 'openinference.span.kind': 'LLM' },
    },
    /no setting changes that in JavaScript\. Use another/,
  ],
  [
    'OpenInference, Java',
    { attributes: { 'openinference.span.kind': 'LLM' }, language: 'java' },
    /In other languages, no setting helps/,
  ],
  [
    'Google ADK, Python',
    {
      scope: 'gcp.vertex.agent',
      language: 'python',
      attributes: { 'gen_ai.system': 'gcp.vertex.agent', 'gcp.vertex.agent.llm_request': '{}' },
    },
    /openinference-instrumentation-google-adk/,
  ],
  [
    'Google ADK, TypeScript',
    {
      scope: 'gcp.vertex.agent',
      language: 'nodejs',
      attributes: { 'gen_ai.system': 'gcp.vertex.agent', 'gcp.vertex.agent.llm_request': '{}' },
    },
    /no setting of ADK changes that\. Set .* by hand/,
  ],
  [
    'Genkit, JavaScript: @genkit-ai/otel is not on npm',
    { scope: 'genkit-tracer', language: 'nodejs', attributes: { 'genkit:type': 'action' } },
    /no released version for JavaScript changes that\. Add @traceloop\/instrumentation-openai/,
  ],
  [
    'Genkit, Python',
    { scope: 'genkit-tracer', language: 'python', attributes: { 'genkit:type': 'action' } },
    /genkit-otel .*contentCapturingMode/,
  ],
  [
    'TanStack AI, tool calls',
    { attributes: { 'gen_ai.tool.name': 'find', 'tanstack.ai.tool.outcome': 'success' } },
    /In onSpanEnd of otelMiddleware, set gen_ai\.operation\.name to execute_tool/,
  ],
  [
    'VoltAgent',
    { scope: '@voltagent/core', attributes: { 'llm.messages': 'SECRET' } },
    /spanProcessors/,
  ],
  [
    'Traceloop, older, JavaScript',
    { scope: '@traceloop/instrumentation-openai', attributes: older },
    /Upgrade to @traceloop\/instrumentation-openai 0\.23 or later/,
  ],
  [
    'Traceloop, older, LangChain for JavaScript: the current version loses tool calls',
    { scope: '@traceloop/instrumentation-langchain', attributes: older },
    /Use @traceloop\/instrumentation-openai/,
  ],
  [
    'Traceloop, older, Python',
    {
      scope: 'opentelemetry.instrumentation.openai.v1',
      attributes: { 'llm.request.type': 'chat' },
    },
    /Upgrade to opentelemetry-instrumentation-openai 0\.55 or later/,
  ],
  [
    'Traceloop, older, OpenAI Agents',
    { scope: 'opentelemetry.instrumentation.openai_agents', attributes: older },
    /opentelemetry-instrumentation-openai-agents 0\.61 or later/,
  ],
  [
    'Traceloop, a package without a current version',
    { scope: '@traceloop/instrumentation-cohere', attributes: older },
    /no setting changes that\. Set/,
  ],
  [
    'Traceloop for Gemini',
    { scope: '@traceloop/instrumentation-google-generativeai', attributes: older },
    /No version helps/,
  ],
  ['an unknown older instrumentation', { attributes: older }, /conventions before 1\.37/],
  [
    'Logfire 4',
    { scope: 'logfire.openai', attributes: { request_data: '{"messages":"SECRET"}' } },
    /Upgrade logfire to 5\.0/,
  ],
];

void t.test('ignored spans: the dialect is recognized and the cure named', (t) => {
  for (const [sdk, span, cure] of ignored) {
    const entry = diagnose(span);
    t.match(
      entry,
      { level: 'warn', code: 'unreadable_spans', message: /^Ignored: spans of / },
      sdk,
    );
    t.match(entry?.message, cure, sdk);
  }
  t.end();
});

const events = ['gen_ai.user.message', 'gen_ai.choice'];
const withoutText: [sdk: string, span: SdkSpan, cure: RegExp][] = [
  ['AI SDK 7', { scope: 'gen_ai' }, /Remove recordInputs: false/],
  ['TanStack AI', { name: 'chat gpt-5.5 #0' }, /captureContent: true/],
  [
    'Strands, Python',
    { scope: 'strands.telemetry.tracer', events },
    /gen_ai_latest_experimental,gen_ai_span_attributes_only/,
  ],
  [
    'Strands, with a custom tracer name',
    { attributes: { 'gen_ai.provider.name': 'strands-agents' }, events },
    /strands-agents 1\.48/,
  ],
  ['Pydantic AI', { scope: 'pydantic-ai' }, /remove version=1 and include_content=False/],
  ['Genkit', { scope: 'genkit-genai' }, /'SPAN_ONLY' to GenAiInstrumentation/],
  [
    'OpenTelemetry for JavaScript',
    { scope: '@opentelemetry/instrumentation-openai' },
    /in log records, and no setting changes that\. Replace/,
  ],
  [
    'OpenTelemetry for Python, before the opt-in',
    { scope: 'opentelemetry.instrumentation.openai_v2' },
    /2\.4b0 or later, set .*gen_ai_latest_experimental.*span_only/,
  ],
  [
    'OpenTelemetry for Python',
    { scope: 'opentelemetry.util.genai.handler' },
    /CAPTURE_MESSAGE_CONTENT=SPAN_ONLY/,
  ],
  [
    'Traceloop, JavaScript',
    { scope: '@traceloop/instrumentation-anthropic' },
    /TRACELOOP_TRACE_CONTENT=false and traceContent/,
  ],
  [
    'Traceloop, Python',
    { scope: 'opentelemetry.instrumentation.anthropic' },
    /use_attributes=False/,
  ],
  ['messages in span events', { events }, /span events, which the service does not read/],
  [
    'messages in one span event',
    { events: ['gen_ai.client.inference.operation.details'] },
    /span events, which the service does not read/,
  ],
];

void t.test('chat spans without messages: where the messages are, and the cure', (t) => {
  for (const [sdk, span, cure] of withoutText) {
    const entry = diagnose({ ...span, attributes: { ...chat, ...span.attributes } });
    t.match(entry, { level: 'warn', message: /^Stored without text: chat spans of / }, sdk);
    t.match(entry?.message, cure, sdk);
  }
  t.end();
});

void t.test('model calls of Google make no turn', (t) => {
  const generate = { ...operation('generate_content'), ...conversation('c') };
  const adk = { ...generate, 'gcp.vertex.agent.event_id': 'e' };
  const rows: [span: SdkSpan, cure: RegExp][] = [
    [
      { scope: 'gcp.vertex.agent', language: 'python', attributes: adk },
      /instrumentation-google-adk/,
    ],
    [{ scope: 'gcp.vertex.agent', language: 'go', attributes: adk }, /by hand/],
    [{ language: 'python', attributes: generate }, /openinference-instrumentation-google-genai/],
    [{ attributes: generate }, /gen_ai\.operation\.name to chat by hand/],
  ];
  for (const [span, cure] of rows) {
    const entry = diagnose(span);
    t.match(entry, {
      level: 'warn',
      message: /^Stored, but not part of any turn: model calls of /,
    });
    t.match(entry?.message, cure);
  }
  t.end();
});

void t.test('readable spans and spans of other libraries get no diagnosis', (t) => {
  const text = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'Hello' }] }]);
  const readable = { ...chat, 'gen_ai.input.messages': text };
  const rows: SdkSpan[] = [
    ...withoutText.map(([, span]) => ({
      ...span,
      attributes: { ...readable, ...span.attributes },
    })),
    // OpenInference for Python with its opt-in.
    { language: 'python', attributes: { ...readable, 'openinference.span.kind': 'LLM' } },
    { scope: '@opentelemetry/instrumentation-http', attributes: { 'http.route': '/' } },
    { scope: 'traceloop.tracer', attributes: { 'traceloop.span.kind': 'workflow' } },
    { scope: 'opentelemetry.instrumentation.fastapi', language: 'python' },
    { attributes: operation('embeddings') },
    { attributes: chat },
  ];
  for (const span of rows) {
    const attributes = { ...conversation('c'), ...span.attributes };
    t.equal(diagnose({ ...span, attributes }), undefined, JSON.stringify(span).slice(0, 90));
  }
  t.end();
});

void t.test('spans next to a readable turn of their trace need no cure', (t) => {
  const text = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'Hello' }] }]);
  const turn = makeWireSpan({ id: 'a1', attributes: { ...chat, 'gen_ai.input.messages': text } });
  const wrapper = makeWireSpan({
    id: 'a2',
    wire: { attributes: [makeAttribute('langfuse.observation.type')] },
  });
  const codesOf = (...spans: Span[]): string[] =>
    readRequest(readTraceRequest(makeWireRequest(spans))).logEntries.map(({ code }) => code);
  t.strictSame(codesOf(turn), []);
  t.strictSame(codesOf(turn, wrapper), ['ignored_spans']);
  t.strictSame(codesOf(wrapper), ['unreadable_spans']);
  const withAttributes = (...keys: string[]): Span =>
    makeWireSpan({ id: 'a3', wire: { attributes: keys.map(makeAttribute) } });
  t.strictSame(codesOf(withAttributes('gen_ai.system')), ['older_conventions']);
  t.strictSame(codesOf(turn, withAttributes('gen_ai.system')), ['ignored_spans']);
  const tool = withAttributes('gen_ai.tool.name', 'tanstack.ai.tool.outcome');
  t.strictSame(codesOf(turn, tool), ['unreadable_spans'], 'the turn does not repeat the call');
  t.end();
});

void t.test('model calls without input and tool calls without details: the cure', (t) => {
  const text = JSON.stringify([
    { role: 'assistant', parts: [{ type: 'text', content: 'SECRET' }] },
  ]);
  const withOutput = { ...chat, 'gen_ai.output.messages': text };
  const withInput = { ...withOutput, 'gen_ai.input.messages': text };
  const mastra = { scope: '@mastra/otel-exporter' };
  t.match(diagnose({ ...mastra, attributes: withOutput }), {
    level: 'warn',
    code: 'unreadable_input',
    message: /^Stored without input: chat spans of Mastra\. .* spanOutputProcessors/,
  });
  t.equal(diagnose({ ...mastra, attributes: withInput }), undefined);
  t.equal(diagnose({ attributes: withOutput }), undefined);

  const tool = { ...operation('execute_tool'), ...conversation('c'), 'gen_ai.tool.name': 'find' };
  const langchain = { scope: '@traceloop/instrumentation-langchain' };
  t.match(diagnose({ ...langchain, attributes: tool }), {
    level: 'warn',
    code: 'unreadable_tool_calls',
    message:
      /^Stored without details: tool calls of Traceloop for LangChain\. .*instrumentation-openai/,
  });
  for (const key of ['gen_ai.tool.call.arguments', 'gen_ai.tool.call.result']) {
    t.equal(diagnose({ ...langchain, attributes: { ...tool, [key]: '{}' } }), undefined);
  }
  t.equal(diagnose({ attributes: tool }), undefined);
  t.end();
});

void t.test('a dialect is one entry per request, with a count, ids, and no text', (t) => {
  const span = (id: string) =>
    makeWireSpan({ id, wire: { attributes: [makeAttribute('openinference.span.kind')] } });
  const { logEntries } = readRequest(readTraceRequest(makeWireRequest([span('a1'), span('a2')])));
  t.match(logEntries, [
    {
      code: 'unreadable_spans',
      about: { sdk: 'OpenInference', scope: 'test', span_id: /a1$/, count: 2 },
    },
  ]);
  t.equal(logEntries.length, 1);
  for (const [, sdkSpan] of ignored) t.notMatch(JSON.stringify(diagnose(sdkSpan)), 'SECRET');
  t.end();
});

void t.test('a request without a conversation id: the setting of the SDK is named', (t) => {
  const reasonOf = (span: SdkSpan): string => {
    const attributes = { ...operation('chat'), ...span.attributes };
    const result = readRequest(readTraceRequest(makeSdkRequest({ ...span, attributes })));
    return 'rejection' in result ? result.rejection.message : '';
  };
  t.match(reasonOf({ scope: 'gen_ai' }), /The spans: chat 0+a1\. In AI SDK 7, .*enrichSpan/);
  t.match(reasonOf({ name: 'chat gpt-5.5 #0' }), /attributeEnricher/);
  t.match(reasonOf({ scope: 'strands-agents' }), /traceAttributes/);
  t.match(reasonOf({ scope: 'pydantic-ai' }), /conversation_id/);
  t.match(reasonOf({ scope: '@traceloop/instrumentation-openai' }), /withConversation\(\)/);
  t.match(
    reasonOf({ scope: 'opentelemetry.instrumentation.openai.v1' }),
    /set_conversation_id\(\)/,
  );
  t.match(
    reasonOf({ scope: 'unknown' }),
    /The spans: chat 0+a1\. To set it on every span .* BaggageSpanProcessor/,
  );
  t.end();
});

void t.test('every text says what to do, in whole sentences', (t) => {
  for (const { name, marks, isLossInReadableTraces, ...texts } of dialects) {
    t.ok(marks.length > 0, name);
    for (const text of Object.values(texts)) {
      t.match(text, /^[A-Z].*\.$/, name);
      t.match(
        text,
        /\b(Set|Add|Use|Upgrade|Pass|Remove|Replace|pass|return|wrap|call|set|remove)\b/,
        name,
      );
      t.ok(text.length < 360, `${name}: ${text.length} characters`);
    }
  }
  t.end();
});
