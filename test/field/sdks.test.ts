/**
 * Real agent SDKs, each in a separate program (`sdks/`): two turns and one tool call, exported to the
 * service. Either its results show exactly that, or it names a cure that makes them do so.
 */
import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { seededRandom, type Random } from '../../src/platform/random.ts';
import { lintTraces } from '../../src/service/index.ts';
import { dialog } from './model-server.ts';
import { runSdk, sendRequests, type SdkRun, type TraceRequestJson } from './run-sdk.ts';

/** One configuration of an SDK. */
interface SdkRow {
  /** `sdks/PROGRAM.mjs`. */
  program: string;
  sdk: string;
  /** The package of `test/field/package.json` whose version counts. */
  package: string;
  /** What the ingest log and lint-traces say; only if the turns are not right without the cure. */
  diagnosis?: readonly RegExp[];
  /** About spans of the SDK that are ignored even with the cure. */
  staysIgnored?: RegExp;
  /** The result of the tool as the SDK records it, if it adds something. */
  toolResult?: string;
}

const rows: readonly SdkRow[] = [
  {
    program: 'ai-6',
    sdk: 'AI SDK 6',
    package: 'ai6',
    diagnosis: [/spans of AI SDK 6 .* Upgrade to AI SDK 7 and call registerTelemetry/],
  },
  { program: 'ai-7', sdk: 'AI SDK 7 (Responses API)', package: 'ai' },
  { program: 'ai-7-chat', sdk: 'AI SDK 7 (chat completions)', package: 'ai' },
  {
    program: 'traceloop-openai-older',
    sdk: 'Traceloop for OpenAI, older',
    package: 'traceloop-instrumentation-openai-old',
    diagnosis: [/gen_ai\.prompt\.N .* Upgrade to @traceloop\/instrumentation-openai 0\.23/],
  },
  {
    program: 'traceloop-openai',
    sdk: 'Traceloop for OpenAI',
    package: '@traceloop/instrumentation-openai',
  },
  {
    program: 'opentelemetry-openai',
    sdk: 'OpenTelemetry for OpenAI',
    package: '@opentelemetry/instrumentation-openai',
    diagnosis: [/in log records, .* Replace .* with @traceloop\/instrumentation-openai/],
  },
  {
    program: 'opentelemetry-openai-responses',
    sdk: 'OpenTelemetry for OpenAI (Responses API)',
    package: '@opentelemetry/instrumentation-openai',
    diagnosis: [/in log records, .* Replace .* with @traceloop\/instrumentation-openai/],
  },
  {
    program: 'openinference-openai',
    sdk: 'OpenInference for OpenAI',
    package: '@arizeai/openinference-instrumentation-openai',
    diagnosis: [/spans of OpenInference for JavaScript\. .*@traceloop\/instrumentation-openai/],
  },
  {
    program: 'langfuse-openai',
    sdk: 'Langfuse for OpenAI',
    package: '@langfuse/openai',
    diagnosis: [/spans of Langfuse\. .*@traceloop\/instrumentation-openai/],
    staysIgnored: /^Ignored: spans of Langfuse\./,
  },
  {
    program: 'langgraph-openinference',
    sdk: 'LangGraph with OpenInference',
    package: '@arizeai/openinference-instrumentation-langchain',
    diagnosis: [/spans of OpenInference for JavaScript\. .*@traceloop\/instrumentation-openai/],
  },
  {
    program: 'strands',
    sdk: 'Strands Agents',
    package: '@strands-agents/sdk',
    diagnosis: [/Set OTEL_SEMCONV_STABILITY_OPT_IN=.*gen_ai_span_attributes_only/],
    toolResult: '[{"json":{"order_id":"A-17","status":"shipped"}}]',
  },
  {
    program: 'voltagent',
    sdk: 'VoltAgent',
    package: '@voltagent/core',
    diagnosis: [/spans of VoltAgent\. .* in a span processor/],
  },
  {
    program: 'adk',
    sdk: 'Google ADK',
    package: '@google/adk',
    diagnosis: [/spans of Google ADK\. .* by hand, in a span processor/],
  },
  {
    program: 'openai-agents',
    sdk: 'OpenAI Agents with Traceloop',
    package: '@openai/agents',
    diagnosis: [/JSON text of many messages.* setOpenAIAPI\('chat_completions'\)/],
  },
  {
    program: 'langgraph-traceloop',
    sdk: 'LangGraph with Traceloop',
    package: '@traceloop/instrumentation-langchain',
    diagnosis: [/tool calls of Traceloop for LangChain\. .*@traceloop\/instrumentation-openai/],
  },
  {
    program: 'mastra',
    sdk: 'Mastra',
    package: '@mastra/otel-exporter',
    diagnosis: [/chat spans of Mastra\. .*spanOutputProcessors/, /no user message/],
  },
  {
    program: 'tanstack',
    sdk: 'TanStack AI',
    package: '@tanstack/ai',
    diagnosis: [/captureContent: true to otelMiddleware/, /In onSpanEnd of otelMiddleware, set/],
  },
];

