import { readTraceRequest, type Span, type TraceRequest } from '../../src/contract/index.ts';
import {
  readSpans,
  type RefusedSpans,
  type RequestContext,
} from '../../src/service/ingest/read-spans.ts';
import type { IngestLogEntry, TraceRequestRows } from '../../src/service/store/store.ts';
import { requestOf, spanOf, startMs, type SpanSketch } from './span-sketch.ts';

export const conversation = (id: string): Record<string, unknown> => ({
  'gen_ai.conversation.id': id,
});
export const operation = (name: unknown): Record<string, unknown> => ({
  'gen_ai.operation.name': name,
});
/** A span without any attribute. */
export const plain: Partial<Span> = { attributes: [] };

/** What the request of these spans comes to. */
export function read(
  spans: readonly (SpanSketch | Span)[],
  context: Partial<RequestContext> = {},
  resource: Record<string, unknown> = {},
): TraceRequestRows | RefusedSpans {
  const wire = spans.map((span) => ('traceId' in span ? span : spanOf(span)));
  return readRequest(readTraceRequest(requestOf(wire, resource)), context);
}

export function readRequest(
  request: TraceRequest,
  context: Partial<RequestContext> = {},
): TraceRequestRows | RefusedSpans {
  return readSpans(request, {
    headerConversationId: undefined,
    ownerId: 'owner-1',
    receivedAtMs: startMs,
    knownTraces: () => new Map(),
    ...context,
  });
}

export function accepted(result: TraceRequestRows | RefusedSpans): TraceRequestRows {
  if ('refused' in result) throw new Error(`refused: ${result.refused.message}`);
  return result;
}

/** Conversation by span id, short. */
export function conversationsOf(result: TraceRequestRows | RefusedSpans): Record<string, string> {
  const { spans } = accepted(result);
  return Object.fromEntries(
    spans.map(({ spanId, conversationId }) => [spanId.replace(/^0+/, ''), conversationId]),
  );
}

export function codes({ logEntries }: { logEntries: readonly IngestLogEntry[] }): string[] {
  return logEntries.map(({ code }) => code);
}

export function noteOf(
  result: { logEntries: readonly IngestLogEntry[] },
  code: string,
): IngestLogEntry | undefined {
  return result.logEntries.find((note) => note.code === code);
}
