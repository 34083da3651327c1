/**
 * The conversations that the run closes, with spans in every form, and the trace requests that carry
 * them.
 */
import type { When } from '../../../engine/mutants/combinators.ts';
import type { Step } from '../../../engine/probe.ts';
import type { ServiceContext, ServiceProbeContext } from '../context.ts';
import { createTracesStep } from '../requests.ts';
import {
  createChatSpan,
  createConversation,
  createSiblingSpan,
  createSplitExport,
  createTraceExport,
  integerAttribute,
  spansIn,
  stringAttribute,
  withOtherFields,
  withoutAttributes,
  withUnknownFields,
  type Conversation,
  type TraceExport,
} from '../spans.ts';
import type { ConversationName } from '../steps.ts';
import {
  CLOSED_LAST,
  CLOSED_LAST_SUBJECT,
  HEADER_AS_PROTOBUF,
  IGNORED_ALONE,
  LEFT_OPEN,
  LEFT_OPEN_SUBJECT,
} from './evidence.ts';

/**
 * When the conversation `re-sent` starts. Others start before and after it in the same second. A number
 * with 53 bits can't hold this time in nanoseconds: it would be less than the millisecond.
 */
export const RESENT_OFFSET_MS = 4_125;

/** A conversation and the trace requests that carry it. */
export interface PlannedConversation {
  conversation: Conversation;
  requests: Step[];
}

/** Plans the conversations that start today, which are sent and closed concurrently. */
export function planConversations(context: ServiceProbeContext): PlannedConversation[] {
  const { service } = context;
  const create = (
    name: ConversationName,
    offsetMs: number,
    passesSecondEval = true,
  ): Conversation => createConversation(service, name, { offsetMs, passesSecondEval });
  return [
    planSeveralTurns(context, create('json', 0)),
    planProtobuf(context, create('protobuf', 1000, false)),
    planManyTurns(context, create('gzip', 1000)),
    planPeculiarTexts(context, create('gzip protobuf', 2000, false)),
    planHeaderId(
      context,
      createConversation(service, 'header', { offsetMs: 3000, idSuffix: '-Hd' }),
    ),
    planResentSpans(context, create('re-sent', RESENT_OFFSET_MS, false)),
    planIgnoredSpan(context, { ...create('ignored', 4_050), omitsFinishReason: true }),
    planToolCall(context, { ...create('tools', 4_500), detail: 'long part' }),
    planFailedTurn(context, {
      ...create('failed', 7000, false),
      subject: 'order',
      isUnanswered: true,
    }),
    planWrappedTurn(context, create('wrapper', 8000)),
    planOneTrace(context, create('one trace', 9000)),
    planSplitRequest(context, { ...create('split', 9000), systemMessage: SYSTEM_MESSAGE }),
    planTwoIds(context, { ...create('attribute and header', 10_000), finishReason: 'length' }),
    planAlikeTurns(context, create('alike', 5_000)),
    planGzipInParts(context, create('gzip in parts', 6_000)),
    planManySpans(context, create('many spans', 6_500)),
  ];
}

/** More spans in one request than a careless limit of a page or a batch. */
const MANY_SPANS = 120;

/** Many turns in one request. */
function planManyTurns(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const spans = Array.from({ length: MANY_SPANS }, (_, index) =>
    createChatSpan(context.service, conversation, index + 1),
  );
  const request = createTraceExport(spans);
  return {
    conversation,
    requests: [createTracesStep(context, 'gzip', request, { encoding: 'gzip' })],
  };
}

/** Two turns: one as gzip of two members, and one as gzip in a chunked body. */
function planGzipInParts(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const turn = (number: number) =>
    createTraceExport([createChatSpan(context.service, conversation, number)]);
  return {
    conversation,
    requests: [
      createTracesStep(context, 'gzip of two members', turn(1), { encoding: 'gzipOfTwoMembers' }),
      createTracesStep(context, 'gzip in chunks', turn(2), { encoding: 'gzipInChunks' }),
    ],
  };
}

/** More spans between two turns than the default batch of most exporters. */
const SPANS_BETWEEN_TURNS = 600;

/** Two turns in one request, and between them many spans that are not turns, as web servers send them. */
function planManySpans(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const { service } = context;
  const between = createSiblingSpan(service, conversation, 'GET /prices', [
    stringAttribute('gen_ai.conversation.id', conversation.id),
  ]);
  const { spanId } = between;
  const request = createTraceExport([
    createChatSpan(service, conversation),
    ...Array.from({ length: SPANS_BETWEEN_TURNS }, (_, index) => ({
      ...between,
      spanId: `${spanId.slice(0, -4)}${String(index).padStart(4, '0')}`,
    })),
    createChatSpan(service, conversation, 2),
  ]);
  return { conversation, requests: [createTracesStep(context, 'many spans', request)] };
}

