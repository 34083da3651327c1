import type { TraceSpan } from '../../contract/index.ts';

/** The longest conversation id that is kept. The interface sets no bound, an index needs one. */
const conversationIdLengthMax = 1_024;

/** The attribute that names a span's conversation (spec 2.1). */
export const conversationIdKey = 'gen_ai.conversation.id';

/** Whether a value can be the id of a conversation. */
export function isConversationId(value: unknown): value is string {
  return (
    typeof value === 'string' && value.trim() !== '' && value.length <= conversationIdLengthMax
  );
}

/** The id that a span carries itself. */
export function ownConversationId(span: TraceSpan): string | undefined {
  const id = span.attributes[conversationIdKey];
  return isConversationId(id) ? id : undefined;
}

/** Where else an id may come from. */
export interface ConversationSources {
  /** The request's X-Conversation-Id. */
  header: string | undefined;
  /** Conversations of traces that are stored already, by trace id. */
  knownTraces: (traceIds: readonly string[]) => Map<string, string>;
}

/**
 * The conversation of each of the `wanted` spans, for as many as have one: its own id; else the
 * header; else the nearest ancestor that carries one, else any span of its trace in the request;
 * else what is stored of its trace. Instrumentations set the id on the root alone, and children end
 * first, so each of these happens.
 */
export function resolveConversations(
  wanted: readonly TraceSpan[],
  all: readonly TraceSpan[],
  { header, knownTraces }: ConversationSources,
): Map<TraceSpan, string> {
  const resolved = new Map<TraceSpan, string>();
  const orphans: TraceSpan[] = [];
  for (const span of wanted) {
    const id = ownConversationId(span) ?? header;
    if (id === undefined) orphans.push(span);
    else resolved.set(span, id);
  }
  if (orphans.length === 0) return resolved;
  const kin = new Kin(all);
  const strangers = orphans.filter((span) => {
    const id = kin.idFor(span);
    if (id !== undefined) resolved.set(span, id);
    return id === undefined;
  });
  if (strangers.length === 0) return resolved;
  const known = knownTraces([...new Set(strangers.map(({ traceId }) => traceId))]);
  for (const span of strangers) {
    const id = known.get(span.traceId);
    if (id !== undefined) resolved.set(span, id);
  }
  return resolved;
}

/** The spans of a request by their traces. Every span is walked over once, however they hang. */
class Kin {
  readonly #byId = new Map<string, TraceSpan>();
  readonly #firstOfTrace = new Map<string, string>();
  readonly #nearest = new Map<TraceSpan, string | undefined>();

  constructor(spans: readonly TraceSpan[]) {
    for (const span of spans) {
      const key = `${span.traceId}/${span.spanId}`;
      if (!this.#byId.has(key)) this.#byId.set(key, span);
      const id = ownConversationId(span);
      if (id === undefined) continue;
      this.#nearest.set(span, id);
      if (!this.#firstOfTrace.has(span.traceId)) this.#firstOfTrace.set(span.traceId, id);
    }
  }

  idFor(span: TraceSpan): string | undefined {
    return this.#ofAncestors(span) ?? this.#firstOfTrace.get(span.traceId);
  }

  #ofAncestors(span: TraceSpan): string | undefined {
    const path: TraceSpan[] = [];
    let here: TraceSpan | undefined = span;
    while (here && !this.#nearest.has(here)) {
      path.push(here);
      // Set at once, so that parents that go round in a circle end here.
      this.#nearest.set(here, undefined);
      here = this.#byId.get(`${here.traceId}/${here.parentSpanId}`);
    }
    const id = here && this.#nearest.get(here);
    for (const step of path) this.#nearest.set(step, id);
    return id;
  }
}
