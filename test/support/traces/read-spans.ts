import { readTraceRequest, type Span, type TraceRequest } from '../../../src/contract/index.ts';
import {
  readSpans,
  type RejectedSpans,
  type RequestContext,
} from '../../../src/service/ingest/read-spans.ts';
import type { IngestLogEntry, TraceRequestRows } from '../../../src/service/store/store.ts';
import { makeWireRequest, makeWireSpan, START_MS, type SpanSketch } from './span-sketch.ts';

export const conversation = (id: string): Record<string, unknown> => ({
  'gen_ai.conversation.id': id,
});
export const operation = (name: unknown): Record<string, unknown> => ({
  'gen_ai.operation.name': name,
});
/** A span without attributes. */
export const plain: Partial<Span> = { attributes: [] };

/** Reads a request with these spans. */
export function readSketches(
  spans: readonly (SpanSketch | Span)[],
  context: Partial<RequestContext> = {},
  resource: Record<string, unknown> = {},
): TraceRequestRows | RejectedSpans {
  const wire = spans.map((span) => ('traceId' in span ? span : makeWireSpan(span)));
  return readRequest(readTraceRequest(makeWireRequest(wire, resource)), context);
}

export function readRequest(
  request: TraceRequest,
  context: Partial<RequestContext> = {},
): TraceRequestRows | RejectedSpans {
  return readSpans(request, {
    headerConversationId: undefined,
    ownerId: 'owner-1',
    receivedAtMs: START_MS,
    knownTraces: () => new Map(),
    ...context,
  });
}

/** Returns the rows of an accepted request. */
export function expectAccepted(result: TraceRequestRows | RejectedSpans): TraceRequestRows {
  if ('rejection' in result) throw new Error(`Rejected: ${result.rejection.message}`);
  return result;
}

/** Returns the conversation of each span by its short id. */
export function listConversations(
  result: TraceRequestRows | RejectedSpans,
): Record<string, string> {
  const { spans } = expectAccepted(result);
  return Object.fromEntries(
    spans.map(({ spanId, conversationId }) => [spanId.replace(/^0+/, ''), conversationId]),
  );
}

export function listCodes({ logEntries }: { logEntries: readonly IngestLogEntry[] }): string[] {
  return logEntries.map(({ code }) => code);
}

export function findEntry(
  result: { logEntries: readonly IngestLogEntry[] },
  code: string,
): IngestLogEntry | undefined {
  return result.logEntries.find((entry) => entry.code === code);
}