/** Matches the request of `planManySpans`. */
export const hasManySpans: When = ({ json }) => spansIn(json).length > SPANS_BETWEEN_TURNS;

/** A turn whose texts have what services often change. */
function planPeculiarTexts(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const span = createChatSpan(context.service, { ...conversation, detail: 'peculiar text' });
  const request = createTraceExport([span]);
  return {
    conversation,
    requests: [createTracesStep(context, 'gzip protobuf', request, { encoding: 'gzipProtobuf' })],
  };
}

/** The topic of the turn with escaped non-ASCII letters. Mutants recognize the turn by it. */
export const ESCAPED_SUBJECT = 'parcel 🚚';

/** How much later than the first turn the others start: more than the precision of a start time. */
export const LATER_TURNS_MS = 2_000;

/**
 * Three turns in two requests, so that only the conversation id connects them. The first turn arrives
 * last, and starts some seconds before the others.
 */
function planSeveralTurns(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const { service } = context;
  const later = { ...conversation, startMs: conversation.startMs + LATER_TURNS_MS };
  const first = createChatSpan(service, { ...conversation, subject: ESCAPED_SUBJECT });
  const others = [createChatSpan(service, later, 3), createChatSpan(service, later, 2)];
  return {
    conversation,
    requests: [
      createTracesStep(context, 'json', createTraceExport(others)),
      createTracesStep(context, 'json again', createTraceExport([first]), {
        encoding: 'escapedJson',
      }),
    ],
  };
}

/** Matches the first request of `planSeveralTurns`, whose turns are in reverse. */
export const hasReversedTurns: When = ({ json }) => {
  const [first, second] = spansIn(json);
  return first && second ? first.startTimeUnixNano > second.startTimeUnixNano : false;
};

/**
 * Two turns, whose spans arrive again: in later requests with another attribute and another text, twice
 * in a request, and as protobuf.
 */
function planResentSpans(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const first = createChatSpan(context.service, conversation);
  const second = createChatSpan(context.service, conversation, 2);
  const other = createChatSpan(context.service, { ...conversation, subject: RESENT_SUBJECT });
  const changed = {
    ...other,
    attributes: [...other.attributes, stringAttribute(RETRY_TAG, 'second attempt')],
  };
  const again = createTraceExport([changed, second, second]);
  return {
    conversation,
    requests: [
      createTracesStep(context, 're-sent', createTraceExport([first])),
      createTracesStep(context, 're-sent again', again),
      createTracesStep(context, 're-sent as protobuf', createTraceExport([changed]), {
        encoding: 'protobuf',
      }),
    ],
  };
}

/** The attribute that a span has only when it arrives again. */
export const RETRY_TAG = 'http.retry';
/** What a turn is about when its span arrives again. It passes the same evals. */
export const RESENT_SUBJECT = 'other parcel';

/** Three turns whose conversation id is only in the header. */
function planHeaderId(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const turn = (number: number) =>
    withoutAttributes(
      createChatSpan(context.service, conversation, number),
      'gen_ai.conversation.id',
    );
  const json = createTracesStep(context, 'header', createTraceExport([turn(1), turn(2)]));
  const protobuf = createTracesStep(context, HEADER_AS_PROTOBUF, createTraceExport([turn(3)]), {
    encoding: 'protobuf',
  });
  const withId = (step: Step): Step => ({
    ...step,
    headers: { ...step.headers, 'x-conversation-id': conversation.id },
  });
  return { conversation, requests: [json, protobuf].map(withId) };
}

/** The message before that of the user in the conversation `split`. */
export const SYSTEM_MESSAGE = 'You help customers of a shop.';

/** The name of spans without an operation name, which identifies them to mutants. */
export const IGNORED_SPAN = 'GET /orders';

/** Two turns, and between them a span without an operation name, which is not a turn. */
function planIgnoredSpan(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const { service } = context;
  const ignored = createSiblingSpan(service, conversation, IGNORED_SPAN, [
    stringAttribute('gen_ai.conversation.id', conversation.id),
    stringAttribute('http.request.method', 'GET'),
  ]);
  const request = createTraceExport([
    createChatSpan(service, conversation),
    ignored,
    createChatSpan(service, conversation, 2),
  ]);
  return { conversation, requests: [createTracesStep(context, 'ignored', request)] };
}

/** The name of the span of a tool call, which identifies it to mutants. */
export const TOOL_SPAN = 'execute_tool look_up';

