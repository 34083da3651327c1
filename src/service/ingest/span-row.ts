import type { Attributes, AttributeValue, TraceSpan } from '../../contract/index.ts';
import type { NewSpan } from '../store/store.ts';
import { isHint } from '../turns/evaluation-hints.ts';
import { conversationIdKey } from './conversation-ids.ts';
import type { LogEntryCollector } from './log-entries.ts';

/** The attribute without which a span is ignored (spec 2.1). */
export const operationKey = 'gen_ai.operation.name';

const inputKey = 'gen_ai.input.messages';
const outputKey = 'gen_ai.output.messages';

/** The operation of a span that belongs to a conversation; undefined for all others. */
export function operationOf({ attributes }: TraceSpan): string | undefined {
  const operation = attributes[operationKey];
  return typeof operation === 'string' && operation !== '' ? operation : undefined;
}

/** Attributes that have a place of their own in the row. */
const ownPlaces: ReadonlySet<string> = new Set([
  operationKey,
  conversationIdKey,
  inputKey,
  outputKey,
]);

const turnOperations: ReadonlySet<string> = new Set(['chat', 'execute_tool', 'invoke_agent']);

/** What is known of a span besides itself. */
export interface RowContext {
  conversationId: string;
  /** Of `operationOf`. */
  operation: string;
  receivedAtMs: number;
}

/** Whether trace and span id are what OTLP demands: hexadecimal of full length, not all zero. */
export function hasValidIds({ traceId, spanId }: TraceSpan): boolean {
  return isId(traceId, 32) && isId(spanId, 16);
}

/** A span as it is kept. What is odd about it is noted, and is no reason to lose it. */
export function toSpanRow(span: TraceSpan, context: RowContext, book: LogEntryCollector): NewSpan {
  const { conversationId, operation } = context;
  const { traceId, spanId, name } = span;
  const about = { conversation_id: conversationId, trace_id: traceId, span_id: spanId };
  if (!turnOperations.has(operation))
    book.add('operation_without_turn', { ...about, operation: operation.slice(0, 100) });
  noteTimes(span, context, (code) => book.add(code, about));
  const messages = (key: string): string | undefined => {
    const { text, readable } = messagesOf(span.attributes[key]);
    if (!readable) book.add('malformed_messages', { ...about, attribute: key });
    return text;
  };
  const inputMessages = messages(inputKey);
  const outputMessages = messages(outputKey);
  if (operation === 'chat' && inputMessages === undefined && outputMessages === undefined) {
    book.add('no_messages', about);
  }
  return {
    conversationId,
    traceId,
    spanId,
    parentSpanId: parentOf(span, () => book.add('malformed_parent_id', about)),
    operation,
    name,
    startNs: storable(span.startNs),
    endNs: storable(span.endNs),
    // UNSET is what instrumentations send on success (spec 2.1 has "other than OK").
    failed: span.statusCode === 2,
    inputMessages,
    outputMessages,
    attributes: otherAttributes(span.attributes),
  };
}

function isId(id: string, digits: number): boolean {
  return id.length === digits && /^[0-9a-f]+$/.test(id) && !/^0+$/.test(id);
}

/** The root of a trace has no parent, or one that is all zero. */
function parentOf({ parentSpanId }: TraceSpan, onMalformed: () => void): string | undefined {
  if (isId(parentSpanId, 16)) return parentSpanId;
  if (!/^0*$/.test(parentSpanId)) onMalformed();
  return undefined;
}

const year2000Ns = 946_684_800_000_000_000n;
const dayMs = 86_400_000;

function noteTimes(
  { startNs, endNs }: TraceSpan,
  { receivedAtMs }: RowContext,
  note: (code: 'ends_before_start' | 'implausible_time') => void,
): void {
  if (endNs < startNs) note('ends_before_start');
  const latestNs = BigInt(Math.floor(receivedAtMs) + dayMs) * 1_000_000n;
  if (startNs < year2000Ns || startNs > latestNs) note('implausible_time');
}

/** The last nanosecond that a signed 64-bit column holds, in the year 2262. */
const timeNsMax = 2n ** 63n - 1n;

function storable(ns: bigint): bigint {
  return ns > timeNsMax ? timeNsMax : ns;
}

/**
 * Messages come as JSON text or as structured values (spec 2.1 has the former, the conventions
 * prefer the latter); both are kept as text.
 */
function messagesOf(value: AttributeValue | undefined): {
  text: string | undefined;
  readable: boolean;
} {
  if (value === undefined || value === null) return { text: undefined, readable: true };
  if (typeof value === 'string') return { text: value, readable: isJsonArray(value) };
  return { text: JSON.stringify(value), readable: Array.isArray(value) };
}

function isJsonArray(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

function otherAttributes(attributes: Attributes): Record<string, AttributeValue> {
  return Object.fromEntries(
    Object.entries(attributes).filter(
      ([key]) => isHint(key) || (key.startsWith('gen_ai.') && !ownPlaces.has(key)),
    ),
  );
}
