import { readTraceRequest, type Span, type TraceRequest } from '../../src/contract/index.ts';
import {
  readSpans,
  type RefusedSpans,
  type RequestContext,
} from '../../src/service/ingest/read-spans.ts';
import type { IngestNote, NewSpans } from '../../src/service/store/store.ts';
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
): NewSpans | RefusedSpans {
  const wire = spans.map((span) => ('traceId' in span ? span : spanOf(span)));
  return readRequest(readTraceRequest(requestOf(wire, resource)), context);
}

export function readRequest(
  request: TraceRequest,
  context: Partial<RequestContext> = {},
): NewSpans | RefusedSpans {
  return readSpans(request, {
    headerConversationId: undefined,
    ownerId: 'owner-1',
    receivedAtMs: startMs,
    knownTraces: () => new Map(),
    ...context,
  });
}

export function accepted(result: NewSpans | RefusedSpans): NewSpans {
  if ('refused' in result) throw new Error(`refused: ${result.refused.message}`);
  return result;
}

/** Conversation by span id, short. */
export function conversationsOf(result: NewSpans | RefusedSpans): Record<string, string> {
  const { spans } = accepted(result);
  return Object.fromEntries(
    spans.map(({ spanId, conversationId }) => [spanId.replace(/^0+/, ''), conversationId]),
  );
}

export function codes({ notes }: { notes: readonly IngestNote[] }): string[] {
  return notes.map(({ code }) => code);
}

export function noteOf(
  result: { notes: readonly IngestNote[] },
  code: string,
): IngestNote | undefined {
  return result.notes.find((note) => note.code === code);
}
