import {
  CONVERSATION_ID_KEY,
  hasValidIds,
  isConversationId,
  OPERATION_KEY,
  readConversationId,
  readOperation,
  type TraceRequest,
  type TraceSpan,
} from '../../contract/index.ts';
import type { IngestLogEntry, NewSpan, SpanLink, TraceRequestRows } from '../store/store.ts';
import { resolveConversations } from './conversation-ids.ts';
import { createDialectFinder } from './dialects/dialect.ts';
import { dialects } from './dialects/table.ts';
import { RequestLogEntries } from './log-entries.ts';
import { logMessages, type LogCode } from './log-messages.ts';
import { hasTurnText, toSpanLink, toSpanRow } from './span-row.ts';
import { TagCollector } from './tags.ts';

/** What is known about a request besides its spans. */
export interface RequestContext {
  /** The `X-Conversation-Id` header. */
  headerConversationId: string | undefined;
  ownerId: string;
  /** Server time. */
  receivedAtMs: number;
  /** Returns the conversations of the owner's stored traces, by trace id. */
  knownTraces: (traceIds: readonly string[]) => Map<string, string>;
}

/** A request that is rejected as a whole. The code is one of the service's error table. */
export interface RejectedSpans {
  rejection: { code: 'no_conversation_id' | 'malformed_body'; message: string };
  logEntries: IngestLogEntry[];
}

/**
 * Converts a trace request to the rows to store: spans that belong to conversations, tags, the ids of
 * ignored spans, and log entries about everything that was dropped or changed (spec 2.1, 7).
 *
 * Only GenAI spans (those with an operation) count; a request without any is accepted and stores only
 * ids. A request is rejected if all its GenAI spans have invalid ids, or if none of them has a
 * conversation id and there is no header.
 */
export function readSpans(
  request: TraceRequest,
  context: RequestContext,
): TraceRequestRows | RejectedSpans {
  const log = new RequestLogEntries(findReadableTraces(request));
  checkRequest(request, log);
  const genAiSpans = request.spans.filter((span) => isGenAiSpan(span, log));
  const validSpans = genAiSpans.filter((span) => checkIds(span, log));
  if (genAiSpans.length > 0 && validSpans.length === 0) {
    return reject('malformed_body', 'malformed_ids', log);
  }
  const header = readHeader(context, log);
  for (const span of validSpans) checkConversationId(span, log);
  if (validSpans.length > 0 && header === undefined && !validSpans.some(readConversationId)) {
    const [first] = validSpans;
    log.add('no_conversation_id', first ? describeSpan(first) : {});
    // If there is an id but it is invalid, the message is about that.
    const hasInvalidId =
      context.headerConversationId !== undefined ||
      validSpans.some((span) => CONVERSATION_ID_KEY in span.attributes);
    const reason = hasInvalidId ? 'malformed_conversation_id' : 'no_conversation_id';
    const hint = hasInvalidId ? '' : explainMissingIds(validSpans, context);
    return reject('no_conversation_id', reason, log, hint);
  }
  if (header !== undefined) checkHeader(header, validSpans, log);
  const { knownTraces } = context;
  const conversations = resolveConversations(validSpans, request.spans, { header, knownTraces });
  const links = collectLinks(request.spans);
  return { ...toRows(validSpans, conversations, { context, log }), links };
}

/** Ids of ignored spans that are stored for one request. Real requests have fewer spans. */
const LINKS_PER_REQUEST_MAX = 10_000;

function collectLinks(spans: readonly TraceSpan[]): SpanLink[] {
  return spans
    .filter((span) => readOperation(span) === undefined)
    .slice(0, LINKS_PER_REQUEST_MAX)
    .flatMap((span) => toSpanLink(span) ?? []);
}

function toRows(
  validSpans: readonly TraceSpan[],
  conversations: ReadonlyMap<TraceSpan, string>,
  { context, log }: { context: RequestContext; log: RequestLogEntries },
): Omit<TraceRequestRows, 'links'> {
  const { ownerId, receivedAtMs } = context;
  const spans = new Map<string, NewSpan>();
  const collector = new TagCollector(log);
  for (const span of validSpans) {
    const conversationId = conversations.get(span);
    if (conversationId === undefined) {
      log.add('unresolved_conversation', describeSpan(span));
    } else if (spans.has(span.spanId)) {
      log.add('repeated_span_id', describeSpan(span));
    } else {
      const operation = readOperation(span) ?? '';
      const row = toSpanRow(span, { conversationId, operation, receivedAtMs }, log);
      spans.set(span.spanId, row);
      collector.add(conversationId, span);
    }
  }
  const { tags } = collector;
  const logEntries = spans.size === 0 ? log.entries().map(raiseLevel) : log.entries();
  return { ownerId, receivedAtMs, spans: [...spans.values()], tags, logEntries };
}

/** Raises `info` to `warn`: if no span is stored, these entries are the cause. */
const raiseLevel = (entry: IngestLogEntry): IngestLogEntry =>
  entry.level === 'info' ? { ...entry, level: 'warn' } : entry;

