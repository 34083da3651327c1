import {
  CONVERSATION_ID_KEY,
  findOtherText,
  findTimeFault,
  hasValidIds,
  INPUT_KEY,
  isSpanId,
  OPERATION_KEY,
  OUTPUT_KEY,
  readMessagesAttribute,
  readOperation,
  TOOL_DETAIL_KEYS,
  CONVERSATION_OPERATIONS,
  type Attributes,
  type AttributeValue,
  type TraceSpan,
} from '../../contract/index.ts';
import type { NewSpan, SpanLink } from '../store/store.ts';
import { isHint } from '../turns/evaluation-hints.ts';
import type { RequestLogEntries } from './log-entries.ts';

/** Attributes with separate columns. */
const COLUMN_ATTRIBUTES: ReadonlySet<string> = new Set([
  OPERATION_KEY,
  CONVERSATION_ID_KEY,
  INPUT_KEY,
  OUTPUT_KEY,
]);

/** What else is known about a span. */
export interface RowContext {
  conversationId: string;
  /** From `readOperation`. */
  operation: string;
  receivedAtMs: number;
}

/** Converts a span to a row. Logs anything unusual, but never drops the span. */
export function toSpanRow(span: TraceSpan, context: RowContext, log: RequestLogEntries): NewSpan {
  const { conversationId, operation } = context;
  const { traceId, spanId, name, startNs, endNs } = span;
  const about = { conversation_id: conversationId, trace_id: traceId, span_id: spanId };
  if (!CONVERSATION_OPERATIONS.has(operation) && !log.addDialect('withoutTurn', span, about))
    log.add('operation_without_turn', { ...about, operation: operation.slice(0, 100) });
  const time = findTimeFault(span, context.receivedAtMs);
  if (time) log.add(timeCodes[time.kind], { ...about, time: time.name });
  const messages = (key: string): string | undefined => {
    const { text, isReadable } = readMessagesAttribute(span.attributes[key]);
    if (!isReadable) log.add('malformed_messages', { ...about, attribute: key });
    return text;
  };
  const inputMessages = messages(INPUT_KEY);
  const outputMessages = messages(OUTPUT_KEY);
  logMissingContent(span, operation, { inputMessages, outputMessages }, (outcome) => {
    if (log.addDialect(outcome, span, about) || outcome !== 'withoutMessages') return;
    const attribute = findOtherText(span.attributes);
    if (attribute === undefined) log.add('no_messages', about);
    else log.add('other_text', { ...about, attribute });
  });
  return {
    conversationId,
    traceId,
    spanId,
    parentSpanId: readParentId(span, () => log.add('malformed_parent_id', about)),
    operation,
    name,
    startNs,
    endNs,
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
  if (!hasValidIds(span) || !isSpanId(parentSpanId)) return undefined;
  return { traceId, spanId, parentSpanId };
}

/** Returns the parent id. A root span has none, or one that is all zeros. */
function readParentId({ parentSpanId }: TraceSpan, onMalformed: () => void): string | undefined {
  if (isSpanId(parentSpanId)) return parentSpanId;
  if (!/^0*$/.test(parentSpanId)) onMalformed();
  return undefined;
}

/** The codes of the ingest log for wrong times. */
const timeCodes = {
  missing: 'implausible_time',
  too_early: 'implausible_time',
  too_late: 'implausible_time',
  ends_before_start: 'ends_before_start',
} as const;

function selectOtherAttributes(attributes: Attributes): Record<string, AttributeValue> {
  return Object.fromEntries(
    Object.entries(attributes).filter(
      ([key]) => isHint(key) || (key.startsWith('gen_ai.') && !COLUMN_ATTRIBUTES.has(key)),
    ),
  );
}
