import { gzipSync } from 'node:zlib';
import { listAt } from '../../../src/contract/index.ts';
import type { When } from '../../engine/mutants/combinators.ts';
import type { Step } from '../../engine/probe.ts';
import type { ServiceContext } from './context.ts';

/** An OTLP/JSON attribute. */
export interface Attribute {
  key: string;
  value: { stringValue: string } | { intValue: string } | { arrayValue: unknown };
}

/** An OTLP/JSON span (spec 2.1). */
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

/** An OTLP/JSON trace export request. */
export interface TraceExport {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[];
}

/** A conversation that a probe makes up. */
export interface Conversation {
  name: string;
  id: string;
  startMs: number;
  /** Whether the agent's replies pass the second eval of the run. */
  passesSecondEval: boolean;
  /** What the user asks about (default: parcel, which passes the first eval). */
  subject?: string;
  /** Where its texts have a long detail with letters outside ASCII, if they have one. */
  detail?: 'same part' | 'own part';
}

/** What the user says in a turn, and how the agent replies. */
export interface TurnTexts {
  user: string;
  agent: string;
}

/** The text that the second eval of the run looks for in the agent's replies. */
export const PASSING_PHRASE = 'on its way';

/** Creates a conversation with an id that belongs to this run alone. */
export function createConversation(
  { random, marker, baseMs }: ServiceContext,
  name: string,
  {
    offsetMs = 0,
    passesSecondEval = true,
    idSuffix = '',
  }: { offsetMs?: number; passesSecondEval?: boolean; idSuffix?: string } = {},
): Conversation {
  const id = `sk-${marker}-${random.fork(`conversation/${name}`).id(8)}${idSuffix}`;
  return { name, id, startMs: baseMs + offsetMs, passesSecondEval };
}

/** Returns the texts of a turn. No other turn has the same texts. */
export function turnTexts(
  { id, passesSecondEval, subject = 'parcel' }: Conversation,
  turn = 1,
): TurnTexts {
  const status = passesSecondEval ? `is ${PASSING_PHRASE}` : 'is late';
  return {
    user: `Where is ${subject} ${id}/${turn}?`,
    agent: `The ${subject} ${id}/${turn} ${status}.`,
  };
}

/** Creates a string attribute. */
export const stringAttribute = (key: string, value: string): Attribute => ({
  key,
  value: { stringValue: value },
});

/** Creates an integer attribute. */
export const integerAttribute = (key: string, value: number): Attribute => ({
  key,
  value: { intValue: String(value) },
});

const TURN_MS = 2_000;

function createSpanIds(
  { random }: Pick<ServiceContext, 'random'>,
  { name }: Conversation,
  turn: number,
) {
  const fork = random.fork(`span/${name}/${turn}`);
  const hex = (length: number): string =>
    Array.from({ length }, () => fork.integer(0, 15).toString(16)).join('');
  // The leading letter keeps an id from being all zeros, which OTLP forbids.
  return { traceId: `a${hex(31)}`, spanId: `b${hex(15)}`, siblingSpanId: `c${hex(15)}` };
}

/** About 4,000 characters, some of which need two, three, and four bytes in UTF-8. */
const LONG_DETAIL = ' It goes to Görlitzer Straße 7, 東京, in a 📦.'.repeat(100);

/** Serializes one message as spec 2.1 asks: a string that holds a JSON array. */
function serializeMessage(
  role: 'user' | 'assistant',
  text: string,
  detail: Conversation['detail'],
): string {
  const finish = role === 'assistant' ? { finish_reason: 'stop' } : {};
  const contents =
    detail === 'own part'
      ? [text, LONG_DETAIL]
      : [detail === 'same part' ? text + LONG_DETAIL : text];
  const parts = contents.map((content) => ({ type: 'text', content }));
  return JSON.stringify([{ role, parts, ...finish }]);
}

/** Creates the span of one chat turn; `overrides` replace its fields. */
export function createChatSpan(
  context: Pick<ServiceContext, 'random'>,
  conversation: Conversation,
  turn = 1,
  overrides: Partial<Span> = {},
): Span {
  const { traceId, spanId } = createSpanIds(context, conversation, turn);
  const { user, agent } = turnTexts(conversation, turn);
  const { detail } = conversation;
  const startMs = conversation.startMs + (turn - 1) * TURN_MS;
  return {
    traceId,
    spanId,
    name: 'chat',
    startTimeUnixNano: toNanos(startMs),
    endTimeUnixNano: toNanos(startMs + TURN_MS / 2),
    attributes: [
      stringAttribute('gen_ai.conversation.id', conversation.id),
      stringAttribute('gen_ai.operation.name', 'chat'),
      stringAttribute('gen_ai.input.messages', serializeMessage('user', user, detail)),
      stringAttribute('gen_ai.output.messages', serializeMessage('assistant', agent, detail)),
    ],
    ...overrides,
  };
}

/** Creates a second span in the trace of the first turn. */
export function createSiblingSpan(
  context: ServiceContext,
  conversation: Conversation,
  name: string,
  attributes: Attribute[],
): Span {
  const { siblingSpanId } = createSpanIds(context, conversation, 1);
  return { ...createChatSpan(context, conversation), spanId: siblingSpanId, name, attributes };
}

const toNanos = (ms: number): string => `${ms}000000`;

