import type { StoredSpan } from '../../../src/service/store/store.ts';
import type { TracedTurn } from '../../../src/service/turns/turn-types.ts';
import { buildTurns } from '../../../src/service/turns/turns.ts';
import { START_MS } from './span-sketch.ts';

/** A short description of a stored span. Times are milliseconds after `START_MS`. */
export interface StoredSpanSketch extends Partial<
  Pick<StoredSpan, 'operation' | 'name' | 'failed' | 'late' | 'attributes'>
> {
  id: string;
  trace?: string;
  parent?: string;
  atMs?: number;
  forMs?: number;
  /** Messages, or their JSON text. */
  input?: unknown;
  output?: unknown;
}

/** Returns a stored span (default: a chat span of 1 s). */
export function makeStoredSpan(sketch: StoredSpanSketch): StoredSpan {
  const { id, trace = 't', parent, atMs = 0, forMs = 1000, input, output, ...rest } = sketch;
  const startNs = BigInt(START_MS + atMs) * 1_000_000n;
  return {
    conversationId: 'c',
    traceId: trace,
    spanId: id,
    parentSpanId: parent,
    operation: 'chat',
    name: 'chat',
    startNs,
    endNs: startNs + BigInt(Math.round(forMs * 1e6)),
    failed: false,
    inputMessages: textOf(input),
    outputMessages: textOf(output),
    attributes: {},
    receivedAtMs: START_MS,
    late: false,
    ...rest,
  };
}

function textOf(messages: unknown): string | undefined {
  return typeof messages === 'string' || messages === undefined
    ? messages
    : JSON.stringify(messages);
}

interface Json {
  [key: string]: unknown;
}

export const user = (content: string): Json => makeMessage('user', content);
export const agent = (content: string): Json => makeMessage('assistant', content);
export const system = (content: string): Json => makeMessage('system', content);

function makeMessage(role: string, content: string): Json {
  return { role, parts: [{ type: 'text', content }] };
}

/** Returns a message where the agent calls a tool. */
export const makeToolCallMessage = (name: string, args: unknown, id?: string): Json => ({
  role: 'assistant',
  parts: [{ type: 'tool_call', name, arguments: args, ...(id !== undefined && { id }) }],
});

/** Returns a message with the result of a tool. */
export const makeToolResultMessage = (response: unknown, id?: string, role = 'tool'): Json => ({
  role,
  parts: [{ type: 'tool_call_response', response, ...(id !== undefined && { id }) }],
});

/** Returns a tool loop of three model calls, each in its own trace. */
export function makeToolLoop(
  traces: readonly [string, string, string],
  ids: readonly string[],
): StoredSpanSketch[] {
  const [first, second] = ids;
  const start = [user('Where?')];
  const more = [
    ...start,
    makeToolCallMessage('find', { n: 1 }, first),
    makeToolResultMessage({ ok: 1 }, first),
  ];
  const most = [
    ...more,
    makeToolCallMessage('track', { n: 2 }, second),
    makeToolResultMessage({ ok: 2 }, second),
  ];
  return [
    {
      id: 'a',
      trace: traces[0],
      input: start,
      output: [makeToolCallMessage('find', { n: 1 }, first)],
    },
    {
      id: 'b',
      trace: traces[1],
      atMs: 2000,
      input: more,
      output: [makeToolCallMessage('track', { n: 2 }, second)],
    },
    { id: 'c', trace: traces[2], atMs: 4000, input: most, output: [agent('Here')] },
  ];
}

/** Builds the turns of the conversation that the spans form. */
export const buildTurnsOf = (sketches: readonly StoredSpanSketch[]): TracedTurn[] =>
  buildTurns(sketches.map(makeStoredSpan));
