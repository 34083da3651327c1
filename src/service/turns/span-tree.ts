import type { StoredSpan } from '../store/store.ts';

/** How many wrappers to search, from the latest, for one that contains a span. */
const WRAPPERS_SEARCHED_MAX = 32;

/** The position of a span in the tree. */
interface Place {
  /** The outermost `invoke_agent` or `chat` among the span and its ancestors. */
  top: StoredSpan | undefined;
  /** The highest known ancestor, or the span itself. */
  highest: StoredSpan;
}

/**
 * The tree of the spans of a conversation. Parents may be missing, because spans without an operation
 * are not stored; then a span belongs to the wrapper of its trace that was running at the time.
 */
export class SpanTree {
  readonly #byId = new Map<string, StoredSpan>();
  readonly #places = new Map<StoredSpan, Place>();
  /** Outermost `invoke_agent` spans by trace, in the order of their start times. */
  readonly #wrappers = new Map<string, StoredSpan[]>();
  /** The enclosing `invoke_agent` span, for one that is not its descendant in the tree. */
  readonly #outer = new Map<StoredSpan, StoredSpan>();

  constructor(spans: readonly StoredSpan[]) {
    for (const span of spans) this.#byId.set(keyOf(span.traceId, span.spanId), span);
    for (const span of spans.toSorted(longerFirst)) {
      if (span.operation === 'invoke_agent' && this.#placeOf(span).top === span) {
        this.#addWrapper(span);
      }
    }
  }

  /**
   * Returns the span that starts the turn of this span: the outermost `invoke_agent` or `chat`, which
   * may be the span itself. Undefined if there is none.
   */
  ownerOf(span: StoredSpan): StoredSpan | undefined {
    const { top } = this.#placeOf(span);
    if (top?.operation === 'invoke_agent') return this.#outer.get(top) ?? top;
    return this.#running(top ?? span) ?? top;
  }

  #addWrapper(span: StoredSpan): void {
    const outer = this.#running(span);
    const known = this.#wrappers.get(span.traceId);
    if (outer) this.#outer.set(span, outer);
    else if (known) known.push(span);
    else this.#wrappers.set(span.traceId, [span]);
  }

  #placeOf(span: StoredSpan): Place {
    const path: StoredSpan[] = [];
    const seen = new Set<StoredSpan>();
    let current: StoredSpan | undefined = span;
    while (current && !this.#places.has(current) && !seen.has(current)) {
      path.push(current);
      seen.add(current);
      current = this.#parentOf(current);
    }
    let place = current && this.#places.get(current);
    for (const step of path.reverse()) {
      const above = place?.top && runsApart(place.top, step) ? undefined : place?.top;
      const top = above ?? (isLead(step) ? step : undefined);
      place = { top, highest: place?.highest ?? step };
      this.#places.set(step, place);
    }
    return place ?? { top: undefined, highest: span };
  }

  #parentOf({ traceId, parentSpanId }: StoredSpan): StoredSpan | undefined {
    return parentSpanId === undefined ? undefined : this.#byId.get(keyOf(traceId, parentSpanId));
  }

  /** Finds the outermost wrapper that ran around a span whose ancestors are not all known. */
  #running(span: StoredSpan): StoredSpan | undefined {
    const { highest } = this.#placeOf(span);
    const wrappers = this.#wrappers.get(span.traceId) ?? [];
    const started = countStartedBy(wrappers, span.startNs);
    const candidates = wrappers.slice(Math.max(0, started - WRAPPERS_SEARCHED_MAX), started);
    return candidates.findLast((wrapper) => contains(wrapper, span) && !excludes(wrapper, highest));
  }
}

function longerFirst(a: StoredSpan, b: StoredSpan): number {
  return Number(a.startNs - b.startNs) || Number(b.endNs - a.endNs);
}

/**
 * Returns whether a model call below another one is a call of its own. If they overlap, it is the same
 * call recorded twice; if not, the instrumentation chained consecutive calls.
 */
function runsApart(top: StoredSpan, span: StoredSpan): boolean {
  if (top.operation !== 'chat' || span.operation !== 'chat') return false;
  return top.endNs <= span.startNs || span.endNs <= top.startNs;
}

/** Returns whether a span can start a turn. */
function isLead({ operation }: StoredSpan): boolean {
  return operation === 'invoke_agent' || operation === 'chat';
}

function contains(wrapper: StoredSpan, span: StoredSpan): boolean {
  return wrapper !== span && wrapper.startNs <= span.startNs && span.endNs <= wrapper.endNs;
}

/**
 * Returns whether a span is not part of a wrapper although it ran within it: siblings, a wrapper
 * without a parent, and a wrapper with exactly the same times are turns of their own.
 */
function excludes(wrapper: StoredSpan, highest: StoredSpan): boolean {
  const { parentSpanId } = highest;
  if (parentSpanId !== undefined && parentSpanId === wrapper.parentSpanId) return true;
  if (highest.operation !== 'invoke_agent') return false;
  const isAsLong = wrapper.startNs === highest.startNs && wrapper.endNs === highest.endNs;
  return parentSpanId === undefined || isAsLong;
}

/** Counts spans that started by `timeNs`; `spans` is sorted by start time. */
export function countStartedBy(spans: readonly { startNs: bigint }[], timeNs: bigint): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((spans[middle]?.startNs ?? 0n) <= timeNs) low = middle + 1;
    else high = middle;
  }
  return low;
}

function keyOf(traceId: string, spanId: string): string {
  return `${traceId}/${spanId}`;
}
