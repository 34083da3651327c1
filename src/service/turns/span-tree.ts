import type { SpanLink, StoredSpan } from '../store/records.ts';

/** How many wrappers to search for one that contains a span, starting with the latest. */
const WRAPPERS_SEARCHED_MAX = 32;

/** A span, or the ids of an ignored one. */
type TreeNode = StoredSpan | SpanLink;

interface TreePosition {
  /** The outermost `invoke_agent` or `chat` among the span and its ancestors. */
  top: StoredSpan | undefined;
  /** The highest known ancestor, or the span itself. */
  highest: TreeNode;
}

/**
 * The span tree of a conversation. Of spans without an operation, only the ids are known. Parents may
 * be missing, because not every service exports its spans. A span without a known parent belongs to the wrapper of its trace that was running at the time.
 */
export class SpanTree {
  readonly #byId = new Map<string, TreeNode>();
  readonly #positions = new Map<TreeNode, TreePosition>();
  /** Outermost `invoke_agent` spans by trace, in the order of their start times. */
  readonly #wrappers = new Map<string, StoredSpan[]>();
  /** The `invoke_agent` span that ran around another one without being its known ancestor. */
  readonly #enclosing = new Map<StoredSpan, StoredSpan>();

  constructor(spans: readonly StoredSpan[], links: readonly SpanLink[]) {
    for (const node of [...links, ...spans]) {
      this.#byId.set(makeKey(node.traceId, node.spanId), node);
    }
    for (const span of spans.toSorted(compareWrappers)) {
      if (span.operation === 'invoke_agent' && this.#locate(span).top === span) {
        this.#addWrapper(span);
      }
    }
  }

  /**
   * Returns the span that starts the turn of this span: the outermost `invoke_agent` or `chat`, which
   * may be the span itself. Returns undefined if the span belongs to no turn.
   */
  findOwner(span: StoredSpan): StoredSpan | undefined {
    const { top } = this.#locate(span);
    if (top?.operation === 'invoke_agent') return this.#enclosing.get(top) ?? top;
    return this.#findRunningWrapper(top ?? span) ?? top;
  }

  #addWrapper(span: StoredSpan): void {
    const enclosing = this.#findRunningWrapper(span);
    const wrappers = this.#wrappers.get(span.traceId);
    if (enclosing) this.#enclosing.set(span, enclosing);
    else if (wrappers) wrappers.push(span);
    else this.#wrappers.set(span.traceId, [span]);
  }

  #locate(span: TreeNode): TreePosition {
    const path: TreeNode[] = [];
    const seen = new Set<TreeNode>();
    let current: TreeNode | undefined = span;
    while (current && !this.#positions.has(current) && !seen.has(current)) {
      path.push(current);
      seen.add(current);
      current = this.#findParent(current);
    }
    let position = current && this.#positions.get(current);
    for (const step of path.reverse()) {
      const topAbove =
        position?.top && 'operation' in step && isSeparateCall(position.top, step)
          ? undefined
          : position?.top;
      const top = topAbove ?? (canStartTurn(step) ? step : undefined);
      position = { top, highest: position?.highest ?? step };
      this.#positions.set(step, position);
    }
    return position ?? { top: undefined, highest: span };
  }

  #findParent({ traceId, parentSpanId }: TreeNode): TreeNode | undefined {
    return parentSpanId === undefined ? undefined : this.#byId.get(makeKey(traceId, parentSpanId));
  }

  /** Finds the outermost wrapper that ran around a span whose ancestors are not all known. */
  #findRunningWrapper(span: StoredSpan): StoredSpan | undefined {
    const { highest } = this.#locate(span);
    const wrappers = this.#wrappers.get(span.traceId) ?? [];
    const started = countStartedBy(wrappers, span.startNs);
    const candidates = wrappers.slice(Math.max(0, started - WRAPPERS_SEARCHED_MAX), started);
    return candidates.findLast(
      (wrapper) =>
        contains(wrapper, span) && !excludes(wrapper, this.#locate(wrapper).highest, highest),
    );
  }
}

/** Compares by start. Of two that start together, a root or else the longer one contains the other. */
function compareWrappers(a: StoredSpan, b: StoredSpan): number {
  return (
    Number(a.startNs - b.startNs) ||
    Number(a.parentSpanId !== undefined) - Number(b.parentSpanId !== undefined) ||
    Number(b.endNs - a.endNs)
  );
}

/**
 * SDKs round the start of a span down to a millisecond but measure its duration exactly, so computed
 * ends differ from real ones by less than this.
 */
const END_ERROR_NS_MAX = 1_000_000n;

/**
 * Returns whether a model call is separate from the model call above it. If they overlap, they are one
 * call that was recorded twice; otherwise the instrumentation chained consecutive calls.
 */
function isSeparateCall(top: StoredSpan, span: StoredSpan): boolean {
  if (top.operation !== 'chat' || span.operation !== 'chat') return false;
  if (top.endNs <= span.startNs || span.endNs <= top.startNs) return true;
  return top.endNs - span.startNs <= END_ERROR_NS_MAX && span.endNs - top.endNs > END_ERROR_NS_MAX;
}

/** Returns whether a span can start a turn. */
function canStartTurn(node: TreeNode): node is StoredSpan {
  return 'operation' in node && (node.operation === 'invoke_agent' || node.operation === 'chat');
}

function contains(wrapper: StoredSpan, span: StoredSpan): boolean {
  if (wrapper === span || wrapper.startNs > span.startNs) return false;
  const hasOverlap = span.startNs < wrapper.endNs || span.endNs <= wrapper.endNs;
  return hasOverlap && span.endNs - wrapper.endNs <= END_ERROR_NS_MAX;
}

/**
 * Returns whether a span is not part of a wrapper although it ran during it. Spans below the same root
 * or missing span, wrappers without a parent, and wrappers with exactly the same times are separate.
 */
function excludes(wrapper: StoredSpan, wrapperRoot: TreeNode, highest: TreeNode): boolean {
  if (findRootId(wrapperRoot) === findRootId(highest)) return true;
  if (!('operation' in highest) || highest.operation !== 'invoke_agent') return false;
  const hasSameTimes = wrapper.startNs === highest.startNs && wrapper.endNs === highest.endNs;
  return highest.parentSpanId === undefined || hasSameTimes;
}

/** Returns the id of the highest ancestor, which may itself be missing. */
function findRootId({ parentSpanId, spanId }: TreeNode): string {
  return parentSpanId ?? spanId;
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

function makeKey(traceId: string, spanId: string): string {
  return `${traceId}/${spanId}`;
}
