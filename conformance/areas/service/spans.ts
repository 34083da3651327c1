import { listAt } from '../../../src/contract/index.ts';
import type { When } from '../../engine/mutants/combinators.ts';
import type { ServiceContext } from './context.ts';
import type { ConversationName } from './steps.ts';

/** An OTLP/JSON attribute. */
export interface Attribute {
  key: string;
  value: AttributeValue;
}

type AttributeValue =
  | { stringValue: string }
  | { intValue: string | number }
  | { boolValue: boolean }
  | { doubleValue: number }
  | { bytesValue: string }
  | { arrayValue: { values: AttributeValue[] } }
  | { kvlistValue: { values: Attribute[] } }
  | Record<string, never>;

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
  events?: { timeUnixNano: string; name: string; attributes: Attribute[] }[];
  links?: { traceId: string; spanId: string; attributes: Attribute[] }[];
}

/** An OTLP/JSON trace export request. */
export interface TraceExport {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[];
}

/** A conversation that a probe makes up. */
export interface Conversation<Name extends string = ConversationName> {
  name: Name;
  id: string;
  startMs: number;
  /** Whether the agent's replies pass the second eval of the run. */
  passesSecondEval: boolean;
  /** What the user asks about (default: parcel, which passes the first eval). */
  subject?: string;
  /** Adds to its texts what services often change, or a part of 70,000 characters. */
  detail?: 'peculiar text' | 'long part';
  /** The agent's replies are empty, as after a failed model call. */
  isUnanswered?: boolean;
  /** The user says nothing, as before an agent that speaks first. */
  isUnprompted?: boolean;
  /** The agent's messages have no `finish_reason`, which is optional. */
  omitsFinishReason?: boolean;
  /** Why the agent's messages end (default: stop). */
  finishReason?: 'stop' | 'length';
  /** Begins the input of each turn, as many clients do. */
  systemMessage?: string;
}

/** What the user says in a turn, and how the agent replies. */
export interface TurnTexts {
  user: string;
  agent: string;
}

/** The text that the second eval of the run looks for in the agent's replies. */
export const PASSING_PHRASE = 'on its way';

/** Creates a conversation with an id that belongs to this run alone. */
export function createConversation<Name extends ConversationName>(
  { random, marker, baseMs }: ServiceContext,
  name: Name,
  {
    offsetMs = 0,
    passesSecondEval = true,
    idSuffix = '',
  }: { offsetMs?: number; passesSecondEval?: boolean; idSuffix?: string } = {},
): Conversation<Name> {
  const id = `sk-${marker}-${random.fork(`conversation/${name}`).id(8)}${idSuffix}`;
  return { name, id, startMs: baseMs + offsetMs, passesSecondEval };
}

