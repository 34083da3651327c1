import type { Dialect } from './dialect.ts';

/**
 * Instrumentations for Node that write the messages of model calls as the service reads them. The one
 * for LangChain loses tool calls, but LangChain uses the clients that these instrument.
 */
export const NODE_INSTRUMENTATIONS =
  '@traceloop/instrumentation-openai or -anthropic 0.23 or later, for the client that calls the model';

const LANGCHAIN_SCOPE = '@traceloop/instrumentation-langchain';
const LANGCHAIN_CURE =
  'This version writes messages as gen_ai.prompt.N attributes, and newer ones lose tool calls. ' +
  `Use ${NODE_INSTRUMENTATIONS}.`;

/** The first version of a Traceloop package that writes messages as the service reads them. */
interface CurrentPackage {
  name: string;
  since: string;
  scope: string;
}

const javascript = (name: string, since: string): CurrentPackage => {
  const scope = `@traceloop/instrumentation-${name}`;
  return { name: scope, since, scope };
};

const python = (name: string, since: string): CurrentPackage => ({
  name: `opentelemetry-instrumentation-${name}`,
  since,
  scope: `opentelemetry.instrumentation.${name.replaceAll('-', '_')}`,
});

/** From the change logs of traceloop/openllmetry-js 0.27 and traceloop/openllmetry 0.62. */
const CURRENT_PACKAGES: readonly CurrentPackage[] = [
  javascript('openai', '0.23'),
  javascript('anthropic', '0.23'),
  javascript('bedrock', '0.24'),
  javascript('llamaindex', '0.25'),
  python('anthropic', '0.54'),
  python('openai-agents', '0.61'),
  python('openai', '0.55'),
  python('langchain', '0.55'),
  python('crewai', '0.56'),
  python('bedrock', '0.57'),
  python('groq', '0.60'),
  python('llamaindex', '0.60'),
];

/** The attributes of spans of model calls in versions before the current conventions. */
const OLDER_ATTRIBUTES = ['gen_ai.prompt.*', 'gen_ai.completion.*', 'llm.request.type'];

const CONVERSATION_ID_JAVASCRIPT =
  'With @traceloop/node-server-sdk 0.22.7 or later, wrap the calls in withConversation().';
const CONVERSATION_ID_PYTHON =
  'With traceloop-sdk 0.52.2 or later, call set_conversation_id() before the model calls.';

function describePackage({ name, since, scope }: CurrentPackage): Dialect {
  const cure = `This version writes messages as gen_ai.prompt.N attributes. Upgrade to ${name} ${since} or later.`;
  return {
    name: `Traceloop (${name})`,
    marks: [{ scopes: [scope, `${scope}.*`], attributes: OLDER_ATTRIBUTES }],
    withoutOperation: cure,
    withoutMessages: cure,
  };
}

/** Returns a dialect of current versions, whose messages can be turned off. */
function describeCapture(isJavascript: boolean, packages: readonly CurrentPackage[]): Dialect {
  return {
    name: isJavascript ? 'Traceloop for JavaScript' : 'Traceloop for Python',
    marks: [{ scopes: packages.flatMap(({ scope }) => [scope, `${scope}.*`]) }],
    withoutMessages: isJavascript
      ? 'Message capture is off. Remove TRACELOOP_TRACE_CONTENT=false and traceContent: false.'
      : 'Message capture in span attributes is off. Remove TRACELOOP_TRACE_CONTENT=false, and ' +
        'use_attributes=False (earlier use_legacy_attributes=False), which moves them to log records.',
    conversationId: isJavascript ? CONVERSATION_ID_JAVASCRIPT : CONVERSATION_ID_PYTHON,
  };
}

/** OpenTelemetry's own instrumentation of the same package has the same scope. */
const SHARED_SCOPE = 'opentelemetry.instrumentation.openai_agents';

const isJavascriptPackage = ({ scope }: CurrentPackage): boolean => scope.startsWith('@');

/** Traceloop (OpenLLMetry), by package: they moved to the current conventions one by one. */
export const traceloopDialects: readonly Dialect[] = [
  ...CURRENT_PACKAGES.map(describePackage),
  {
    name: 'Traceloop for LangChain',
    marks: [{ scopes: [LANGCHAIN_SCOPE], attributes: OLDER_ATTRIBUTES }],
    withoutOperation: LANGCHAIN_CURE,
    withoutMessages: LANGCHAIN_CURE,
  },
  {
    name: 'Traceloop for LangChain',
    marks: [{ scopes: [LANGCHAIN_SCOPE] }],
    withoutToolDetails:
      'This instrumentation records neither the arguments nor the results of tools, and not always ' +
      `their names. No setting changes that. Use ${NODE_INSTRUMENTATIONS}.`,
  },
  {
    name: 'Traceloop for Gemini',
    marks: [
      {
        scopes: [
          '@traceloop/instrumentation-google-generativeai',
          'opentelemetry.instrumentation.google_generativeai',
        ],
        attributes: OLDER_ATTRIBUTES,
      },
    ],
    withoutOperation:
      'No version helps: the newer ones name the operation generate_content, which makes no turn. ' +
      'Set gen_ai.operation.name to chat, gen_ai.input.messages and gen_ai.output.messages by hand, ' +
      'or use another instrumentation.',
  },
  {
    name: 'Traceloop',
    marks: [
      {
        scopes: ['@traceloop/instrumentation-*', 'opentelemetry.instrumentation.*'],
        attributes: OLDER_ATTRIBUTES,
      },
    ],
    withoutOperation:
      'This package writes messages as gen_ai.prompt.N attributes in every version up to 0.27 ' +
      '(JavaScript) and 0.62 (Python), and no setting changes that. Set gen_ai.operation.name, ' +
      'gen_ai.input.messages and gen_ai.output.messages by hand, or use another instrumentation.',
  },
  describeCapture(true, [
    ...CURRENT_PACKAGES.filter(isJavascriptPackage),
    javascript('langchain', '0.24'),
  ]),
  describeCapture(
    false,
    CURRENT_PACKAGES.filter((item) => !isJavascriptPackage(item) && item.scope !== SHARED_SCOPE),
  ),
];
