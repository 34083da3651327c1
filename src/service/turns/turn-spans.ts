import type { SpanLink, StoredSpan } from '../store/records.ts';
import { findLastUserIndex, readMessages } from './messages.ts';
import { countStartedBy, SpanTree } from './span-tree.ts';
import { ToolLoops } from './tool-loops.ts';
import { compareTimes, orderByHistory, type Orderable } from './turn-order.ts';
import type { Segment, Step, TurnSpans } from './turn-parts.ts';

/**
 * Groups the spans of a conversation by turn (spec 2.1). A turn is an `invoke_agent` span with
 * everything inside it or, without one, a `chat` span; the later calls of a tool loop, and wrappers
 * that only continue it, belong to the turn that began it.
 *
 * The order of the spans, in which they arrived, matters only for spans whose times and messages do not
 * show their order, because exporters split, delay, and repeat spans.
 */
export function groupSpansByTurn(
  spans: readonly StoredSpan[],
  links: readonly SpanLink[],
): TurnSpans[] {
  const ordered = spans.toSorted(compareTimes);
  const tree = new SpanTree(ordered, links);
  const turns = new TurnGrouper();
  // By owner, because a child may start before its parent if the clocks of machines differ.
  const groups = Map.groupBy(ordered, (span) => tree.findOwner(span));
  const parts = ordered.flatMap((span) => {
    const group = groups.get(span);
    return group && tree.findOwner(span) === span ? toPart(span, group) : [];
  });
  for (const part of orderByHistory(parts)) turns.add(part);
  return turns.finish(groups.get(undefined) ?? []);
}

/** A top-level span with its spans. */
interface Part extends Orderable {
  owner: StoredSpan;
  /** All spans of the owner, including itself. */
  group: readonly StoredSpan[];
  segment: Segment;
}

function toPart(owner: StoredSpan, group: readonly StoredSpan[]): Part {
  const segment = toSegment(owner, group);
  const { wrapper, chats } = segment;
  const steps = wrapper ? [wrapper, ...chats] : chats;
  return { owner, group, segment, steps, startNs: owner.startNs };
}

class TurnGrouper {
  readonly #turns: TurnSpans[] = [];
  readonly #loops = new ToolLoops();

  /** Adds a top-level span with the spans that it owns: a new turn, or the next part of a tool loop. */
  add({ owner, group, segment }: Part): void {
    const tools = group.filter(({ operation }) => operation === 'execute_tool');
    const inner = group.filter((span) => span !== owner && TURN_OPERATIONS.has(span.operation));
    const first = findContinuingStep(segment);
    let turn = first && this.#loops.findTurn(first);
    if (!turn) {
      turn = { segments: [], tools: [], spans: [] };
      this.#turns.push(turn);
    }
    turn.segments.push(segment);
    turn.tools.push(...tools);
    turn.spans.push(owner, ...inner);
    this.#loops.add(turn, listSteps(segment));
  }

  /** Adds the spans outside all top-level spans and returns the turns. */
  finish(orphans: readonly StoredSpan[]): TurnSpans[] {
    for (const span of orphans) {
      if (span.operation === 'execute_tool') this.#findTurnOfTool(span)?.tools.push(span);
    }
    for (const { tools } of this.#turns) tools.sort(compareTimes);
    return this.#turns;
  }

  /** Finds the turn of a tool by its call id, else by its start time in its trace, else in any trace. */
  #findTurnOfTool({ attributes, traceId, startNs }: StoredSpan): TurnSpans | undefined {
    return (
      this.#loops.findByCall(attributes['gen_ai.tool.call.id']) ??
      findLatestStarted(this.#listStartsOfTrace(traceId), startNs) ??
      findLatestStarted(this.#listStarts(), startNs)
    );
  }

  #startsByTrace: Map<string, TurnStart[]> | undefined;

  #listStartsOfTrace(traceId: string): TurnStart[] {
    this.#startsByTrace ??= Map.groupBy(this.#listStarts(), ({ lead }) => lead.traceId);
    return this.#startsByTrace.get(traceId) ?? [];
  }

  #starts: TurnStart[] | undefined;

  #listStarts(): TurnStart[] {
    this.#starts ??= this.#turns
      .flatMap((turn) =>
        turn.spans.slice(0, 1).map((lead) => ({ turn, lead, startNs: lead.startNs })),
      )
      // Histories can contradict the times.
      .sort((a, b) => Number(a.startNs - b.startNs));
    return this.#starts;
  }
}

const TURN_OPERATIONS: ReadonlySet<string> = new Set(['chat', 'invoke_agent']);

function toSegment(owner: StoredSpan, group: readonly StoredSpan[]): Segment {
  if (owner.operation === 'chat') return { wrapper: undefined, chats: [toStep(owner)] };
  const chats = group
    .filter(({ operation }) => operation === 'chat')
    .map((span) => ({ startNs: span.startNs, steps: [toStep(span)] }));
  return { wrapper: toStep(owner), chats: orderByHistory(chats).flatMap(({ steps }) => steps) };
}

/** Returns the model calls of a segment; the wrapper if no model call was recorded. */
function listSteps({ wrapper, chats }: Segment): Step[] {
  return chats.length > 0 || !wrapper ? chats : [wrapper];
}

/**
 * Returns the step that shows whether a segment continues a tool loop. Some SDKs open a wrapper for
 * each model call; such a wrapper contains no user message, or repeats the tool response.
 */
function findContinuingStep(segment: Segment): Step | undefined {
  const { wrapper } = segment;
  return wrapper && findLastUserIndex(wrapper.input) >= 0 ? wrapper : listSteps(segment)[0];
}

interface TurnStart {
  turn: TurnSpans;
  /** The first span of the turn. */
  lead: StoredSpan;
  startNs: bigint;
}

/** Returns the last turn that started by `timeNs`, or else the first turn. */
function findLatestStarted(starts: readonly TurnStart[], timeNs: bigint): TurnSpans | undefined {
  return starts[Math.max(0, countStartedBy(starts, timeNs) - 1)]?.turn;
}

function toStep(span: StoredSpan): Step {
  return {
    span,
    input: readMessages(span.inputMessages),
    output: readMessages(span.outputMessages),
  };
}