/** A turn with all optional attributes and a tool call. */
function planToolCall(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const { service } = context;
  const chat = createChatSpan(service, conversation);
  const toolCall = createSiblingSpan(service, conversation, TOOL_SPAN, [
    stringAttribute('gen_ai.conversation.id', conversation.id),
    stringAttribute('gen_ai.operation.name', 'execute_tool'),
    stringAttribute('gen_ai.tool.name', 'look_up'),
    stringAttribute('gen_ai.tool.call.arguments', '{"parcel":17}'),
    stringAttribute('gen_ai.tool.call.result', '{"status":"shipped"}'),
  ]);
  const fullChat = {
    ...chat,
    status: { code: 1 },
    attributes: [
      ...chat.attributes,
      stringAttribute('gen_ai.request.model', 'model-a'),
      stringAttribute('gen_ai.response.model', 'model-a-1'),
      integerAttribute('gen_ai.usage.input_tokens', 12),
      integerAttribute('gen_ai.usage.output_tokens', 34),
      stringAttribute('shop.region', 'north'),
    ],
  };
  const request = createTraceExport(
    [fullChat, { ...toolCall, parentSpanId: chat.spanId }],
    [stringAttribute('deployment.environment.name', 'test')],
  );
  return { conversation, requests: [createTracesStep(context, 'tools', request)] };
}

function planFailedTurn(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const span = createChatSpan(context.service, conversation, 1, { status: { code: 2 } });
  const request = createTraceExport([span]);
  return { conversation, requests: [createTracesStep(context, 'failed', request)] };
}

/** The messages of a chat span. */
const messageKeys = ['gen_ai.input.messages', 'gen_ai.output.messages'];

/**
 * A turn in an `invoke_agent` wrapper with the same messages, another one in a wrapper without messages,
 * and a turn in which only the agent speaks. The specification does not say whether a wrapper is a turn.
 */
function planWrappedTurn(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const { service } = context;
  const chat = createChatSpan(service, conversation);
  const wrapper = createSiblingSpan(service, conversation, 'invoke_agent', [
    stringAttribute('gen_ai.operation.name', 'invoke_agent'),
    ...chat.attributes.filter(({ key }) => key !== 'gen_ai.operation.name'),
  ]);
  const second = createChatSpan(service, conversation, 2);
  const { traceId, startTimeUnixNano, endTimeUnixNano } = second;
  const bareWrapper = {
    ...withoutAttributes(wrapper, ...messageKeys),
    ...{ traceId, startTimeUnixNano, endTimeUnixNano },
    spanId: second.spanId.replace(/^./, 'd'),
  };
  const request = createTraceExport([
    wrapper,
    { ...chat, parentSpanId: wrapper.spanId },
    bareWrapper,
    { ...second, parentSpanId: bareWrapper.spanId },
    createChatSpan(service, { ...conversation, isUnprompted: true }, 3),
  ]);
  return { conversation, requests: [createTracesStep(context, 'wrapper', request)] };
}

/**
 * Two turns with the same trace id, as a client has them that traces a whole conversation. They start in the
 * same millisecond, and the second one is first in the request, which has unknown fields.
 */
function planOneTrace(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const first = createChatSpan(context.service, conversation);
  const { traceId, startTimeUnixNano } = first;
  const later = startTimeUnixNano.replace(/\d{6}$/, '300000');
  const second = createChatSpan(context.service, conversation, 2, {
    traceId,
    startTimeUnixNano: later,
  });
  const request = withUnknownFields(createTraceExport([second, first]));
  return { conversation, requests: [createTracesStep(context, 'one trace', request)] };
}

/** Matches requests with two chat spans of one trace, such as the one of `planOneTrace`. */
export const hasTurnsOfOneTrace: When = ({ json }) => {
  const chats = spansIn(json).filter(({ name }) => name === 'chat');
  const count = (key: 'traceId' | 'spanId'): number => new Set(chats.map((span) => span[key])).size;
  return count('traceId') < count('spanId');
};

/** Replaces the last digit of an id. */
const replaceLastDigit = (id: string): string =>
  id.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));

/**
 * Three turns that are easy to take for one: the second has the texts and the times of the first, and
 * the ids of the third differ from those of the first only in their last digits.
 */
function planAlikeTurns(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const { service } = context;
  const first = createChatSpan(service, conversation);
  const { traceId, spanId, startTimeUnixNano, endTimeUnixNano, attributes } = first;
  const second = createChatSpan(service, conversation, 2, {
    startTimeUnixNano,
    endTimeUnixNano,
    attributes,
  });
  const third = createChatSpan(service, conversation, 3, {
    traceId: replaceLastDigit(traceId),
    spanId: replaceLastDigit(spanId),
  });
  const request = createTraceExport([first, second, third]);
  return { conversation, requests: [createTracesStep(context, conversation.name, request)] };
}

