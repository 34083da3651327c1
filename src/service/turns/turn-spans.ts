import type { StoredSpan } from '../store/store.ts';
import { isToolResponse, readMessages, unwrapJson } from './messages.ts';
import { countStartedBy, SpanTree } from './span-tree.ts';
import type { Step } from './tool-calls.ts';

/** The spans of one turn. */
export interface TurnSpans {
  /** The `invoke_agent` span that contains the turn, if there is one. */
  wrapper: Step | undefined;
  /** Model calls. A call inside another call is the same call recorded twice, and is left out. */
  chats: Step[];
  /** `execute_tool` spans. */
  tools: StoredSpan[];
  /** All other spans, including nested agents and model calls; the first span of the turn is first. */
  spans: StoredSpan[];
}

/**
 * Groups the spans of a conversation by turn (spec 2.1). A turn is an `invoke_agent` span with
 * everything inside it or, without one, a `chat` span with the later calls of its tool loop.
 *
 * Turns, and the model calls and tools of a turn, are ordered by start time, then by position in
 * `spans`. With millisecond clocks, many spans start at the same time; then the order of arrival,
 * which is the order in which spans ended, is the best available.
 */
export function groupSpansByTurn(spans: readonly StoredSpan[]): TurnSpans[] {
  const ordered = spans.toSorted(compareStarts);
  const tree = new SpanTree(ordered);
  const turns = new TurnGrouper();
  const rest: { span: StoredSpan; owner: StoredSpan | undefined }[] = [];
  for (const span of ordered) {
    const owner = tree.findOwner(span);
    if (owner === span) turns.begin(span);
    else rest.push({ span, owner });
  }
  // Children come last, because a child may start before its parent if the clocks of machines differ.
  for (const { span, owner } of rest) turns.add(span, owner);
  return turns.finish();
}

function compareStarts(a: StoredSpan, b: StoredSpan): number {
  return a.startNs < b.startNs ? -1 : Number(a.startNs > b.startNs);
}

class TurnGrouper {
  readonly #turns: TurnSpans[] = [];
  readonly #bySpan = new Map<StoredSpan, TurnSpans>();
  /** The latest turn with a tool call of this id. */
  readonly #byCall = new Map<string, TurnSpans>();
  /** Turns whose last model call requested tools, by trace; the latest is last. */
  readonly #openLoops = new Map<string, TurnSpans[]>();
  readonly #orphans: StoredSpan[] = [];

  /** Adds a top-level span: it starts a turn or continues a tool loop. */
  begin(span: StoredSpan): void {
    const step = toStep(span);
    if (span.operation === 'invoke_agent') {
      this.#open(span, { wrapper: step, chats: [], tools: [], spans: [span] });
      return;
    }
    const loop = this.#findLoop(step);
    if (loop) {
      loop.spans.push(span);
      loop.chats.push(step);
      this.#bySpan.set(span, loop);
    } else {
      this.#open(span, { wrapper: undefined, chats: [step], tools: [], spans: [span] });
    }
    this.#indexToolCalls(step);
  }

  /** Adds a span below a top-level span, or a tool whose turn is found later. */
  add(span: StoredSpan, owner: StoredSpan | undefined): void {
    const turn = owner && this.#bySpan.get(owner);
    if (span.operation === 'execute_tool') {
      if (turn) turn.tools.push(span);
      else this.#orphans.push(span);
    } else if (turn && (span.operation === 'chat' || span.operation === 'invoke_agent')) {
      turn.spans.push(span);
      if (span.operation !== 'chat' || owner.operation === 'chat') return;
      this.#bySpan.set(span, turn);
      const step = toStep(span);
      turn.chats.push(step);
      this.#indexToolCalls(step);
    }
  }

  finish(): TurnSpans[] {
    for (const tool of this.#orphans) this.#findTurnOfTool(tool)?.tools.push(tool);
    for (const { tools } of this.#turns) tools.sort(compareStarts);
    return this.#turns;
  }

  #open(span: StoredSpan, turn: TurnSpans): void {
    this.#turns.push(turn);
    this.#bySpan.set(span, turn);
  }

  /** Finds the turn that a model call continues, if its last input message is a tool response. */
  #findLoop({ span, input }: Step): TurnSpans | undefined {
    const last = input.at(-1);
    if (!last || !isToolResponse(last)) return undefined;
    // Without an enclosing span, each model call may be a trace of its own.
    const turnsById = last.responses.map(({ id }) => id !== undefined && this.#byCall.get(id));
    const turnById = turnsById.find((turn) => turn);
    if (turnById) return turnById;
    const openLoops = this.#openLoops.get(span.traceId) ?? [];
    let latest = openLoops.pop();
    while (latest && !isWaiting(latest)) latest = openLoops.pop();
    return latest;
  }

  #indexToolCalls(step: Step): void {
    const { span, output } = step;
    const turn = this.#bySpan.get(span);
    if (!turn) return;
    for (const { calls } of output) {
      for (const { id } of calls) if (id !== undefined) this.#byCall.set(id, turn);
    }
    if (!asksForTools(step)) return;
    const openLoops = this.#openLoops.get(span.traceId);
    if (openLoops) openLoops.push(turn);
    else this.#openLoops.set(span.traceId, [turn]);
  }

  /** Finds the turn of a tool by its call id, else by its start time in its trace, else in any trace. */
  #findTurnOfTool({ attributes, traceId, startNs }: StoredSpan): TurnSpans | undefined {
    const id = attributes['gen_ai.tool.call.id'];
    const turnById = typeof id === 'string' ? this.#byCall.get(id) : undefined;
    return (
      turnById ??
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
    this.#starts ??= this.#turns.flatMap((turn) =>
      turn.spans.slice(0, 1).map((lead) => ({ turn, lead, startNs: lead.startNs })),
    );
    return this.#starts;
  }
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

/** Returns whether the last model call requested tools, so that another call follows. */
function isWaiting({ chats }: TurnSpans): boolean {
  const last = chats.at(-1);
  return last !== undefined && asksForTools(last);
}

function asksForTools({ span, output }: Step): boolean {
  const reasons = unwrapJson(span.attributes['gen_ai.response.finish_reasons']);
  const hasToolReason = [reasons].flat().some((reason) => /^tool/i.test(String(reason)));
  return hasToolReason || output.some(({ stopsForTools }) => stopsForTools);
}
