/**
 * The rules for the spans of conversations (spec 2.1). Ingest and `lint-traces` log what breaks them,
 * and the judgment of a client reports it, so that all of them agree.
 */
import { DAY_MS } from '../platform/clock.ts';
import { isObject, parseJson } from '../platform/json.ts';
import type { Attributes, AttributeValue, TraceSpan } from './otlp-request.ts';

/** The attributes that decide how the service uses a span. */
export const OPERATION_KEY = 'gen_ai.operation.name';
export const CONVERSATION_ID_KEY = 'gen_ai.conversation.id';
export const INPUT_KEY = 'gen_ai.input.messages';
export const OUTPUT_KEY = 'gen_ai.output.messages';

export const TOOL_NAME_KEY = 'gen_ai.tool.name';
export const TOOL_CALL_ID_KEY = 'gen_ai.tool.call.id';

/** The details of a tool call. */
export const TOOL_DETAIL_KEYS = ['gen_ai.tool.call.arguments', 'gen_ai.tool.call.result'] as const;

/** Returns the operation of a span; undefined for spans that are not part of a conversation. */
export function readOperation({ attributes }: TraceSpan): string | undefined {
  const operation = attributes[OPERATION_KEY];
  return typeof operation === 'string' && operation.trim() !== '' ? operation : undefined;
}

/** The operations of turns and their tool calls. Spans with another one are part of no turn. */
export const CONVERSATION_OPERATIONS: ReadonlySet<string> = new Set([
  'chat',
  'execute_tool',
  'invoke_agent',
]);

/** The specification sets no limit, but the databases do: PostgreSQL indexes at most 2,704 bytes. */
export const CONVERSATION_ID_LENGTH_MAX = 1_024;
export const CONVERSATION_ID_BYTES_MAX = 2_048;

/** Returns whether a value is a valid conversation id. */
export function isConversationId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.length <= CONVERSATION_ID_LENGTH_MAX &&
    Buffer.byteLength(value) <= CONVERSATION_ID_BYTES_MAX
  );
}

/** Returns the conversation id in the span's own attributes. */
export function readConversationId(span: TraceSpan): string | undefined {
  const id = span.attributes[CONVERSATION_ID_KEY];
  return isConversationId(id) ? id : undefined;
}

/** Returns whether an id is valid in OTLP: full length, hexadecimal, not zero. */
export const isTraceId = (id: string): boolean => isId(id, 32);
export const isSpanId = (id: string): boolean => isId(id, 16);

/** Returns whether the trace id and the span id are valid. */
export const hasValidIds = ({ traceId, spanId }: TraceSpan): boolean =>
  isTraceId(traceId) && isSpanId(spanId);

function isId(id: string, digits: number): boolean {
  return id.length === digits && /^[\da-f]+$/.test(id) && !/^0+$/.test(id);
}

/** Nanoseconds. Smaller numbers are times in another unit. */
const YEAR_2000_NS = 946_684_800_000_000_000n;

/** Something that is wrong with a time of a span. The clocks of machines differ, but by less than a day. */
export interface TimeFault {
  kind: 'missing' | 'too_early' | 'too_late' | 'ends_before_start';
  /** The name of the time in OTLP/JSON. */
  name: 'startTimeUnixNano' | 'endTimeUnixNano';
  ns: bigint;
}

/** Returns what is wrong with the times of a span that arrived at a time in milliseconds. */
export function findTimeFault(
  { startNs, endNs }: Pick<TraceSpan, 'startNs' | 'endNs'>,
  receivedAtMs: number,
): TimeFault | undefined {
  const latestNs = BigInt(Math.floor(receivedAtMs) + DAY_MS) * 1_000_000n;
  for (const [name, ns] of [
    ['startTimeUnixNano', startNs],
    ['endTimeUnixNano', endNs],
  ] as const) {
    if (ns === 0n) return { kind: 'missing', name, ns };
    if (ns < YEAR_2000_NS) return { kind: 'too_early', name, ns };
    if (ns > latestNs) return { kind: 'too_late', name, ns };
  }
  return endNs < startNs
    ? { kind: 'ends_before_start', name: 'endTimeUnixNano', ns: endNs }
    : undefined;
}

