import type { Step } from '../../engine/probe.ts';
import { gzipSync } from 'node:zlib';
import { toProtobuf } from './otlp-bytes.ts';
import type { ServiceContext } from './context.ts';

/** An attribute as OTLP/JSON has it. */
export interface Attribute {
  key: string;
  value: { stringValue: string } | { intValue: string } | { arrayValue: unknown };
}

/** A span as OTLP/JSON has it (spec 2.1). */
export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status?: { code: number };
}

/** A trace export request as OTLP/JSON has it. */
export interface TraceExport {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[];
}

/** A conversation that the kit makes up. */
export interface Conversation {
  /** What is special about it. */
  name: string;
  id: string;
  startMs: number;
  /** Whether the agent says what one of the kit's evals asks for. */
  isPromised: boolean;
  /** What it is about; a parcel, for which the other one looks, unless it says otherwise. */
  thing?: string;
}

/** What a user says, and an agent answers, in a turn. */
export interface Said {
  user: string;
  agent: string;
}

/** What the second of the kit's evals asks for. */
export const PROMISE = 'on its way';

/** A conversation of this run alone. */
export function conversation(
  { random, marker, baseMs }: ServiceContext,
  name: string,
  {
    afterMs = 0,
    isPromised = true,
    id = '',
  }: { afterMs?: number; isPromised?: boolean; id?: string },
): Conversation {
  const own = `sk-${marker}-${random.fork(`conversation/${name}`).id(8)}`;
  return { name, id: `${own}${id}`, startMs: baseMs + afterMs, isPromised };
}

/** What is said in a turn of a conversation; no other turn has these texts. */
export function said({ id, isPromised, thing = 'parcel' }: Conversation, turn = 1): Said {
  const answer = isPromised ? `is ${PROMISE}` : 'is late';
  return {
    user: `Where is ${thing} ${id}/${turn}?`,
    agent: `The ${thing} ${id}/${turn} ${answer}.`,
  };
}

/** A string attribute. */
export const text = (key: string, value: string): Attribute => ({
  key,
  value: { stringValue: value },
});

/** An integer attribute. */
export const integer = (key: string, value: number): Attribute => ({
  key,
  value: { intValue: String(value) },
});

const TURN_MS = 2_000;

/** Makes the ids of the spans of a conversation. */
function idsOf({ random }: ServiceContext, { name }: Conversation, turn: number) {
  const own = random.fork(`span/${name}/${turn}`);
  const hex = (length: number): string =>
    Array.from({ length }, () => own.integer(0, 15).toString(16)).join('');
  // An id of zeros alone is none.
  return { traceId: `a${hex(31)}`, spanId: `b${hex(15)}`, otherSpanId: `c${hex(15)}` };
}

/** Messages in the form of spec 2.1: a string that holds a JSON array. */
export function messages(role: 'user' | 'assistant', content: string): string {
  const finish = role === 'assistant' ? { finish_reason: 'stop' } : {};
  return JSON.stringify([{ role, parts: [{ type: 'text', content }], ...finish }]);
}

/** A span of a conversation: one chat turn, with what is given in place of its own. */
export function chatSpan(
  context: ServiceContext,
  talk: Conversation,
  turn = 1,
  more: Partial<Span> = {},
): Span {
  const { traceId, spanId } = idsOf(context, talk, turn);
  const { user, agent } = said(talk, turn);
  const startMs = talk.startMs + (turn - 1) * TURN_MS;
  return {
    traceId,
    spanId,
    name: 'chat',
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(startMs + TURN_MS / 2),
    attributes: [
      text('gen_ai.conversation.id', talk.id),
      text('gen_ai.operation.name', 'chat'),
      text('gen_ai.input.messages', messages('user', user)),
      text('gen_ai.output.messages', messages('assistant', agent)),
    ],
    ...more,
  };
}

/** A second span beside a turn, in its trace, with attributes of its own. */
export function spanBeside(
  context: ServiceContext,
  talk: Conversation,
  name: string,
  attributes: Attribute[],
): Span {
  const { otherSpanId } = idsOf(context, talk, 1);
  return { ...chatSpan(context, talk), spanId: otherSpanId, name, attributes };
}

const nanos = (ms: number): string => `${ms}000000`;

/** The span without some of its attributes. */
export function withoutKeys(span: Span, ...keys: string[]): Span {
  return { ...span, attributes: span.attributes.filter(({ key }) => !keys.includes(key)) };
}

/** Spans as a request, with a resource that names the service it comes from. */
export function exportOf(spans: Span[], tags: Attribute[] = []): TraceExport {
  const attributes = [text('service.name', 'sandbox-kit-check'), ...tags];
  return { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans }] }] };
}

type Sending = Pick<Step, 'body' | 'headers'>;

/** The request as JSON, protobuf, or either of them in gzip. */
export const forms: Readonly<Record<string, (request: TraceExport) => Sending>> = {
  json: (request) => ({ body: { json: request } }),
  protobuf: (request) => ({
    body: { bytes: toProtobuf(request) },
    headers: { 'content-type': 'application/x-protobuf' },
  }),
  gzip: (request) => ({
    body: { bytes: gzipSync(JSON.stringify(request)) },
    headers: { 'content-encoding': 'gzip' },
  }),
  gzipProtobuf: (request) => ({
    body: { bytes: gzipSync(toProtobuf(request)) },
    headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' },
  }),
};