function reject(
  code: RejectedSpans['rejection']['code'],
  reason: LogCode,
  log: RequestLogEntries,
  hint = '',
): RejectedSpans {
  const message = logMessages[reason].message + hint;
  return { rejection: { code, message }, logEntries: log.entries() };
}

/** Spans that an error message names. */
const SPANS_NAMED_MAX = 5;

/** Names the spans without a conversation id, and how to set one (docs/decisions/0037). */
function explainMissingIds(spans: readonly TraceSpan[], { knownTraces }: RequestContext): string {
  const named = spans.slice(0, SPANS_NAMED_MAX);
  const names = named.map((span) => `${readKind(span)} ${span.spanId}`);
  if (spans.length > named.length) names.push(`and ${spans.length - named.length} more`);
  const known = knownTraces([...new Set(named.map(({ traceId }) => traceId))]);
  const reason =
    known.size > 0 ? ' An id that an earlier request set for the trace does not count.' : '';
  return ` The spans: ${names.join(', ')}.${reason}${findConversationIdHint(spans)}`;
}

/** Returns the operation; `span` if it might contain text of the conversation. */
function readKind(span: TraceSpan): string {
  const operation = readOperation(span) ?? '';
  return /^\w{1,40}$/.test(operation) ? operation : 'span';
}

const SPAN_PROCESSOR_HINT =
  ' To set it on every span of an OpenTelemetry SDK, put gen_ai.conversation.id into the baggage and ' +
  'add a BaggageSpanProcessor (npm: @opentelemetry/baggage-span-processor, PyPI: ' +
  'opentelemetry-processor-baggage).';

/** Returns how the SDK that made the spans sets a conversation id, or how any SDK can. */
function findConversationIdHint(spans: readonly TraceSpan[]): string {
  const findDialect = createDialectFinder(dialects);
  for (const span of spans) {
    const dialect = findDialect(span, 'conversationId');
    if (dialect) return ` ${dialect.conversationId}`;
  }
  return SPAN_PROCESSOR_HINT;
}

function checkRequest({ spans, ignoredKeys }: TraceRequest, log: RequestLogEntries): void {
  if (ignoredKeys.length > 0) log.add('ignored_keys', { keys: ignoredKeys.join(', ') });
  else if (spans.length === 0) log.add('empty_request');
}

/** Returns whether a span is part of a conversation; all others are ignored (spec 2.1). */
function isGenAiSpan(span: TraceSpan, log: RequestLogEntries): boolean {
  if (readOperation(span) !== undefined) return true;
  const about = { ...describeSpan(span), scope: span.scope.slice(0, 100) };
  if (OPERATION_KEY in span.attributes) log.add('malformed_operation', about);
  else if (log.addDialect('withoutOperation', span, about)) return false;
  else if ('gen_ai.system' in span.attributes && !log.isInReadableTrace(span)) {
    log.add('older_conventions', about);
  } else log.add('ignored_spans', about);
  return false;
}

/** Returns the traces that have a turn with text. */
function findReadableTraces({ spans }: TraceRequest): Set<string> {
  return new Set(spans.filter(hasTurnText).map(({ traceId }) => traceId));
}

function checkIds(span: TraceSpan, log: RequestLogEntries): boolean {
  if (hasValidIds(span)) return true;
  log.add('malformed_ids', describeSpan(span));
  return false;
}

function readHeader(
  { headerConversationId }: RequestContext,
  log: RequestLogEntries,
): string | undefined {
  if (headerConversationId === undefined || isConversationId(headerConversationId)) {
    return headerConversationId;
  }
  log.add('malformed_conversation_id', { header: 'X-Conversation-Id' });
  return undefined;
}

/** Logs the spans that the header separates from other spans of their trace. */
function checkHeader(header: string, spans: readonly TraceSpan[], log: RequestLogEntries): void {
  const otherTraces = new Set(
    spans
      .filter((span) => (readConversationId(span) ?? header) !== header)
      .map(({ traceId }) => traceId),
  );
  if (otherTraces.size === 0) return;
  for (const span of spans) {
    const isSplit = otherTraces.has(span.traceId) && readConversationId(span) === undefined;
    if (isSplit) log.add('conflicting_conversation_ids', describeSpan(span));
  }
}

function checkConversationId(span: TraceSpan, log: RequestLogEntries): void {
  const id = span.attributes[CONVERSATION_ID_KEY];
  if (id !== undefined && !isConversationId(id)) {
    log.add('malformed_conversation_id', describeSpan(span));
  }
  if (CONVERSATION_ID_KEY in span.resource) {
    log.add('conversation_id_on_resource', describeSpan(span));
  }
}

/** Returns the ids of a span for the log, truncated because they may be invalid and long. */
function describeSpan({ traceId, spanId }: TraceSpan): Record<string, string> {
  return { trace_id: traceId.slice(0, 64), span_id: spanId.slice(0, 64) };
}