/**
 * Returns messages as JSON text. They arrive as text (spec 2.1) or as structured values, which the
 * OpenTelemetry conventions prefer.
 */
export function readMessagesAttribute(value: AttributeValue | undefined): {
  text: string | undefined;
  isReadable: boolean;
} {
  if (value === undefined || value === null) return { text: undefined, isReadable: true };
  if (typeof value === 'string')
    return { text: value, isReadable: Array.isArray(parseJson(value)) };
  return { text: JSON.stringify(value), isReadable: Array.isArray(value) };
}

/** Returns whether messages have a reply of the agent: text or another part such as a tool call. */
export function hasReply(value: AttributeValue | undefined): boolean {
  const messages = parseJson(readMessagesAttribute(value).text ?? '[]');
  return (
    Array.isArray(messages) &&
    messages.some((message: unknown) => isFromAgent(message) && hasContent(message))
  );
}

const isFromAgent = (message: unknown): boolean =>
  !isObject(message) || !['user', 'system', 'tool'].includes(String(message['role']));

function hasContent(message: unknown): boolean {
  if (!isObject(message)) return message !== null && message !== '';
  const { parts, content, tool_calls: calls } = message;
  if (!Array.isArray(parts)) return isText(content) || calls !== undefined;
  return parts.some(
    (part) => !isObject(part) || part['type'] !== 'text' || isText(part['content']),
  );
}

const isText = (value: unknown): boolean =>
  typeof value === 'string' ? value.trim() !== '' : value !== undefined && value !== null;

/** Returns the name of a tool in the attributes of a span; undefined without one. */
export const readToolName = ({
  attributes,
}: {
  attributes: Readonly<Record<string, unknown>>;
}): string | undefined => toText(attributes[TOOL_NAME_KEY]);

const toText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

type Json = Readonly<Record<string, unknown>>;

/** Returns whether a part of a message is a tool call, in the format of the GenAI conventions or of a model vendor. */
export const isToolCallPart = (part: unknown): part is Json =>
  isObject(part) &&
  /^((server_)?tool[_-](call|use)|function_call)$/.test(toText(part['type']) ?? '');

/** Returns the id of a tool call or of its result in a message; undefined without one. */
export const readCallId = (part: Json): string | undefined =>
  [part['id'], part['tool_call_id'], part['toolCallId'], part['call_id']]
    .map(toText)
    .find((id) => id !== undefined);

/** Returns the name in a tool call of a message; undefined without one. Chat completions nest it in `function`. */
export function readCallName(call: Json): string | undefined {
  const { name, toolName } = isObject(call['function']) ? call['function'] : call;
  return toText(name) ?? toText(toolName);
}

/** Returns the tool calls in a `gen_ai.*.messages` attribute: parts of messages, and `tool_calls` next to them. */
export function listToolCalls(value: AttributeValue | undefined): Json[] {
  const messages = parseJson(readMessagesAttribute(value).text ?? '[]');
  return (Array.isArray(messages) ? messages.filter(isObject) : []).flatMap(
    ({ parts, tool_calls: calls }) => [
      ...(Array.isArray(parts) ? parts.filter(isToolCallPart) : []),
      ...(Array.isArray(calls) ? calls.filter(isObject) : []),
    ],
  );
}

/** Attributes with the text of a model call in other conventions, which the service does not read. */
const OTHER_TEXT =
  /^(gen_ai\.(prompt|completion|content\.(prompt|completion))|llm\.(prompts?|completions?)|(input|output)\.value)(\.|$)/;

/** Returns the name of an attribute that has the text of a model call under another name. */
export function findOtherText(attributes: Attributes): string | undefined {
  return Object.keys(attributes).find((key) => OTHER_TEXT.test(key));
}