/** Returns the texts of a turn. No other turn has the same texts. */
function turnTexts(
  {
    id,
    passesSecondEval,
    subject = 'parcel',
    isUnprompted = false,
    isUnanswered = false,
  }: Conversation<string>,
  turn: number,
): TurnTexts {
  const status = passesSecondEval ? `is ${PASSING_PHRASE}` : 'is late';
  return {
    user: isUnprompted ? '' : `Where is ${subject} ${id}/${turn}?`,
    agent: isUnanswered ? '' : `The ${subject} ${id}/${turn} ${status}.`,
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

/** Turns start within one second, so that only the fraction of their times shows their order. */
const TURN_MS = 240;

function createSpanIds(
  { random }: Pick<ServiceContext, 'random'>,
  { name }: Pick<Conversation<string>, 'name'>,
  turn: number,
) {
  const fork = random.fork(`span/${name}/${turn}`);
  const hex = (length: number): string =>
    Array.from({ length }, () => fork.integer(0, 15).toString(16)).join('');
  // The leading letter keeps an id from being all zeros, which OTLP forbids.
  return { traceId: `a${hex(31)}`, spanId: `b${hex(15)}`, siblingSpanId: `c${hex(15)}` };
}

/** Letters that need two, three, and four bytes in UTF-8. */
const ADDRESS = ' It goes to Görlitzer Straße 7, 東京, in a 📦.';

/** A letter and its accent as two characters, which normalization makes one. */
const DECOMPOSED_LETTER = 'e\u0301';
/** The control character that begins an escape sequence of a terminal. */
export const ESCAPE_CHARACTER = '\u001b';

/**
 * White space at both ends, runs of white space, line breaks of both kinds, markup, a ligature, a
 * letter of two characters, and control characters.
 */
const toPeculiarText = (text: string): string =>
  `  ${text}${ADDRESS}\r\n<b>"Fragile"</b>  &amp; it's\n\n\tﬁrst class ` +
  `to the caf${DECOMPOSED_LETTER}, ${ESCAPE_CHARACTER}[1mnow${ESCAPE_CHARACTER}[0m. \n`;

/** About 70,000 characters, which are more than 64 KiB. */
const LONG_PART = ADDRESS.repeat(1_600);

/** Serializes messages as spec 2.1 asks: a string that holds a JSON array. */
function serializeMessages(
  role: 'user' | 'assistant',
  text: string,
  { detail, omitsFinishReason = false, finishReason = 'stop', systemMessage }: Conversation<string>,
): string {
  const finish = role === 'assistant' && !omitsFinishReason ? { finish_reason: finishReason } : {};
  const contents = [
    detail === 'peculiar text' ? toPeculiarText(text) : text,
    // One long text is enough, and every page with turns repeats it.
    ...(detail === 'long part' && role === 'assistant' ? [LONG_PART] : []),
  ];
  const toParts = (texts: readonly string[]) => texts.map((content) => ({ type: 'text', content }));
  const before =
    role === 'user' && systemMessage !== undefined
      ? [{ role: 'system', parts: toParts([systemMessage]) }]
      : [];
  return JSON.stringify([...before, { role, parts: toParts(contents), ...finish }]);
}

/** Creates the span of one chat turn; `overrides` replace its fields. */
export function createChatSpan(
  context: Pick<ServiceContext, 'random'>,
  conversation: Conversation<string>,
  turn = 1,
  overrides: Partial<Span> = {},
): Span {
  const { traceId, spanId } = createSpanIds(context, conversation, turn);
  const { user, agent } = turnTexts(conversation, turn);
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
      stringAttribute('gen_ai.input.messages', serializeMessages('user', user, conversation)),
      stringAttribute(
        'gen_ai.output.messages',
        serializeMessages('assistant', agent, conversation),
      ),
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
export function createTraceExport(
  spans: Span[],
  resourceTags: readonly Attribute[] = [],
): TraceExport {
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

/** Returns a copy of a request with the fields of OTLP that the specification does not name. */
export function withOtherFields({ resourceSpans }: TraceExport): TraceExport {
  const about = {
    attributes: [stringAttribute('shop.region', 'north')],
    droppedAttributesCount: 0,
  };
  const addToSpan = (span: Span): Span => {
    const { traceId, spanId, startTimeUnixNano: timeUnixNano } = span;
    const others = {
      kind: 3,
      flags: 257,
      traceState: 'shop=1',
      status: { code: 1, message: 'done' },
      events: [{ timeUnixNano, name: 'first token', ...about }],
      links: [{ traceId, spanId: spanId.replace(/^./, 'e'), traceState: '', ...about }],
      droppedAttributesCount: 1,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
    return { ...span, ...others };
  };
  const schema = { schemaUrl: 'https://opentelemetry.io/schemas/1.37.0' };
  const scope = { scope: { name: 'shop', version: '1.0.0', ...about }, ...schema };
  return {
    resourceSpans: resourceSpans.map(({ resource, scopeSpans }) => ({
      resource: { ...resource, droppedAttributesCount: 0 },
      scopeSpans: scopeSpans.map(({ spans }) => ({ spans: spans.map(addToSpan), ...scope })),
      ...schema,
    })),
  };
}

/** A field that no version of OTLP has. Receivers ignore unknown fields, so that senders can be newer. */
export const UNKNOWN_FIELD = 'sandboxKitFuture';

/** Returns a copy of a request with an unknown field at each level. */
export function withUnknownFields({ resourceSpans }: TraceExport): TraceExport {
  const unknown = { [UNKNOWN_FIELD]: { values: [1, 'two', null] } };
  const added = resourceSpans.map(({ resource, scopeSpans }) => ({
    resource: { ...resource, ...unknown },
    scopeSpans: scopeSpans.map(({ spans }) => ({
      spans: spans.map((span) => ({ ...span, ...unknown })),
      ...unknown,
    })),
    ...unknown,
  }));
  return { resourceSpans: added, ...unknown };
}

/** Attributes with a value of every OTLP type. In JSON, an integer is a string or a number. */
export const valuesOfEveryType: readonly Attribute[] = [
  { key: 'gen_ai.usage.input_tokens', value: { intValue: 12 } },
  { key: 'shop.weight', value: { doubleValue: 0.5 } },
  { key: 'shop.fragile', value: { boolValue: true } },
  { key: 'shop.label', value: { bytesValue: 'AAEC/w==' } },
  { key: 'shop.note', value: {} },
  { key: 'shop.stops', value: { arrayValue: { values: [{ stringValue: 'north' }, {}] } } },
  { key: 'shop.size', value: { kvlistValue: { values: [integerAttribute('height', 7)] } } },
];

/** Matches the requests of `createSplitExport` in JSON. */
export const isSplit: When = ({ json }) => listAt(json, '/resourceSpans').length > 1;

/** Returns the spans in the body of a JSON request of the run. */
export const spansIn = (json: unknown): Span[] =>
  listAt(json, '/resourceSpans')
    .flatMap((group) => listAt(group, '/scopeSpans'))
    .flatMap((scope) => listAt(scope, '/spans') as Span[]);