/** Returns a copy of the span without some of its attributes. */
export function withoutAttributes(span: Span, ...keys: string[]): Span {
  return { ...span, attributes: span.attributes.filter(({ key }) => !keys.includes(key)) };
}

/** Creates a trace export request with one resource that has a service name. */
export function createTraceExport(spans: Span[], resourceTags: Attribute[] = []): TraceExport {
  const attributes = [stringAttribute('service.name', 'sandbox-kit-check'), ...resourceTags];
  return { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans }] }] };
}

/** Creates a trace export request with two resources, the first of which has two scopes. */
export function createSplitExport([first, second, third, fourth]: readonly [
  Span,
  Span,
  Span,
  Span,
]): TraceExport {
  const { resourceSpans } = createTraceExport([first, second]);
  resourceSpans[0]?.scopeSpans.push({ spans: [third] });
  return { resourceSpans: [...resourceSpans, ...createTraceExport([fourth]).resourceSpans] };
}

/** Matches the requests of `createSplitExport` in JSON. */
export const isSplit: When = ({ json }) => listAt(json, '/resourceSpans').length > 1;

/** Returns the spans in the body of a JSON request of the run. */
export const spansIn = (json: unknown): Span[] =>
  listAt(json, '/resourceSpans')
    .flatMap((group) => listAt(group, '/scopeSpans'))
    .flatMap((scope) => listAt(scope, '/spans') as Span[]);

const PROTOBUF_TYPE = { 'content-type': 'application/x-protobuf' };
const GZIP_ENCODING = { 'content-encoding': 'gzip' };

/** The encodings that `POST /v1/traces` accepts (spec 4.1). */
export const encodings = {
  json: (request) => ({ body: { json: request } }),
  protobuf: (request) => ({ body: { bytes: encodeProtobuf(request) }, headers: PROTOBUF_TYPE }),
  gzip: (request) => ({
    body: { bytes: gzipSync(JSON.stringify(request)) },
    headers: GZIP_ENCODING,
  }),
  gzipProtobuf: (request) => ({
    body: { bytes: gzipSync(encodeProtobuf(request)) },
    headers: { ...PROTOBUF_TYPE, ...GZIP_ENCODING },
  }),
} satisfies Record<string, (request: TraceExport) => Pick<Step, 'body' | 'headers'>>;

export type Encoding = keyof typeof encodings;

/**
 * Encodes a trace export request as protobuf, with the field numbers of opentelemetry-proto. It is
 * independent of the OTLP codec because the checks decode recorded requests with that codec.
 */
function encodeProtobuf({ resourceSpans }: TraceExport): Uint8Array {
  return Buffer.concat(
    resourceSpans.map(({ resource, scopeSpans }) =>
      encodeMessage(
        1,
        encodeMessage(1, ...resource.attributes.map((tag) => encodeAttribute(1, tag))),
        ...scopeSpans.map(({ spans }) => encodeMessage(2, ...spans.map(encodeSpan))),
      ),
    ),
  );
}

function encodeSpan(span: Span): Buffer {
  const { parentSpanId, status } = span;
  return encodeMessage(
    2,
    encodeBytes(1, Buffer.from(span.traceId, 'hex')),
    encodeBytes(2, Buffer.from(span.spanId, 'hex')),
    ...(parentSpanId === undefined ? [] : [encodeBytes(4, Buffer.from(parentSpanId, 'hex'))]),
    encodeBytes(5, Buffer.from(span.name)),
    encodeFixed64(7, span.startTimeUnixNano),
    encodeFixed64(8, span.endTimeUnixNano),
    ...span.attributes.map((attribute) => encodeAttribute(9, attribute)),
    ...(status ? [encodeMessage(15, encodeVarintField(3, BigInt(status.code)))] : []),
  );
}

function encodeAttribute(field: number, { key, value }: Attribute): Buffer {
  const anyValue =
    'stringValue' in value
      ? encodeBytes(1, Buffer.from(value.stringValue))
      : 'intValue' in value
        ? encodeVarintField(3, BigInt(value.intValue))
        : Buffer.alloc(0);
  return encodeMessage(field, encodeBytes(1, Buffer.from(key)), encodeMessage(2, anyValue));
}

function encodeMessage(field: number, ...parts: Buffer[]): Buffer {
  return encodeBytes(field, Buffer.concat(parts));
}

function encodeBytes(field: number, content: Buffer): Buffer {
  const tag = encodeVarint(BigInt((field << 3) | 2));
  return Buffer.concat([tag, encodeVarint(BigInt(content.length)), content]);
}

function encodeVarintField(field: number, value: bigint): Buffer {
  return Buffer.concat([encodeVarint(BigInt(field << 3)), encodeVarint(value)]);
}

function encodeFixed64(field: number, digits: string): Buffer {
  const content = Buffer.alloc(8);
  content.writeBigUInt64LE(BigInt(digits));
  return Buffer.concat([encodeVarint(BigInt((field << 3) | 1)), content]);
}

function encodeVarint(value: bigint): Buffer {
  const groups: number[] = [];
  let rest = value;
  do {
    const group = Number(rest & 0x7fn);
    rest >>= 7n;
    groups.push(rest > 0n ? group | 0x80 : group);
  } while (rest > 0n);
  return Buffer.from(groups);
}
