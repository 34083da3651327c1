import { INGEST_BODY_BYTES_MAX, listAt, type TraceSpan } from '../../../../src/contract/index.ts';
import { describeType, isObject } from '../../../../src/platform/json.ts';
import { checkEach, unjudgedAs, type Check, type Finding } from '../../../engine/checks/check.ts';
import { type Exchange, toPrintable } from '../../../engine/transcript/reading.ts';
import { listSome, requestFinding } from '../findings.ts';
import {
  CONVERSATION,
  conversationSpansOf,
  encodingOf,
  formatOf,
  hasOperation,
  headerConversationOf,
  isTraces,
  nameSpan,
  OPERATION,
  ownConversationOf,
  rawJsonOf,
  readTraces,
  spansOf,
} from '../sent-traces.ts';
import { findMessagesFault } from './messages.ts';
import type { tracesRequirements } from './requirements.ts';

const NO_TRACES = unjudgedAs('not_observed', 'The client sent no traces.');
const NO_SPANS = unjudgedAs('not_observed', 'The client sent no spans that can be read.');

const notSent = (what: string): Check['unjudged'] =>
  unjudgedAs('not_observed', `No span has ${what}.`);

/** Creates a check that judges the spans of each request, and reports each request once. */
function checkSpans(
  selectSpans: (exchange: Exchange) => readonly TraceSpan[],
  findFault: (span: TraceSpan) => string | undefined,
  { expected, unjudged, hint }: { expected: string; unjudged: Check['unjudged']; hint?: string },
): Check {
  return checkEach(
    (exchange) => selectSpans(exchange).length > 0,
    (exchange) => {
      const faults = selectSpans(exchange).flatMap((span) => {
        const fault = findFault(span);
        return fault === undefined ? [] : [`${nameSpan(span)}: ${fault}`];
      });
      return faults.length === 0
        ? []
        : [requestFinding(exchange, expected, listSome(faults), hint)];
    },
    unjudged,
  );
}

const spansWith =
  (...keys: readonly string[]) =>
  (exchange: Exchange): TraceSpan[] =>
    spansOf(exchange).filter(({ attributes }) => keys.some((key) => key in attributes));

/** Returns the first fault among some attributes of a span, with the name of the attribute. */
const firstFault =
  (keys: readonly string[], findFault: (value: unknown) => string | undefined) =>
  ({ attributes }: TraceSpan): string | undefined => {
    for (const key of keys) {
      const fault = key in attributes ? findFault(attributes[key]) : undefined;
      if (fault !== undefined) return `${key} is ${fault}`;
    }
    return undefined;
  };

const MESSAGES = ['gen_ai.input.messages', 'gen_ai.output.messages'];
const TOKENS = ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'];
const MODELS = ['gen_ai.request.model', 'gen_ai.response.model'];
/** Attributes that only spans of a conversation have. */
const CONTENT = [...MESSAGES, 'gen_ai.tool.call.arguments', 'gen_ai.tool.call.result'];
const OPERATIONS: readonly unknown[] = ['chat', 'execute_tool', 'invoke_agent'];

const isHexId = (id: string, digits: number): boolean =>
  id.length === digits && /^[\da-f]+$/.test(id) && !/^0+$/.test(id);

function findIdFault({ traceId, spanId }: TraceSpan): string | undefined {
  if (!isHexId(traceId, 32)) return `traceId has ${describeId(traceId, 32)}`;
  return isHexId(spanId, 16) ? undefined : `spanId has ${describeId(spanId, 16)}`;
}

function describeId(id: string, digits: number): string {
  if (id === '') return 'no value';
  if (/^0+$/.test(id)) return 'only zeros';
  return id.length === digits ? 'invalid characters' : `${id.length} characters`;
}

/** The year 2000 in nanoseconds. A smaller number is a time in another unit. */
const NANOSECONDS_MIN = 946_684_800_000_000_000n;

function findTimeFault({ startNs, endNs }: TraceSpan): string | undefined {
  for (const [name, value] of [
    ['startTimeUnixNano', startNs],
    ['endTimeUnixNano', endNs],
  ] as const) {
    if (value === 0n) return `${name} is missing`;
    if (value < NANOSECONDS_MIN) return `${name} is ${value}, before the year 2000`;
  }
  return undefined;
}

