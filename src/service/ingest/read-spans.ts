import type { TraceRequest, TraceSpan } from '../../contract/index.ts';
import type { IngestLogEntry, NewSpan, TraceRequestRows } from '../store/store.ts';
import {
  conversationIdKey,
  isConversationId,
  ownConversationId,
  resolveConversations,
} from './conversation-ids.ts';
import { LogEntryCollector, logMessages, type LogCode } from './log-entries.ts';
import { hasValidIds, operationKey, operationOf, toSpanRow } from './span-row.ts';
import { TagCollector } from './tags.ts';

/** What is known of a request besides its spans. */
export interface RequestContext {
  /** X-Conversation-Id, where there is one. */
  headerConversationId: string | undefined;
  ownerId: string;
  /** Server time. */
  receivedAtMs: number;
  /** The owner's conversations that earlier spans of these traces belong to, by trace id. */
  knownTraces: (traceIds: readonly string[]) => Map<string, string>;
}

/** A request that is refused as a whole. The code is one of the service's error table. */
export interface RefusedSpans {
  refused: { code: 'no_conversation_id' | 'malformed_body'; message: string };
  logEntries: IngestLogEntry[];
}

/**
 * Makes of a trace request what is to be kept: rows for the spans that belong to conversations, tags,
 * and notes on whatever did not go in as it came (spec 2.1, 7). Refused is a request with such spans
 * of which none carries a conversation id, when there is no header either; and one in which all of
 * them have malformed ids. Nothing relevant in it: nothing is kept, and that is no mistake.
 */
export function readSpans(
  request: TraceRequest,
  context: RequestContext,
): TraceRequestRows | RefusedSpans {
  const book = new LogEntryCollector();
  noteRequest(request, book);
  const relevant = request.spans.filter((span) => isRelevant(span, book));
  const sound = relevant.filter((span) => hasSoundIds(span, book));
  if (relevant.length > 0 && sound.length === 0) {
    return refuse('malformed_body', 'malformed_ids', book);
  }
  const header = headerOf(context, book);
  for (const span of sound) noteConversationId(span, book);
  if (sound.length > 0 && header === undefined && !sound.some(ownConversationId)) {
    const [first] = sound;
    book.add('no_conversation_id', first ? aboutOf(first) : {});
    // One that there is, but can't be used, is what to tell of.
    const isUnusable =
      context.headerConversationId !== undefined ||
      sound.some((span) => conversationIdKey in span.attributes);
    const note = isUnusable ? 'malformed_conversation_id' : 'no_conversation_id';
    return refuse('no_conversation_id', note, book);
  }
  const { knownTraces } = context;
  const conversations = resolveConversations(sound, request.spans, { header, knownTraces });
  return keep(sound, conversations, { context, book });
}

function keep(
  sound: readonly TraceSpan[],
  conversations: ReadonlyMap<TraceSpan, string>,
  { context, book }: { context: RequestContext; book: LogEntryCollector },
): TraceRequestRows {
  const { ownerId, receivedAtMs } = context;
  const spans = new Map<string, NewSpan>();
  const collector = new TagCollector(book);
  for (const span of sound) {
    const conversationId = conversations.get(span);
    if (conversationId === undefined) {
      book.add('unresolved_conversation', aboutOf(span));
    } else if (spans.has(span.spanId)) {
      book.add('repeated_span_id', aboutOf(span));
    } else {
      const operation = operationOf(span) ?? '';
      const row = toSpanRow(span, { conversationId, operation, receivedAtMs }, book);
      spans.set(span.spanId, row);
      collector.add(conversationId, span);
    }
  }
  const { tags } = collector;
  return { ownerId, receivedAtMs, spans: [...spans.values()], tags, logEntries: book.notes() };
}

function refuse(
  code: RefusedSpans['refused']['code'],
  note: LogCode,
  book: LogEntryCollector,
): RefusedSpans {
  return { refused: { code, message: logMessages[note].message }, logEntries: book.notes() };
}

function noteRequest({ spans, ignoredKeys }: TraceRequest, book: LogEntryCollector): void {
  if (ignoredKeys.length > 0) book.add('ignored_keys', { keys: ignoredKeys.join(', ') });
  else if (spans.length === 0) book.add('empty_request');
}

/** Whether a span is part of a conversation at all; the others are ignored (spec 2.1). */
function isRelevant(span: TraceSpan, book: LogEntryCollector): boolean {
  if (operationOf(span) !== undefined) return true;
  const about = { ...aboutOf(span), scope: span.scope.slice(0, 100) };
  if (operationKey in span.attributes) book.add('malformed_operation', about);
  else if ('gen_ai.system' in span.attributes) book.add('older_conventions', about);
  else book.add('ignored_spans', about);
  return false;
}

function hasSoundIds(span: TraceSpan, book: LogEntryCollector): boolean {
  if (hasValidIds(span)) return true;
  book.add('malformed_ids', aboutOf(span));
  return false;
}

function headerOf(
  { headerConversationId }: RequestContext,
  book: LogEntryCollector,
): string | undefined {
  if (headerConversationId === undefined || isConversationId(headerConversationId)) {
    return headerConversationId;
  }
  book.add('malformed_conversation_id', { header: 'X-Conversation-Id' });
  return undefined;
}

function noteConversationId(span: TraceSpan, book: LogEntryCollector): void {
  const id = span.attributes[conversationIdKey];
  if (id !== undefined && !isConversationId(id)) {
    book.add('malformed_conversation_id', aboutOf(span));
  }
  if (conversationIdKey in span.resource) book.add('conversation_id_on_resource', aboutOf(span));
}

/** Ids may be malformed, and long. */
function aboutOf({ traceId, spanId }: TraceSpan): Record<string, string> {
  return { trace_id: traceId.slice(0, 64), span_id: spanId.slice(0, 64) };
}
