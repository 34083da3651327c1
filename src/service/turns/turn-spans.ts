import type { StoredSpan } from '../store/store.ts';
import { isToolResponse, readMessages } from './messages.ts';
import { begunBy, SpanTree } from './span-tree.ts';
import type { Step } from './tool-calls.ts';

/** The spans of one turn. */
export interface TurnSpans {
  /** The `invoke_agent` span around it, where there is one. */
  wrapper: Step | undefined;
  /** Its model calls. One that runs inside another one is the same call, seen twice, and left out. */
  chats: Step[];
  /** Its `execute_tool` spans. */
  tools: StoredSpan[];
  /** All but the tools, the one that it began with first: nested agents and model calls, too. */
  spans: StoredSpan[];
}

/**
 * Sorts the spans of a conversation into turns (spec 2.1): an `invoke_agent` span with all that runs
 * inside it; else a `chat` span with those that go on with its tool loop. In the order in which
 * they begin, then as given; so are the model calls and the tools of each. Clocks of whole
 * milliseconds give many spans one beginning: then the order of arrival, which is that of their ends,
 * says more than any other.
 */
export function groupSpansByTurn(spans: readonly StoredSpan[]): TurnSpans[] {
  const ordered = spans.toSorted(byStart);
  const tree = new SpanTree(ordered);
  const episodes = new TurnGrouper();
  const rest: { span: StoredSpan; owner: StoredSpan | undefined }[] = [];
  for (const span of ordered) {
    const owner = tree.ownerOf(span);
    if (owner === span) episodes.begin(span);
    else rest.push({ span, owner });
  }
  // Clocks of different machines may let a part begin before the whole: hence a second pass.
  for (const { span, owner } of rest) episodes.add(span, owner);
  return episodes.finished();
}

function byStart(one: StoredSpan, other: StoredSpan): number {
  return one.startNs < other.startNs ? -1 : Number(one.startNs > other.startNs);
}

class TurnGrouper {
  readonly #episodes: TurnSpans[] = [];
  readonly #bySpan = new Map<StoredSpan, TurnSpans>();
  /** The last one that asked for a call of that id. */
  readonly #byCall = new Map<string, TurnSpans>();
  /** By trace, those of which a model call asked for tools; the latest at the end. */
  readonly #asking = new Map<string, TurnSpans[]>();
  readonly #orphans: StoredSpan[] = [];

  /** A span that hangs on no other: a turn, or the next step of a tool loop. */
  begin(span: StoredSpan): void {
    const step = stepOf(span);
    if (span.operation === 'invoke_agent') {
      this.#open(span, { wrapper: step, chats: [], tools: [], spans: [span] });
      return;
    }
    const loop = this.#loopOf(step);
    if (loop) {
      loop.spans.push(span);
      loop.chats.push(step);
      this.#bySpan.set(span, loop);
    } else {
      this.#open(span, { wrapper: undefined, chats: [step], tools: [], spans: [span] });
    }
    this.#remember(step);
  }

  /** A span that hangs on a turn, or a tool that is still to find its own. */
  add(span: StoredSpan, owner: StoredSpan | undefined): void {
    const episode = owner && this.#bySpan.get(owner);
    if (span.operation === 'execute_tool') {
      if (episode) episode.tools.push(span);
      else this.#orphans.push(span);
    } else if (episode && (span.operation === 'chat' || span.operation === 'invoke_agent')) {
      episode.spans.push(span);
      if (span.operation !== 'chat' || owner.operation === 'chat') return;
      this.#bySpan.set(span, episode);
      const step = stepOf(span);
      episode.chats.push(step);
      this.#remember(step);
    }
  }

  finished(): TurnSpans[] {
    for (const tool of this.#orphans) this.#turnOfTool(tool)?.tools.push(tool);
    for (const { tools } of this.#episodes) tools.sort(byStart);
    return this.#episodes;
  }

  #open(span: StoredSpan, episode: TurnSpans): void {
    this.#episodes.push(episode);
    this.#bySpan.set(span, episode);
  }

  /** The turn that a model call goes on with, when the last thing it is told is from a tool. */
  #loopOf({ span, input }: Step): TurnSpans | undefined {
    const last = input.at(-1);
    if (!last || !isToolResponse(last)) return undefined;
    // Without a span around them, each model call may be a trace of its own.
    const named = last.responses.map(({ id }) => id !== undefined && this.#byCall.get(id));
    const byId = named.find((episode) => episode);
    if (byId) return byId;
    const asking = this.#asking.get(span.traceId) ?? [];
    let latest = asking.pop();
    while (latest && !isWaiting(latest)) latest = asking.pop();
    return latest;
  }

  #remember(step: Step): void {
    const { span, output } = step;
    const episode = this.#bySpan.get(span);
    if (!episode) return;
    for (const { calls } of output) {
      for (const { id } of calls) if (id !== undefined) this.#byCall.set(id, episode);
    }
    if (!asksForTools(step)) return;
    const asking = this.#asking.get(span.traceId);
    if (asking) asking.push(episode);
    else this.#asking.set(span.traceId, [episode]);
  }

  /** By the call's id; else what ran in its trace, else what ran at all, when it began. */
  #turnOfTool({ attributes, traceId, startNs }: StoredSpan): TurnSpans | undefined {
    const id = attributes['gen_ai.tool.call.id'];
    const named = typeof id === 'string' ? this.#byCall.get(id) : undefined;
    return named ?? running(this.#ofTrace(traceId), startNs) ?? running(this.#all(), startNs);
  }

  #ofTraces: Map<string, Begun[]> | undefined;

  #ofTrace(traceId: string): Begun[] {
    this.#ofTraces ??= Map.groupBy(this.#all(), ({ lead }) => lead.traceId);
    return this.#ofTraces.get(traceId) ?? [];
  }

  #begun: Begun[] | undefined;

  #all(): Begun[] {
    this.#begun ??= this.#episodes.flatMap((episode) =>
      episode.spans.slice(0, 1).map((lead) => ({ episode, lead, startNs: lead.startNs })),
    );
    return this.#begun;
  }
}

interface Begun {
  episode: TurnSpans;
  /** The span that it began with. */
  lead: StoredSpan;
  startNs: bigint;
}

/** The last that had begun by then; the first when none had. */
function running(begun: readonly Begun[], timeNs: bigint): TurnSpans | undefined {
  return begun[Math.max(0, begunBy(begun, timeNs) - 1)]?.episode;
}

function stepOf(span: StoredSpan): Step {
  return {
    span,
    input: readMessages(span.inputMessages),
    output: readMessages(span.outputMessages),
  };
}

/** Whether its last model call asked for tools, so that another one is to come. */
function isWaiting({ chats }: TurnSpans): boolean {
  const last = chats.at(-1);
  return last !== undefined && asksForTools(last);
}

function asksForTools({ span, output }: Step): boolean {
  const reasons = span.attributes['gen_ai.response.finish_reasons'];
  const isTold = Array.isArray(reasons) && reasons.some((reason) => /^tool/i.test(String(reason)));
  return isTold || output.some(({ stopsForTools }) => stopsForTools);
}