/** Returns the first time in OTLP/JSON that is not a string. */
function findTimeAsNumber(exchange: Exchange): string | undefined {
  for (const [group, resource] of listAt(rawJsonOf(exchange), '/resourceSpans').entries()) {
    for (const [scope, scoped] of listAt(resource, '/scopeSpans').entries()) {
      for (const [index, span] of listAt(scoped, '/spans').entries()) {
        const key = TIME_KEYS.find((name) => isObject(span) && typeof span[name] === 'number');
        if (key !== undefined) {
          return `a number at resourceSpans[${group}].scopeSpans[${scope}].spans[${index}].${key}`;
        }
      }
    }
  }
  return undefined;
}

const TIME_KEYS = ['startTimeUnixNano', 'endTimeUnixNano'];

const times = checkSpans(spansOf, findTimeFault, {
  expected: 'nanoseconds since 1970',
  unjudged: NO_SPANS,
  hint: 'Multiply milliseconds by 1000000.',
});

const operations = checkSpans(
  spansOf,
  (span) => {
    const { attributes } = span;
    if (hasOperation(span) || !CONTENT.some((key) => key in attributes)) return undefined;
    return OPERATION in attributes
      ? `${OPERATION} is ${describeType(attributes[OPERATION])}`
      : `no ${OPERATION}`;
  },
  {
    expected: 'gen_ai.operation.name, such as chat',
    unjudged: NO_SPANS,
    hint: 'Set gen_ai.operation.name to chat, execute_tool, or invoke_agent.',
  },
);

const SIZE_HINT = 'Configure the exporter to send smaller batches.';

function findSizeFault(exchange: Exchange): Finding[] {
  const { request, response } = exchange;
  const bytes = request.bodyBytes ?? 0;
  const isRefused = response?.status === 413;
  if (!isRefused && bytes <= INGEST_BODY_BYTES_MAX) return [];
  const received = bytes > 0 ? `${bytes} bytes` : 'more than 10 MB when decompressed';
  return [requestFinding(exchange, `at most ${INGEST_BODY_BYTES_MAX} bytes`, received, SIZE_HINT)];
}

const hasConversation = (exchange: Exchange): boolean =>
  headerConversationOf(exchange) !== undefined ||
  conversationSpansOf(exchange).some((span) => ownConversationOf(span) !== undefined);

/** Returns the spans that need an id of a conversation. CLIENT-014 judges requests without any id. */
const spansThatNeedId = (exchange: Exchange): TraceSpan[] =>
  headerConversationOf(exchange) === undefined && hasConversation(exchange)
    ? conversationSpansOf(exchange)
    : [];

