import { createHash } from 'node:crypto';

/** The parts of a span; every part has a default. */
export interface SpanParts {
  traceId?: string;
  spanId?: string;
  parentSpanId?: string;
  name?: string;
  /** `gen_ai.conversation.id`; null omits the attribute. */
  conversationId?: string | null;
  /** `gen_ai.operation.name`; null omits the attribute. */
  operation?: string | null;
  /** The user's line and the agent's reply. */
  user?: string;
  agent?: string;
  startMs?: number;
  endMs?: number;
  /** OTLP status code; 2 is an error. */
  status?: number;
  /** Additional attributes; they replace generated ones with the same key. */
  attributes?: Record<string, unknown>;
}

const START_MS_DEFAULT = Date.UTC(2026, 10, 20, 9, 30);
let idCount = 0;

/** Returns a new span id or trace id with this number of hexadecimal digits. */
export function makeHexId(digits: number): string {
  return createHash('sha256').update(`id ${idCount++}`).digest('hex').slice(0, digits);
}

/** Returns the value of a `gen_ai.*.messages` attribute with one message. */
export function formatMessages(role: 'user' | 'assistant', content: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
}

/** Returns a span in OTLP/JSON (default: a chat turn of the conversation `conv-1`). */
export function makeSpan(parts: SpanParts = {}): Record<string, unknown> {
  const { traceId = makeHexId(32), spanId = makeHexId(16), conversationId = 'conv-1' } = parts;
  const { operation = 'chat', user = 'Where is my order?', agent = 'It is on its way.' } = parts;
  const { startMs = START_MS_DEFAULT, endMs = startMs + 1000 } = parts;
  const attributes: Record<string, unknown> = {
    ...(operation !== null && { 'gen_ai.operation.name': operation }),
    ...(conversationId !== null && { 'gen_ai.conversation.id': conversationId }),
    'gen_ai.input.messages': formatMessages('user', user),
    'gen_ai.output.messages': formatMessages('assistant', agent),
    ...parts.attributes,
  };
  return {
    traceId,
    spanId,
    ...(parts.parentSpanId !== undefined && { parentSpanId: parts.parentSpanId }),
    name: parts.name ?? 'chat test-model',
    kind: 3,
    startTimeUnixNano: `${startMs}000000`,
    endTimeUnixNano: `${endMs}000000`,
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: toValue(value) })),
    ...(parts.status !== undefined && { status: { code: parts.status } }),
  };
}

/** Returns an export request in OTLP/JSON with these spans (default: one chat turn). */
export function makeTraceRequest(
  spans: readonly Record<string, unknown>[] = [makeSpan()],
  resource: Record<string, unknown> = {},
): Record<string, unknown> {
  const attributes = Object.entries(resource).map(([key, value]) => ({
    key,
    value: toValue(value),
  }));
  return { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans }] }] };
}

/** Converts a value to OTLP/JSON. */
function toValue(value: unknown): Record<string, unknown> {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (Number.isInteger(value)) return { intValue: String(value) };
  return { doubleValue: value };
}

/** Encodes a minimal protobuf request with one chat span, without a library. */
export function makeProtobufRequest(parts: SpanParts = {}): Buffer {
  const { traceId = makeHexId(32), spanId = makeHexId(16), conversationId = 'conv-1' } = parts;
  const { operation = 'chat', startMs = START_MS_DEFAULT, endMs = startMs + 1000 } = parts;
  const attributes = [
    ...(operation === null ? [] : [['gen_ai.operation.name', operation] as const]),
    ...(conversationId === null ? [] : [['gen_ai.conversation.id', conversationId] as const]),
  ];
  const span = Buffer.concat([
    field(1, Buffer.from(traceId, 'hex')),
    field(2, Buffer.from(spanId, 'hex')),
    field(5, Buffer.from('chat')),
    fixed64(7, startMs),
    fixed64(8, endMs),
    ...attributes.map(([key, value]) =>
      field(9, Buffer.concat([field(1, Buffer.from(key)), field(2, field(1, Buffer.from(value)))])),
    ),
  ]);
  return field(1, field(2, field(2, span)));
}

function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([varint((number << 3) | 2), varint(content.length), content]);
}

function fixed64(number: number, ms: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(ms) * 1_000_000n);
  return Buffer.concat([varint((number << 3) | 1), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}
