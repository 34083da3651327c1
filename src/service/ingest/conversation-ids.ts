import { readConversationId, type TraceSpan } from '../../contract/index.ts';

/** Other sources of conversation ids. */
export interface ConversationSources {
  /** The `X-Conversation-Id` header of the request. */
  header: string | undefined;
  /** Returns the conversations of stored traces, by trace id. */
  knownTraces: (traceIds: readonly string[]) => Map<string, string>;
}

/**
 * Finds the conversation of each span in `spans`. The first source that has an id decides:
 *
 * 1. the span's own attribute,
 * 2. the `X-Conversation-Id` header,
 * 3. the nearest ancestor in the request with an id,
 * 4. the first span of the same trace in the request with an id,
 * 5. the stored spans of the same trace.
 *
 * Many instrumentations set the id only on the root span, and children end before it, so all of these
 * occur in practice. Spans without a conversation are missing in the result.
 */
export function resolveConversations(
  spans: readonly TraceSpan[],
  allSpans: readonly TraceSpan[],
  { header, knownTraces }: ConversationSources,
): Map<TraceSpan, string> {
  const resolved = new Map<TraceSpan, string>();
  const withoutId: TraceSpan[] = [];
  for (const span of spans) {
    const id = readConversationId(span) ?? header;
    if (id === undefined) withoutId.push(span);
    else resolved.set(span, id);
  }
  if (withoutId.length === 0) return resolved;
  const related = new RelatedIds(allSpans);
  const unresolved = withoutId.filter((span) => {
    const id = related.find(span);
    if (id !== undefined) resolved.set(span, id);
    return id === undefined;
  });
  if (unresolved.length === 0) return resolved;
  const known = knownTraces([...new Set(unresolved.map(({ traceId }) => traceId))]);
  for (const span of unresolved) {
    const id = known.get(span.traceId);
    if (id !== undefined) resolved.set(span, id);
  }
  return resolved;
}

/** Finds ids of related spans in the request. Visits every span once, in any tree. */
class RelatedIds {
  readonly #byId = new Map<string, TraceSpan>();
  readonly #firstIdOfTrace = new Map<string, string>();
  /** The id of the nearest ancestor, or of the span itself; undefined if there is none. */
  readonly #nearestId = new Map<TraceSpan, string | undefined>();

  constructor(spans: readonly TraceSpan[]) {
    for (const span of spans) {
      const key = `${span.traceId}/${span.spanId}`;
      if (!this.#byId.has(key)) this.#byId.set(key, span);
      const id = readConversationId(span);
      if (id === undefined) continue;
      this.#nearestId.set(span, id);
      if (!this.#firstIdOfTrace.has(span.traceId)) this.#firstIdOfTrace.set(span.traceId, id);
    }
  }

  find(span: TraceSpan): string | undefined {
    return this.#findInAncestors(span) ?? this.#firstIdOfTrace.get(span.traceId);
  }

  #findInAncestors(span: TraceSpan): string | undefined {
    const path: TraceSpan[] = [];
    let current: TraceSpan | undefined = span;
    while (current && !this.#nearestId.has(current)) {
      path.push(current);
      // Marks the span as visited, which ends cycles of parents.
      this.#nearestId.set(current, undefined);
      current = this.#byId.get(`${current.traceId}/${current.parentSpanId}`);
    }
    const id = current && this.#nearestId.get(current);
    for (const visited of path) this.#nearestId.set(visited, id);
    return id;
  }
}
