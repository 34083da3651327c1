import type { StoredSpan } from '../store/store.ts';
import { lastUserIndex, unwrapJson, type CallPart, type Message } from './messages.ts';

/** A tool call of a turn. What nobody recorded is null. */
export interface ToolCall {
  name: string;
  arguments: unknown;
  result: unknown;
}

/** A span with its messages. */
export interface Step {
  span: StoredSpan;
  input: Message[];
  output: Message[];
}

/** Where the tool calls of one turn can be read. */
export interface CallSources {
  /** The model's calls, in the order in which they began. */
  chats: readonly Step[];
  wrapper: Step | undefined;
  /** `execute_tool` spans, in the order in which they began. */
  tools: readonly StoredSpan[];
}

/** A turn with more calls than this is no conversation; the rest is left out. */
const callsOfTurnMax = 1000;

/**
 * The tool calls of a turn in the order in which they were made: from `execute_tool` spans and from
 * messages, each call once, with what either says of it. At most 1000.
 */
export function collectToolCalls({ chats, wrapper, tools }: CallSources): ToolCall[] {
  const ledger = new ToolCallCollector();
  if (chats.length > 0) {
    for (const step of chats) ledger.readStep(step);
    if (wrapper) ledger.readSummary(wrapper);
  } else if (wrapper) {
    ledger.readStep(wrapper);
  }
  for (const span of tools) ledger.readTool(span);
  return ledger.calls();
}

interface Entry extends ToolCall {
  id: string | undefined;
  atNs: bigint;
  /** A span of its own tells of it. */
  isExecuted: boolean;
}

class ToolCallCollector {
  readonly #entries: Entry[] = [];

  calls(): ToolCall[] {
    return this.#entries
      .toSorted((one, other) => Number(one.atNs - other.atNs))
      .map(({ name, arguments: given, result }) => ({ name, arguments: given, result }));
  }

  /** A model's call: what its input repeats of the turn, then what it newly asks for. */
  readStep({ span, input, output }: Step): void {
    this.#readHistory(input.slice(lastUserIndex(input) + 1), span.startNs);
    for (const { calls, responses } of output) {
      for (const call of calls) this.#add(call, span.endNs);
      for (const { id, result } of responses) {
        answer(id === undefined ? this.#unanswered() : this.#latest(id), result);
      }
    }
  }

  /**
   * The history tells the turn's calls from the first one. So the second of an id is the second of
   * that id, and one without an id is the one in the same place.
   */
  #readHistory(history: readonly Message[], atNs: bigint): void {
    const told: Entry[] = [];
    let answered = 0;
    for (const { calls, responses } of history) {
      for (const call of calls) {
        if (told.length >= callsOfTurnMax) return;
        const known =
          call.id === undefined
            ? this.#entries[told.length]
            : this.#entries.filter(({ id }) => id === call.id)[countOf(told, call.id)];
        const entry = known ?? this.#add(call, atNs);
        if (entry) told.push(entry);
      }
      for (const { id, result } of responses) {
        const place = told[answered++] ?? this.#unanswered();
        const named = told.findLast((entry) => entry.id === id) ?? this.#latest(id);
        answer(id === undefined ? place : (named ?? place), result);
      }
    }
  }

  /** The wrapper's output repeats what its steps told, unless they told nothing. */
  readSummary({ span, output }: Step): void {
    const isAllNew = this.#entries.length === 0;
    for (const { calls, responses } of output) {
      for (const call of calls) {
        const isNew = call.id === undefined ? isAllNew : !this.#latest(call.id);
        if (isNew) this.#add(call, span.endNs);
      }
      for (const { id, result } of responses) {
        if (id !== undefined) answer(this.#latest(id), result);
      }
    }
  }

  readTool(span: StoredSpan): void {
    const id = textOf(span, 'gen_ai.tool.call.id');
    const name = textOf(span, 'gen_ai.tool.name') ?? span.name.replace(/^execute_tool /, '');
    const entry = this.#asked(id, name) ?? this.#add({ id, name, arguments: null }, span.startNs);
    if (!entry) return;
    entry.isExecuted = true;
    entry.atNs = span.startNs;
    if (name !== '') entry.name = name;
    entry.arguments = valueOf(span, 'gen_ai.tool.call.arguments') ?? entry.arguments;
    entry.result = valueOf(span, 'gen_ai.tool.call.result') ?? entry.result;
  }

  /** The call that a span carries out, as the messages tell it. */
  #asked(id: string | undefined, name: string): Entry | undefined {
    const waiting = this.#entries.filter(({ isExecuted }) => !isExecuted);
    if (id === undefined) return waiting.find((entry) => entry.name === name);
    return (
      waiting.find((entry) => entry.id === id) ??
      this.#latest(id) ??
      waiting.find((entry) => entry.id === undefined && entry.name === name)
    );
  }

  #add({ id, name, arguments: given }: CallPart, atNs: bigint): Entry | undefined {
    if (this.#entries.length >= callsOfTurnMax) return undefined;
    const entry = { id, name, arguments: given, result: null, atNs, isExecuted: false };
    this.#entries.push(entry);
    return entry;
  }

  /** Some models begin to count anew with each answer. */
  #latest(id: string | undefined): Entry | undefined {
    return id === undefined ? undefined : this.#entries.findLast((entry) => entry.id === id);
  }

  #unanswered(): Entry | undefined {
    return this.#entries.find(({ result }) => result === null);
  }
}

function countOf(entries: readonly Entry[], id: string): number {
  return entries.filter((entry) => entry.id === id).length;
}

function answer(entry: Entry | undefined, result: unknown): void {
  if (entry) entry.result ??= result;
}

function textOf({ attributes }: StoredSpan, key: string): string | undefined {
  const value = attributes[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function valueOf({ attributes }: StoredSpan, key: string): unknown {
  return unwrapJson(attributes[key] ?? null);
}
