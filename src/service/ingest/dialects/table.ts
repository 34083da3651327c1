import type { Dialect } from './dialect.ts';
import { NODE_INSTRUMENTATIONS, traceloopDialects } from './traceloop.ts';

const BY_HAND =
  'Set gen_ai.operation.name, gen_ai.input.messages and gen_ai.output.messages by hand';

const BY_HAND_INSTEAD =
  'If you set these attributes yourself, rename them: use gen_ai.operation.name, ' +
  'gen_ai.input.messages and gen_ai.output.messages.';

const PYTHON_INSTRUMENTATIONS =
  'opentelemetry-instrumentation-anthropic 0.54 or later, or -openai or -langchain 0.55 or later';

/**
 * The dialects of agent SDKs and instrumentations, as of November 2026. The first one that matches a
 * span decides, so special cases come first. Before you add a cure, confirm it in the documentation or
 * the source of the SDK.
 */
export const dialects: readonly Dialect[] = [
  {
    name: 'AI SDK 6 or earlier',
    marks: [{ attributes: ['ai.operationId'] }],
    withoutOperation:
      'They have ai.* attributes, and no setting changes that. Upgrade to AI SDK 7 and call ' +
      'registerTelemetry(new OpenTelemetry()) from @ai-sdk/otel. In AI SDK 7, LegacyOpenTelemetry ' +
      'writes the same spans; replace it.',
  },
  {
    name: 'AI SDK 7',
    marks: [{ scopes: ['gen_ai'] }],
    withoutMessages:
      'Message capture is off. Remove recordInputs: false and recordOutputs: false from the ' +
      'telemetry options.',
    conversationId:
      'In AI SDK 7, return the attribute from enrichSpan: new OpenTelemetry({ enrichSpan }). It ' +
      'receives runtimeContext.',
  },
  {
    name: 'TanStack AI (tool calls)',
    marks: [{ attributes: ['tanstack.ai.tool.outcome'] }],
    withoutOperation:
      'In onSpanEnd of otelMiddleware, set gen_ai.operation.name to execute_tool on spans of kind ' +
      'tool, and gen_ai.tool.call.arguments and gen_ai.tool.call.result to the content of their ' +
      'gen_ai.input.messages and gen_ai.output.messages. captureContent: true adds these.',
    isLossInReadableTraces: true,
  },
  {
    name: 'TanStack AI',
    marks: [{ spanName: /^chat .+ #\d+$/, operations: ['chat'] }],
    withoutMessages: 'Message capture is off. Pass captureContent: true to otelMiddleware.',
    conversationId:
      'In TanStack AI, return the attribute from attributeEnricher of otelMiddleware.',
  },
  {
    name: 'Langfuse for Python',
    marks: [{ attributes: ['langfuse.observation.type'], languages: ['python'] }],
    withoutOperation:
      'They have langfuse.* attributes, and no setting changes that. Add an instrumentation that ' +
      `writes gen_ai.* messages, such as ${PYTHON_INSTRUMENTATIONS}.`,
  },
  {
    name: 'Langfuse',
    marks: [{ attributes: ['langfuse.observation.type'] }],
    withoutOperation:
      'They have langfuse.* attributes, and no setting changes that. Add an instrumentation that ' +
      `writes gen_ai.* messages, such as ${NODE_INSTRUMENTATIONS}.`,
  },
  {
    name: 'OpenInference for Python',
    marks: [{ attributes: ['openinference.span.kind'], languages: ['python'] }],
    withoutOperation:
      'They have llm.* attributes. Set OPENINFERENCE_ENABLE_GENAI_SEMCONV=true, with ' +
      `openinference-instrumentation 0.1.51 or later. using_session() sets the conversation id. ${BY_HAND_INSTEAD}`,
    conversationId: 'With OpenInference for Python, wrap the calls in using_session(session_id).',
  },
  {
    name: 'OpenInference for JavaScript',
    marks: [{ attributes: ['openinference.span.kind'], languages: ['nodejs', 'webjs'] }],
    withoutOperation:
      'They have llm.* attributes, and no setting changes that in JavaScript. Use another ' +
      `instrumentation, such as ${NODE_INSTRUMENTATIONS}. ${BY_HAND_INSTEAD}`,
  },
  {
    name: 'OpenInference',
    marks: [{ attributes: ['openinference.span.kind'] }],
    withoutOperation:
      'They have llm.* attributes. In Python, set OPENINFERENCE_ENABLE_GENAI_SEMCONV=true, with ' +
      'openinference-instrumentation 0.1.51 or later. In other languages, no setting helps: use ' +
      `another instrumentation. ${BY_HAND_INSTEAD}`,
  },
  ...googleDialects(),
  {
    // @genkit-ai/otel is in the repository of Genkit 1.42, but not on npm.
    name: 'Genkit for JavaScript',
    marks: [{ scopes: ['genkit-tracer'], languages: ['nodejs'] }],
    withoutOperation:
      'They have genkit:* attributes, and no released version for JavaScript changes that. ' +
      `Add ${NODE_INSTRUMENTATIONS}. For other models, set gen_ai.operation.name, ` +
      'gen_ai.input.messages and gen_ai.output.messages by hand, in a span processor.',
  },
  {
    name: 'Genkit',
    marks: [{ scopes: ['genkit-tracer'] }],
    withoutOperation:
      'They have genkit:* attributes. Add genkit-otel (Python) or genkit_otel (Dart), and set up its ' +
      "GenAiInstrumentation with contentCapturingMode: 'SPAN_ONLY' and emitToolSpans: true.",
  },
  {
    name: 'Genkit',
    marks: [{ scopes: ['genkit-genai'] }],
    withoutMessages:
      "Message capture in spans is off. Pass contentCapturingMode: 'SPAN_ONLY' to " +
      'GenAiInstrumentation, or set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY.',
  },
  {
    name: 'VoltAgent',
    marks: [{ scopes: ['@voltagent/core'] }],
    withoutOperation:
      `They have llm.* and agent.* attributes, and no setting changes that. ${BY_HAND}, in a span ` +
      'processor that you pass to VoltAgentObservability as spanProcessors, before the one that exports.',
  },
  {
    name: 'Mastra',
    marks: [{ scopes: ['@mastra/otel-exporter'] }],
    withoutInput:
      'Model calls have no input, but the step that contains them does. Add a processor to ' +
      'spanOutputProcessors of Observability: if span.type is model_inference, set span.input to ' +
      'span.parent.input.',
  },
  {
    name: 'Strands Agents',
    marks: [
      { scopes: ['strands-agents', 'strands.telemetry.tracer'] },
      { values: { 'gen_ai.system': 'strands-agents' } },
      { values: { 'gen_ai.provider.name': 'strands-agents' } },
    ],
    withoutMessages:
      'The messages are in span events. Set ' +
      'OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental,gen_ai_span_attributes_only, with ' +
      'strands-agents 1.48 or later (Python) or @strands-agents/sdk 1.19 or later.',
    conversationId:
      'In Strands Agents, pass the attribute to the Agent as trace_attributes (traceAttributes).',
  },
  {
    name: 'Pydantic AI',
    marks: [{ scopes: ['pydantic-ai'] }],
    withoutMessages:
      'The messages are in events, or their capture is off. Upgrade to Pydantic AI 1 or later, and ' +
      'remove version=1 and include_content=False from InstrumentationSettings.',
    conversationId: 'In Pydantic AI 1.89 or later, pass conversation_id to the run.',
  },
  {
    name: 'Logfire',
    marks: [{ scopes: ['logfire.openai', 'logfire.anthropic'], attributes: ['request_data'] }],
    ...inAnySpan('The messages are in request_data. Upgrade logfire to 5.0 or later.'),
  },
  {
    name: 'OpenTelemetry for JavaScript (OpenAI)',
    marks: [{ scopes: ['@opentelemetry/instrumentation-openai'] }],
    withoutMessages:
      'The messages are in log records, and no setting changes that. Replace ' +
      '@opentelemetry/instrumentation-openai with @traceloop/instrumentation-openai 0.23 or later.',
  },
  {
    name: 'OpenTelemetry for Python (OpenAI)',
    marks: [{ scopes: ['opentelemetry.instrumentation.openai_v2*'] }],
    withoutMessages:
      'The messages are in log records, or their capture is off. With ' +
      'opentelemetry-instrumentation-openai-v2 2.4b0 or later, set ' +
      'OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental and ' +
      'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only.',
  },
  {
    name: 'OpenTelemetry for Python',
    marks: [{ scopes: ['opentelemetry.util.genai*'] }],
    withoutMessages:
      'Message capture in spans is off. Set ' +
      'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY and ' +
      'OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental.',
  },
  ...traceloopDialects,
  {
    name: 'the GenAI conventions before 1.37',
    marks: [{ attributes: ['gen_ai.prompt.*', 'gen_ai.completion.*'] }],
    ...inAnySpan(
      'The messages are in gen_ai.prompt.N attributes, of conventions before 1.37. Use a version of ' +
        'the instrumentation that writes gen_ai.input.messages and gen_ai.output.messages.',
    ),
  },
  {
    name: 'the GenAI conventions with span events',
    marks: [
      {
        events: [
          'gen_ai.client.inference.operation.details',
          'gen_ai.user.message',
          'gen_ai.choice',
          'gen_ai.content.*',
        ],
      },
    ],
    withoutMessages:
      'The messages are in span events, which the service does not read. If the instrumentation ' +
      'cannot write them to the span attributes gen_ai.input.messages and gen_ai.output.messages, ' +
      'set these by hand.',
  },
];

/** Returns a text about a span with or without an operation. */
function inAnySpan(text: string): Pick<Dialect, 'withoutOperation' | 'withoutMessages'> {
  return { withoutOperation: text, withoutMessages: text };
}

/** Google names model calls generate_content, which the interface does not count as turns. */
function googleDialects(): Dialect[] {
  const adkPython =
    'Its model calls have the operation generate_content, which makes no turn, and no setting of ADK ' +
    'changes that. Add openinference-instrumentation-google-adk, with ' +
    'OPENINFERENCE_ENABLE_GENAI_SEMCONV=true.';
  const adk =
    'The messages are in gcp.vertex.agent.llm_request, and no setting of ADK changes that. ' +
    `${BY_HAND}, in a span processor before the one that exports.`;
  const adkScope = { scopes: ['gcp.vertex.agent'], attributes: ['gcp.vertex.agent.*'] };
  const generateContent = { operations: ['generate_content'] };
  return [
    {
      name: 'Google ADK for Python',
      marks: [{ ...adkScope, languages: ['python'] }],
      withoutOperation: adkPython,
      withoutTurn: adkPython,
    },
    { name: 'Google ADK', marks: [adkScope], withoutOperation: adk, withoutTurn: adk },
    {
      name: 'Google GenAI for Python',
      marks: [{ ...generateContent, languages: ['python'] }],
      withoutTurn:
        'The operation generate_content makes no turn. Use openinference-instrumentation-google-genai, ' +
        'with OPENINFERENCE_ENABLE_GENAI_SEMCONV=true, which writes chat, or set ' +
        'gen_ai.operation.name to chat by hand.',
    },
    {
      name: 'Google GenAI',
      marks: [generateContent],
      withoutTurn:
        'The operation generate_content makes no turn. Set gen_ai.operation.name to chat by hand, or ' +
        'use an instrumentation that does.',
    },
  ];
}
