import type { Attributes, AttributeValue, TraceSpan } from '../../contract/index.ts';
import { parseJson } from '../../platform/json.ts';
import { DAY_MS } from '../../platform/clock.ts';
import type { NewSpan, SpanLink } from '../store/store.ts';
import { isHint } from '../turns/evaluation-hints.ts';
import { CONVERSATION_ID_KEY } from './conversation-ids.ts';
import type { RequestLogEntries } from './log-entries.ts';

/** Spans without this attribute are ignored (spec 2.1). */
export const OPERATION_KEY = 'gen_ai.operation.name';

const INPUT_KEY = 'gen_ai.input.messages';
const OUTPUT_KEY = 'gen_ai.output.messages';

/** Returns the operation of a GenAI span; undefined for all other spans. */
export function readOperation({ attributes }: TraceSpan): string | undefined {
  const operation = attributes[OPERATION_KEY];
  return typeof operation === 'string' && operation !== '' ? operation : undefined;
}

/** Attributes with columns of their own. */
const COLUMN_ATTRIBUTES: ReadonlySet<string> = new Set([
  OPERATION_KEY,
  CONVERSATION_ID_KEY,
  INPUT_KEY,
  OUTPUT_KEY,
]);

const TURN_OPERATIONS: ReadonlySet<string> = new Set(['chat', 'execute_tool', 'invoke_agent']);

const TOOL_DETAIL_KEYS = ['gen_ai.tool.call.arguments', 'gen_ai.tool.call.result'] as const;

/** What else is known about a span. */
export interface RowContext {
  conversationId: string;
  /** From `readOperation`. */
  operation: string;
  receivedAtMs: number;
}

/** Returns whether the trace id and the span id are valid in OTLP: full length, hexadecimal, not zero. */
export function hasValidIds({ traceId, spanId }: TraceSpan): boolean {
  return isId(traceId, 32) && isId(spanId, 16);
}

/** Converts a span to a row. Logs anything unusual, but never drops the span. */
export function toSpanRow(span: TraceSpan, context: RowContext, log: RequestLogEntries): NewSpan {
  const { conversationId, operation } = context;
  const { traceId, spanId, name } = span;
  const about = { conversation_id: conversationId, trace_id: traceId, span_id: spanId };
  if (!TURN_OPERATIONS.has(operation) && !log.addDialect('withoutTurn', span, about))
    log.add('operation_without_turn', { ...about, operation: operation.slice(0, 100) });
  checkTimes(span, context, (code) => log.add(code, about));
  const messages = (key: string): string | undefined => {
    const { text, isReadable } = readMessages(span.attributes[key]);
    if (!isReadable) log.add('malformed_messages', { ...about, attribute: key });
    return text;
  };
  const inputMessages = messages(INPUT_KEY);
  const outputMessages = messages(OUTPUT_KEY);
  logMissingContent(span, operation, { inputMessages, outputMessages }, (outcome) => {
    if (!log.addDialect(outcome, span, about) && outcome === 'withoutMessages') {
      log.add('no_messages', about);
    }
  });
  return {
    conversationId,
    traceId,
    spanId,
    parentSpanId: readParentId(span, () => log.add('malformed_parent_id', about)),
    operation,
    name,
    startNs: capTime(span.startNs),
    endNs: capTime(span.endNs),
    // Spec 2.1 says "other than OK", but instrumentations send UNSET on success.
    failed: span.statusCode === 2,
    inputMessages,
    outputMessages,
    attributes: selectOtherAttributes(span.attributes),
  };
}

/** Reports what a model call or a tool call does not contain. */
function logMissingContent(
  { attributes }: TraceSpan,
  operation: string,
  { inputMessages, outputMessages }: Pick<NewSpan, 'inputMessages' | 'outputMessages'>,
  log: (outcome: 'withoutMessages' | 'withoutInput' | 'withoutToolDetails') => void,
): void {
  const hasDetails = TOOL_DETAIL_KEYS.some((key) => hasValue(attributes[key]));
  if (operation === 'execute_tool' && !hasDetails) log('withoutToolDetails');
  if (operation !== 'chat' || inputMessages !== undefined) return;
  log(outputMessages === undefined ? 'withoutMessages' : 'withoutInput');
}

/** Returns whether a span is a turn, or wraps one, with text. */
export function hasTurnText(span: TraceSpan): boolean {
  const operation = readOperation(span);
  return (
    (operation === 'chat' || operation === 'invoke_agent') &&
    (hasValue(span.attributes[INPUT_KEY]) || hasValue(span.attributes[OUTPUT_KEY]))
  );
}

const hasValue = (value: AttributeValue | undefined): boolean =>
  value !== undefined && value !== null;

/** Returns the ids of an ignored span; undefined if it has no parent or an id is invalid. */
export function toSpanLink(span: TraceSpan): SpanLink | undefined {
  const { traceId, spanId, parentSpanId } = span;
  if (!hasValidIds(span) || !isId(parentSpanId, 16)) return undefined;
  return { traceId, spanId, parentSpanId };
}

function isId(id: string, digits: number): boolean {
  return id.length === digits && /^[0-9a-f]+$/.test(id) && !/^0+$/.test(id);
}

/** Returns the parent id. A root span has none, or one that is all zeros. */
function readParentId({ parentSpanId }: TraceSpan, onMalformed: () => void): string | undefined {
  if (isId(parentSpanId, 16)) return parentSpanId;
  if (!/^0*$/.test(parentSpanId)) onMalformed();
  return undefined;
}

const YEAR_2000_NS = 946_684_800_000_000_000n;

function checkTimes(
  { startNs, endNs }: TraceSpan,
  { receivedAtMs }: RowContext,
  log: (code: 'ends_before_start' | 'implausible_time') => void,
): void {
  if (endNs < startNs) log('ends_before_start');
  const latestNs = BigInt(Math.floor(receivedAtMs) + DAY_MS) * 1_000_000n;
  if (startNs < YEAR_2000_NS || startNs > latestNs) log('implausible_time');
}

/** The largest value of a signed 64-bit column, in the year 2262. */
const TIME_NS_MAX = 2n ** 63n - 1n;

function capTime(ns: bigint): bigint {
  return ns > TIME_NS_MAX ? TIME_NS_MAX : ns;
}

/**
 * Returns messages as JSON text. They arrive as text (spec 2.1) or as structured values, which the
 * OpenTelemetry conventions prefer.
 */
function readMessages(value: AttributeValue | undefined): {
  text: string | undefined;
  isReadable: boolean;
} {
  if (value === undefined || value === null) return { text: undefined, isReadable: true };
  if (typeof value === 'string')
    return { text: value, isReadable: Array.isArray(parseJson(value)) };
  return { text: JSON.stringify(value), isReadable: Array.isArray(value) };
}

function selectOtherAttributes(attributes: Attributes): Record<string, AttributeValue> {
  return Object.fromEntries(
    Object.entries(attributes).filter(
      ([key]) => isHint(key) || (key.startsWith('gen_ai.') && !COLUMN_ATTRIBUTES.has(key)),
    ),
  );
}
