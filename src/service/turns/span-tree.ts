import type { StoredSpan } from '../store/store.ts';

/** Wrappers that are looked at, from the latest to begin, for one that contains a span. */
const wrappersTriedMax = 32;

/** Where a span hangs. */
interface Place {
  /** The outermost `invoke_agent` or `chat` from the span upwards, perhaps itself. */
  top: StoredSpan | undefined;
  /** The highest ancestor that is known, perhaps itself. */
  highest: StoredSpan;
}

/**
 * How the spans of a conversation hang together. Parents may be missing, since spans without an
 * operation are not kept; then a span belongs to the wrapper of its trace that was running.
 */
export class SpanTree {
  readonly #byId = new Map<string, StoredSpan>();
  readonly #places = new Map<StoredSpan, Place>();
  /** Outermost `invoke_agent` spans by trace, in the order in which they begin. */
  readonly #wrappers = new Map<string, StoredSpan[]>();
  /** Of an `invoke_agent` span that ran inside another one, without hanging on it. */
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
   * The span that begins the turn in which this one stands, perhaps itself: the outermost
   * `invoke_agent` or `chat`. Undefined for one that hangs on none.
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
    let here: StoredSpan | undefined = span;
    while (here && !this.#places.has(here) && !seen.has(here)) {
      path.push(here);
      seen.add(here);
      here = this.#parentOf(here);
    }
    let place = here && this.#places.get(here);
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

  /** The outermost wrapper that ran around a span whose ancestors are not all known. */
  #running(span: StoredSpan): StoredSpan | undefined {
    const { highest } = this.#placeOf(span);
    const wrappers = this.#wrappers.get(span.traceId) ?? [];
    const begun = begunBy(wrappers, span.startNs);
    const tried = wrappers.slice(Math.max(0, begun - wrappersTriedMax), begun);
    return tried.findLast((wrapper) => contains(wrapper, span) && !excludes(wrapper, highest));
  }
}

function longerFirst(one: StoredSpan, other: StoredSpan): number {
  return Number(one.startNs - other.startNs) || Number(other.endNs - one.endNs);
}

/**
 * A model call inside another one is the same call, seen twice. One that runs at another
 * time only hangs on it, as some instrumentations chain their calls.
 */
function runsApart(top: StoredSpan, span: StoredSpan): boolean {
  if (top.operation !== 'chat' || span.operation !== 'chat') return false;
  return top.endNs <= span.startNs || span.endNs <= top.startNs;
}

/** Whether a span can begin a turn. */
function isLead({ operation }: StoredSpan): boolean {
  return operation === 'invoke_agent' || operation === 'chat';
}

function contains(wrapper: StoredSpan, span: StoredSpan): boolean {
  return wrapper !== span && wrapper.startNs <= span.startNs && span.endNs <= wrapper.endNs;
}

/**
 * Two that hang on the same span stand beside each other. A wrapper that hangs on nothing is a turn
 * of its own, and so is one that ran exactly as long as the other.
 */
function excludes(wrapper: StoredSpan, highest: StoredSpan): boolean {
  const { parentSpanId } = highest;
  if (parentSpanId !== undefined && parentSpanId === wrapper.parentSpanId) return true;
  if (highest.operation !== 'invoke_agent') return false;
  const isAsLong = wrapper.startNs === highest.startNs && wrapper.endNs === highest.endNs;
  return parentSpanId === undefined || isAsLong;
}

/** How many of the spans have begun by then; they stand in the order of their beginnings. */
export function begunBy(spans: readonly { startNs: bigint }[], timeNs: bigint): number {
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