/** The checks of trace requests. */
export const tracesChecks: Readonly<Record<keyof typeof tracesRequirements, Check>> = {
  'CLIENT-010': checkEach(
    isTraces,
    (exchange) => {
      const type = exchange.request.headers['content-type'];
      return formatOf(exchange)
        ? []
        : [
            requestFinding(
              exchange,
              'application/json or application/x-protobuf',
              type === undefined ? 'no Content-Type' : toPrintable(type),
            ),
          ];
    },
    NO_TRACES,
  ),
  'CLIENT-011': checkEach(
    isTraces,
    (exchange) => {
      const encoding = encodingOf(exchange);
      return ['gzip', 'x-gzip', 'identity'].includes(encoding)
        ? []
        : [requestFinding(exchange, 'gzip, or no Content-Encoding', toPrintable(encoding))];
    },
    NO_TRACES,
  ),
  'CLIENT-012': checkEach(
    (exchange) => isTraces(exchange) && readTraces(exchange).kind !== 'unknown',
    (exchange) => {
      const traces = readTraces(exchange);
      const expected = `an OTLP trace export request as ${formatOf(exchange) ?? ''}`;
      if (traces.kind === 'unreadable') return [requestFinding(exchange, expected, traces.problem)];
      if (traces.kind === 'unknown' || traces.ignoredKeys.length === 0) return [];
      return [
        requestFinding(
          exchange,
          'keys in lowerCamelCase',
          listSome(traces.ignoredKeys),
          'The service ignores these keys, because OTLP/JSON uses lowerCamelCase.',
        ),
      ];
    },
    NO_TRACES,
  ),
  'CLIENT-013': checkEach(isTraces, findSizeFault, NO_TRACES),
  'CLIENT-014': checkEach(
    (exchange) => conversationSpansOf(exchange).length > 0,
    (exchange) =>
      hasConversation(exchange)
        ? []
        : [
            requestFinding(
              exchange,
              'gen_ai.conversation.id on a span, or the header X-Conversation-Id',
              'neither',
              'Set the attribute on the spans, or add the header to the exporter.',
            ),
          ],
    notSent('gen_ai.operation.name'),
  ),
  'CLIENT-015': checkSpans(
    spansThatNeedId,
    (span) => (CONVERSATION in span.attributes ? undefined : `no ${CONVERSATION}`),
    {
      expected: 'gen_ai.conversation.id on every span',
      unjudged: notSent('gen_ai.conversation.id in a request without X-Conversation-Id'),
    },
  ),
  'CLIENT-016': checkSpans(
    spansWith(CONVERSATION),
    (span) =>
      ownConversationOf(span) === undefined
        ? `${CONVERSATION} is ${describeType(span.attributes[CONVERSATION])}`
        : undefined,
    { expected: 'a non-empty string', unjudged: notSent(CONVERSATION) },
  ),
  'CLIENT-017': {
    ...operations,
    judge(evidence, transcript) {
      const findings = operations.judge(evidence, transcript);
      const [first] = evidence;
      if (findings.length > 0 || !first) return findings;
      if (evidence.some((exchange) => conversationSpansOf(exchange).length > 0)) return [];
      const hint = `Set ${OPERATION} on the spans of a conversation, for example to chat.`;
      return [
        requestFinding(first, `a span with ${OPERATION}`, 'no such span in the whole run', hint),
      ];
    },
  },
  'CLIENT-018': checkSpans(
    conversationSpansOf,
    ({ attributes }) =>
      OPERATIONS.includes(attributes[OPERATION]) ? undefined : 'another operation',
    {
      expected: 'chat, execute_tool, or invoke_agent',
      unjudged: notSent(OPERATION),
    },
  ),
  'CLIENT-019': checkSpans(spansOf, findIdFault, {
    expected: 'a traceId of 32 and a spanId of 16 hexadecimal digits',
    unjudged: NO_SPANS,
    hint: 'In OTLP/JSON, write ids in hexadecimal, not in base64.',
  }),
  'CLIENT-020': {
    ...times,
    judge: (evidence, transcript) => [
      ...times.judge(evidence, transcript),
      ...evidence.flatMap((exchange) => {
        const place = findTimeAsNumber(exchange);
        return place === undefined
          ? []
          : [
              requestFinding(
                exchange,
                'a string of digits',
                place,
                'Write the number as a JSON string.',
              ),
            ];
      }),
    ],
  },
  'CLIENT-021': checkSpans(spansWith(...MESSAGES), firstFault(MESSAGES, findMessagesFault), {
    expected: 'a string that contains a JSON array of messages',
    unjudged: notSent(MESSAGES.join(' or ')),
    hint: 'Example: [{"role":"user","parts":[{"type":"text","content":"Hello"}]}].',
  }),
  'CLIENT-022': checkSpans(
    spansWith(...TOKENS),
    firstFault(TOKENS, (value) =>
      typeof value === 'number' && Number.isInteger(value) && value >= 0
        ? undefined
        : describeType(value),
    ),
    { expected: 'an integer of 0 or more (intValue)', unjudged: notSent(TOKENS.join(' or ')) },
  ),
  'CLIENT-023': checkSpans(
    spansWith(...MODELS),
    firstFault(MODELS, (value) => (typeof value === 'string' ? undefined : describeType(value))),
    { expected: 'a string', unjudged: notSent(MODELS.join(' or ')) },
  ),
  'CLIENT-024': {
    evidence: ({ exchanges }) => exchanges.filter((exchange) => spansOf(exchange).length > 0),
    judge: findReusedIds,
    unjudged: NO_SPANS,
  },
};

/** Finds spans with the id of another span. The same span may be sent more than once. */
function findReusedIds(evidence: readonly Exchange[]): Finding[] {
  const first = new Map<string, TraceSpan>();
  return evidence.flatMap((exchange) => {
    const valid = spansOf(exchange).filter(({ spanId }) => isHexId(spanId, 16));
    const reused = valid.filter((span) => {
      const known = first.get(span.spanId);
      if (!known) first.set(span.spanId, span);
      return known !== undefined && !isSameSpan(known, span);
    });
    if (reused.length === 0) return [];
    const expected = 'a new span id for each span';
    return [
      requestFinding(
        exchange,
        expected,
        `the id of an earlier span: ${listSome(reused.map(nameSpan))}`,
      ),
    ];
  });
}

const isSameSpan = (left: TraceSpan, right: TraceSpan): boolean =>
  left.traceId === right.traceId &&
  left.name === right.name &&
  left.startNs === right.startNs &&
  left.endNs === right.endNs;