const [withTool, withoutTool] = dialog;
const TOOL_RESULT = '{"order_id":"A-17","status":"shipped"}';

/** Returns the turns that the service should show. */
function listExpected({ toolResult = TOOL_RESULT }: SdkRow): string[] {
  const call = `find_order({"order_id":"A-17"}) = ${toolResult}`;
  return [
    `${withTool.question} > ${call} > ${withTool.answer}`,
    `${withoutTool.question} > ${withoutTool.answer}`,
  ];
}

const manifest = new URL('package.json', import.meta.url);
const { dependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as {
  dependencies: Record<string, string>;
};

for (const row of rows) {
  const version = dependencies[row.package]?.replace(/^.*@/, '') ?? 'unknown version';
  const skip = isInstalled(row.package, version)
    ? false
    : `${row.package} ${version} is not installed; run npm run test:field`;
  void t.test(`${row.sdk}, ${version}`, { skip }, async (t) => {
    const expectedTurns = listExpected(row);
    const plain = await runSdk(t, row.program, { isCured: false });
    let run = plain;
    if (row.diagnosis) {
      t.notSame(plain.turns, expectedTurns, 'the turns are not right without the cure');
      const [logged, linted] = [plain.warnings.join('\n'), lintAll(plain).join('\n')];
      for (const cure of row.diagnosis) {
        t.match(logged, cure, 'the ingest log names the cure');
        t.match(linted, cure, 'lint-traces names the cure');
      }
      if (plain.end.status === 404) t.match(plain.end.message, /ignored/, 'the 404 says why');
      run = await runSdk(t, row.program, { isCured: true });
    }
    t.same(run.turns, expectedTurns, row.diagnosis ? 'with the cure' : 'without a setting');
    if (row.staysIgnored) t.match(run.warnings.join('\n'), row.staysIgnored);
    else t.same(run.warnings, [], 'no warning is left');
    for (const [order, requests] of Object.entries(rearrange(run.requests))) {
      const { turns } = await sendRequests(t, requests, run.conversationId);
      t.same(turns, expectedTurns, order);
    }
  });
}

function isInstalled(name: string, version: string): boolean {
  const installed = new URL(`node_modules/${name}/package.json`, import.meta.url);
  if (!existsSync(installed)) return false;
  return (JSON.parse(readFileSync(installed, 'utf8')) as { version: string }).version === version;
}

/** Returns the warnings of lint-traces about all requests. */
function lintAll({ requests, conversationId }: SdkRun): string[] {
  return requests.flatMap((request) => {
    const bytes = Buffer.from(JSON.stringify(request));
    const { refused, notes } = lintTraces(bytes, { conversationId });
    const messages = notes.filter(({ level }) => level !== 'info').map(({ message }) => message);
    return refused ? [refused.message, ...messages] : messages;
  });
}

/** Returns the spans of all requests in other orders and groups. */
function rearrange(requests: readonly TraceRequestJson[]): Record<string, TraceRequestJson[]> {
  const single = requests.flatMap(splitRequest);
  const random = seededRandom('spans');
  return {
    'split span by span': single,
    'span by span, reversed': single.toReversed(),
    'shuffled, in one request': [mergeRequests(shuffle(single, random))],
    'shuffled and repeated': shuffle([...single, ...single], random),
  };
}

function splitRequest({ resourceSpans }: TraceRequestJson): TraceRequestJson[] {
  return resourceSpans.flatMap((resource) =>
    resource.scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        resourceSpans: [{ ...resource, scopeSpans: [{ ...scope, spans: [span] }] }],
      })),
    ),
  );
}

function mergeRequests(requests: readonly TraceRequestJson[]): TraceRequestJson {
  return { resourceSpans: requests.flatMap(({ resourceSpans }) => resourceSpans) };
}

function shuffle<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, rank: random.integer(0, 1_000_000) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
