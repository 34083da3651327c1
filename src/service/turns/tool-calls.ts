import { readToolName, TOOL_CALL_ID_KEY } from '../../contract/index.ts';
import type { StoredSpan } from '../store/records.ts';
import { findLastUserIndex, unwrapJson, type CallPart, type Message } from './messages.ts';
import { toWholeMs } from './turn-order.ts';
import type { Segment, Step } from './turn-parts.ts';
import type { ToolCall } from './turn-types.ts';

/** The spans that the tool calls of a turn are read from. */
export interface CallSources {
  /** Model calls in the order of their start times, by the wrapper that contains them. */
  segments: readonly Segment[];
  /** `execute_tool` spans, in the order of their start times. */
  tools: readonly StoredSpan[];
}

/** Further calls of a turn are left out. No real turn has that many. */
const CALLS_PER_TURN_MAX = 1000;

/**
 * Collects the tool calls of a turn, in order, from `execute_tool` spans and from messages. A call that
 * occurs in both is returned once with the details of both. Returns at most 1000 calls.
 */
export function collectToolCalls({ segments, tools }: CallSources): ToolCall[] {
  const collector = new ToolCallCollector();
  for (const { wrapper, chats } of segments) {
    const before = collector.count;
    for (const step of chats) collector.readStep(step);
    if (wrapper && chats.length === 0) collector.readStep(wrapper);
    else if (wrapper) collector.readSummary(wrapper, collector.count === before);
  }
  for (const span of tools) collector.readTool(span);
  return collector.list();
}

interface Entry extends ToolCall {
  id: string | undefined;
  atNs: bigint;
  /** Whether it has an `execute_tool` span. */
  isExecuted: boolean;
}

class ToolCallCollector {
  readonly #entries: Entry[] = [];

  get count(): number {
    return this.#entries.length;
  }

  list(): ToolCall[] {
    return (
      this.#entries
        // Less than a millisecond shows no order, as in `compareTimes`.
        .toSorted((a, b) => toWholeMs(a.atNs) - toWholeMs(b.atNs))
        .map(({ name, arguments: input, result }) => ({ name, arguments: input, result }))
    );
  }

  /** Reads a model call: the part of the turn that its input repeats, then its new tool calls. */
  readStep({ span, input, output }: Step): void {
    this.#readHistory(input.slice(findLastUserIndex(input) + 1), span.startNs);
    for (const { calls, responses } of output) {
      for (const call of calls) this.#add(call, span.endNs);
      for (const { id, result } of responses) {
        setResult(id === undefined ? this.#findWithoutResult() : this.#findLatest(id), result);
      }
    }
  }

  /**
   * Reads the history, which repeats the calls of the turn from the first one. So the nth call with
   * an id is the nth known call with that id, and a call without an id is matched by position.
   */
  #readHistory(history: readonly Message[], atNs: bigint): void {
    const seen: Entry[] = [];
    let resultCount = 0;
    for (const { calls, responses } of history) {
      for (const call of calls) {
        if (seen.length >= CALLS_PER_TURN_MAX) return;
        const known =
          call.id === undefined
            ? this.#entries[seen.length]
            : this.#entries.filter(({ id }) => id === call.id)[countById(seen, call.id)];
        const entry = known ?? this.#add(call, atNs);
        if (entry) seen.push(entry);
      }
      for (const { id, result } of responses) {
        const byPosition = seen[resultCount++] ?? this.#findWithoutResult();
        const byId = seen.findLast((entry) => entry.id === id) ?? this.#findLatest(id);
        setResult(id === undefined ? byPosition : (byId ?? byPosition), result);
      }
    }
  }

  /** Reads a wrapper's output. It repeats the calls of its steps, unless they recorded none. */
  readSummary({ span, output }: Step, isAllNew: boolean): void {
    for (const { calls, responses } of output) {
      for (const call of calls) {
        const isNew = call.id === undefined ? isAllNew : !this.#findLatest(call.id);
        if (isNew) this.#add(call, span.endNs);
      }
      for (const { id, result } of responses) {
        if (id !== undefined) setResult(this.#findLatest(id), result);
      }
    }
  }

  readTool(span: StoredSpan): void {
    const id = readText(span, TOOL_CALL_ID_KEY);
    const name = readToolName(span) ?? span.name.replace(/^execute_tool(?: |$)/, '');
    const entry =
      this.#findRequested(id, name) ?? this.#add({ id, name, arguments: null }, span.startNs);
    if (!entry) return;
    entry.isExecuted = true;
    entry.atNs = span.startNs;
    if (name !== '') entry.name = name;
    entry.arguments = readValue(span, 'gen_ai.tool.call.arguments') ?? entry.arguments;
    entry.result = readValue(span, 'gen_ai.tool.call.result') ?? entry.result;
  }

  /** Finds the call from messages that a span executes. */
  #findRequested(id: string | undefined, name: string): Entry | undefined {
    const waiting = this.#entries.filter(({ isExecuted }) => !isExecuted);
    if (id === undefined) return waiting.find((entry) => entry.name === name);
    return (
      waiting.find((entry) => entry.id === id) ??
      this.#findLatest(id) ??
      waiting.find((entry) => entry.id === undefined && entry.name === name)
    );
  }

  #add({ id, name, arguments: input }: CallPart, atNs: bigint): Entry | undefined {
    if (this.#entries.length >= CALLS_PER_TURN_MAX) return undefined;
    const entry = { id, name, arguments: input, result: null, atNs, isExecuted: false };
    this.#entries.push(entry);
    return entry;
  }

  /** Finds the latest call with an id: some models restart their ids with each response. */
  #findLatest(id: string | undefined): Entry | undefined {
    return id === undefined ? undefined : this.#entries.findLast((entry) => entry.id === id);
  }

  #findWithoutResult(): Entry | undefined {
    return this.#entries.find(({ result }) => result === null);
  }
}

function countById(entries: readonly Entry[], id: string): number {
  return entries.filter((entry) => entry.id === id).length;
}

function setResult(entry: Entry | undefined, result: unknown): void {
  if (entry) entry.result ??= result;
}

function readText({ attributes }: StoredSpan, key: string): string | undefined {
  const value = attributes[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function readValue({ attributes }: StoredSpan, key: string): unknown {
  return unwrapJson(attributes[key] ?? null);
}