/** Matches requests with chat spans that start at the same time, such as that of `planAlikeTurns`. */
export const hasAlikeTurns: When = ({ json }) => {
  const chats = spansIn(json).filter(({ name }) => name === 'chat');
  const starts = new Set(chats.map(({ startTimeUnixNano }) => startTimeUnixNano));
  return starts.size < new Set(chats.map(({ spanId }) => spanId)).size;
};

/** Four turns: two in a scope, one in another scope of its resource, and one in another resource. */
function planSplitRequest(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const turn = (number: number) => createChatSpan(context.service, conversation, number);
  const request = createSplitExport([turn(1), turn(2), turn(3), turn(4)]);
  const step = createTracesStep(context, conversation.name, request);
  return { conversation, requests: [{ ...step, headers: TYPE_IN_OTHER_CASE }] };
}

/** The event of a span in protobuf, which identifies it to mutants. */
export const PROTOBUF_EVENT = 'first token in protobuf';

/** An attribute of the link of a span in protobuf, which identifies it to mutants. */
export const PROTOBUF_LINK = 'shop.link.in.protobuf';

/** More than a byte of a varint holds. */
const INPUT_TOKENS = 512;

/**
 * Four turns like those of `planSplitRequest`, as protobuf. One begins with an integer, one has an event,
 * and one has a link.
 */
function planProtobuf(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const turn = (number: number) => createChatSpan(context.service, conversation, number);
  const [first, second, third] = [turn(1), turn(2), turn(3)];
  const tokens = integerAttribute('gen_ai.usage.input_tokens', INPUT_TOKENS);
  const event = {
    timeUnixNano: second.startTimeUnixNano,
    name: PROTOBUF_EVENT,
    attributes: [stringAttribute('shop.region', 'north')],
  };
  const { traceId, spanId } = first;
  const link = { traceId, spanId, attributes: [stringAttribute(PROTOBUF_LINK, 'north')] };
  const request = createSplitExport([
    { ...first, attributes: [tokens, ...first.attributes] },
    { ...second, events: [event] },
    { ...third, links: [link] },
    turn(4),
  ]);
  const step = createTracesStep(context, 'protobuf', request, { encoding: 'protobuf' });
  return { conversation, requests: [step] };
}

const TYPE_IN_OTHER_CASE = { 'content-type': 'Application/JSON' };

/** Two turns of days ago in a chunked body. The second span has a parent that is never sent. */
export function planOldTurns(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const { service } = context;
  const first = createChatSpan(service, conversation);
  const second = createChatSpan(service, conversation, 2, {
    parentSpanId: first.spanId.replace(/^./, 'f'),
  });
  const request = createTracesStep(context, 'old', createTraceExport([first, second]));
  const headers = { 'transfer-encoding': 'chunked' };
  return { conversation, requests: [{ ...request, headers }] };
}

/** A turn of days ago, as protobuf with unknown fields. */
export function planClosedLast(
  context: ServiceProbeContext,
  conversation: Conversation,
): PlannedConversation {
  const span = createChatSpan(context.service, { ...conversation, subject: CLOSED_LAST_SUBJECT });
  const request = createTracesStep(context, CLOSED_LAST, createTraceExport([span]), {
    encoding: 'protobufWithUnknownFields',
  });
  return { conversation, requests: [request] };
}

/** A turn that is closed only at the end of the run. Its request has all fields of OTLP. */
export function createOpenTurn(context: ServiceProbeContext): Step {
  const open = {
    ...createConversation(context.service, LEFT_OPEN, { offsetMs: 9_000 }),
    subject: LEFT_OPEN_SUBJECT,
  };
  const request = createTraceExport([createChatSpan(context.service, open)]);
  return createTracesStep(context, LEFT_OPEN, withOtherFields(request));
}

/** The name of a chat span that is not `chat`, which identifies it to mutants. */
export const OTHER_SPAN_NAME = 'ask model-a';

/**
 * Two turns whose conversation id is in their attributes, with another id in the header. The span of
 * the second one has another name.
 */
function planTwoIds(context: ServiceProbeContext, conversation: Conversation): PlannedConversation {
  const request = createTraceExport([
    createChatSpan(context.service, conversation),
    createChatSpan(context.service, conversation, 2, { name: OTHER_SPAN_NAME }),
  ]);
  const headers = { 'x-conversation-id': createConversation(context.service, 'header alone').id };
  return {
    conversation,
    requests: [{ ...createTracesStep(context, conversation.name, request), headers }],
  };
}

/** Returns the id of a conversation, and a request that has only a span of it without an operation name. */
export function createIgnoredAlone(service: ServiceContext): { id: string; request: TraceExport } {
  const alone = createConversation(service, IGNORED_ALONE);
  const ignored = createSiblingSpan(service, alone, IGNORED_SPAN, [
    stringAttribute('gen_ai.conversation.id', alone.id),
  ]);
  return { id: alone.id, request: createTraceExport([ignored]) };
}
