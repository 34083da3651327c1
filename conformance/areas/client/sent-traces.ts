import { isUtf8 } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import {
  hasValidIds,
  listAt,
  OPERATION_KEY,
  OtlpError,
  startsAsGzip,
  readConversationId,
  readOperation,
  readTraceRequest,
  type TraceRequest,
  type TraceSpan,
} from '../../../src/contract/index.ts';
import { decodeTraceRequest, listDoubleKeys } from '../../../src/contract/otlp-protobuf.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import { type Exchange, isAccepted, type Transcript } from '../../engine/transcript/reading.ts';
import { findFaultWithoutText } from '../../engine/transcript/json-fault.ts';
import { errorCode } from '../../../src/platform/error-origin.ts';

/** The two formats of a trace request (spec 4.1). */
export type TraceFormat = 'application/json' | 'application/x-protobuf';

/** What a trace request contains. */
type SentTraces =
  | {
      kind: 'read';
      format: TraceFormat;
      spans: readonly TraceSpan[];
      ignoredKeys: readonly string[];
    }
  /** `problem` never quotes the body. */
  | { kind: 'unreadable'; problem: string; cure?: string | undefined }
  /** The body is cut or not recorded, or the headers do not say how to read it. */
  | { kind: 'unknown' };

/** Decodes the body of a trace request according to its headers. */
export const readTraces = computeOnce(decode);

/** Returns the spans of a trace request; an empty list if it can't be read. */
export function spansOf(exchange: Exchange): readonly TraceSpan[] {
  const traces = readTraces(exchange);
  return traces.kind === 'read' ? traces.spans : [];
}

/** Returns the spans of a conversation: those with an operation. The service ignores others. */
export function conversationSpansOf(exchange: Exchange): TraceSpan[] {
  return spansOf(exchange).filter(hasOperation);
}

/** Returns whether a span is part of a conversation. */
export const hasOperation = (span: TraceSpan): boolean => readOperation(span) !== undefined;

/** Returns whether an exchange is a trace request. */
export const isTraces = ({ endpoint }: Exchange): boolean => endpoint === 'traces';

/** Returns the format in the Content-Type of a request; undefined if it is another type. */
export function formatOf({ request }: Exchange): TraceFormat | undefined {
  const [type] = (request.headers['content-type'] ?? '').split(';');
  const name = type?.trim().toLowerCase();
  return name === 'application/json' || name === 'application/x-protobuf' ? name : undefined;
}

/** Returns the Content-Encoding of a request in lower case; `identity` without one. */
export function encodingOf({ request }: Exchange): string {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? '';
  return encoding === '' ? 'identity' : encoding;
}

/** Returns the body of a request as it was sent; undefined if it is not recorded. */
export function bytesOf({ request }: Exchange): Uint8Array | undefined {
  const { body = '', bodyBase64, bodyBytes } = request;
  if (bodyBytes !== undefined) return undefined;
  return bodyBase64 === undefined ? Buffer.from(body) : Buffer.from(bodyBase64, 'base64');
}

/** Maximum size of a decompressed body. Of a larger one, only the size is judged. */
export const INFLATED_BYTES_MAX = 20_000_000;

function decode(exchange: Exchange): SentTraces {
  const format = formatOf(exchange);
  const encoding = encodingOf(exchange);
  const bytes = bytesOf(exchange);
  if (
    !bytes ||
    !format ||
    exchange.request.bodyCut ||
    !['gzip', 'x-gzip', 'identity'].includes(encoding)
  ) {
    return { kind: 'unknown' };
  }
  try {
    const plain = encoding === 'identity' ? bytes : inflate(bytes);
    if (encoding !== 'identity' && startsAsGzip(plain)) throw new BodyError(TWICE, TWICE_CURE);
    const { spans, ignoredKeys } =
      format === 'application/json' ? readJson(plain) : readProtobuf(plain);
    return { kind: 'read', format, spans, ignoredKeys };
  } catch (error) {
    if (error instanceof TooLargeError) return { kind: 'unknown' };
    if (error instanceof BodyError) {
      return { kind: 'unreadable', problem: error.message, cure: error.cure };
    }
    if (error instanceof OtlpError) return { kind: 'unreadable', problem: error.message };
    throw error;
  }
}

class TooLargeError extends Error {}

/** A body that can't be read, and what to do. */
class BodyError extends OtlpError {
  readonly cure: string;

  constructor(message: string, cure: string) {
    super(message);
    this.cure = cure;
  }
}

const TWICE = 'The body is compressed twice: what gunzip returns is gzip data again.';
const TWICE_CURE =
  'Compress the body once. For a retry, either compress the original again, or resend the compressed body unchanged.';

function inflate(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: INFLATED_BYTES_MAX });
  } catch (error) {
    if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') throw new TooLargeError();
    if (startsAsGzip(bytes)) {
      throw new BodyError(
        'The gzip data of the body is incomplete or damaged.',
        'Close the gzip stream before you send its bytes.',
      );
    }
    throw new OtlpError('Content-Encoding is gzip, but the body is not gzip data.');
  }
}

function readJson(bytes: Uint8Array): TraceRequest {
  const buffer = Buffer.from(bytes);
  const body = buffer.toString('utf8');
  const json = isUtf8(bytes) ? parseJson(body) : undefined;
  if (json !== undefined) return readTraceRequest(json);
  if (bytes.length === 0) throw new BodyError('The body is empty.', RESEND_CURE);
  refuseGzip(bytes);
  if (isProtobuf(bytes)) {
    throw new BodyError(
      'The body is protobuf, but Content-Type is application/json.',
      'Send Content-Type: application/x-protobuf with a protobuf body.',
    );
  }
  const fault = findFaultWithoutText({ body, bodyBase64: buffer.toString('base64') });
  if (fault) throw new BodyError(`The body is not JSON: ${fault.reason}.`, `${fault.cure}.`);
  const lines = body.trim().split('\n');
  if (lines.length > 1 && lines.every((line) => parseJson(line) !== undefined)) {
    throw new BodyError(
      `The body is ${lines.length} lines of JSON, not one JSON object.`,
      'Send one object: put the spans of all lines into resourceSpans[].scopeSpans[].spans[].',
    );
  }
  throw new BodyError(
    'The body is not JSON.',
    'Let a JSON encoder write the whole body: if you build it from strings, you must escape quotes, backslashes, and line breaks.',
  );
}

function refuseGzip(bytes: Uint8Array): void {
  if (!startsAsGzip(bytes)) return;
  throw new BodyError(
    'The body is gzip data, but Content-Encoding is not gzip.',
    'Send Content-Encoding: gzip with a compressed body.',
  );
}

function readProtobuf(bytes: Uint8Array): TraceRequest {
  try {
    return decodeTraceRequest(bytes);
  } catch (error) {
    if (!(error instanceof OtlpError)) throw error;
    refuseGzip(bytes);
    const buffer = Buffer.from(bytes);
    if (/^\s*[[{]/.test(buffer.toString('latin1', 0, 100))) {
      throw new BodyError(
        'The body is JSON, but Content-Type is application/x-protobuf.',
        'Send Content-Type: application/json with a JSON body.',
      );
    }
    if (isGrpcFrame(buffer)) {
      throw new BodyError(
        'The body starts with the 5-byte header of a gRPC message: a flag and the length.',
        'Send only the message, or use an exporter for OTLP over HTTP: this is not a gRPC endpoint.',
      );
    }
    throw error;
  }
}

/** Returns whether bytes are one message of gRPC: a flag for compression, its length, and the message. */
const isGrpcFrame = (bytes: Buffer): boolean =>
  bytes.length > 5 && (bytes[0] ?? 2) <= 1 && bytes.readUInt32BE(1) === bytes.length - 5;

/** Returns whether bytes are a trace request in protobuf. Other bytes can be one without spans. */
function isProtobuf(bytes: Uint8Array): boolean {
  try {
    return decodeTraceRequest(bytes).spans.length > 0;
  } catch (error) {
    if (error instanceof OtlpError) return false;
    throw error;
  }
}

/** What to do if a body is empty that had spans before. */
export const RESEND_CURE =
  'Send the body with every attempt: a stream is empty after it was read once, so keep its bytes.';

/** Returns the JSON of an OTLP/JSON request as sent; undefined for other requests. */
export function rawJsonOf(exchange: Exchange): unknown {
  if (formatOf(exchange) !== 'application/json') return undefined;
  const bytes = plainBytesOf(exchange);
  return bytes && parseJson(Buffer.from(bytes).toString('utf8'));
}

/** A span of an OTLP/JSON request as sent, and where it is. */
interface RawSpan {
  span: Readonly<Record<string, unknown>>;
  place: string;
}

/** Returns the spans of an OTLP/JSON request as sent; an empty list for other requests. */
export function rawSpansOf(exchange: Exchange): RawSpan[] {
  return listAt(rawJsonOf(exchange), '/resourceSpans').flatMap((resource, group) =>
    listAt(resource, '/scopeSpans').flatMap((scoped, scope) =>
      listAt(scoped, '/spans').flatMap((span, index) => {
        const place = `resourceSpans[${group}].scopeSpans[${scope}].spans[${index}]`;
        return isObject(span) ? [{ span, place }] : [];
      }),
    ),
  );
}

/** Returns the decompressed body of a request; undefined if it can't be read. */
function plainBytesOf(exchange: Exchange): Uint8Array | undefined {
  const bytes = bytesOf(exchange);
  try {
    return bytes && encodingOf(exchange) !== 'identity' ? inflate(bytes) : bytes;
  } catch {
    return undefined;
  }
}

/** Returns the name of an event with text, by the id of its span, in an OTLP/JSON request. */
export const eventTextsOf = computeOnce((exchange: Exchange): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>();
  for (const { span } of rawSpansOf(exchange)) {
    const event = listAt(span, '/events').find(hasText);
    const { spanId } = span;
    if (typeof spanId !== 'string' || !isObject(event)) continue;
    texts.set(spanId.toLowerCase(), String(event['name']));
  }
  return texts;
});

/** Attributes of `gen_ai` events with the text of a message. */
const EVENT_TEXT =
  /^(content|message|gen_ai\.(prompt|completion|event\.content|(input|output)\.messages))$/;

const hasText = (event: unknown): boolean =>
  isObject(event) &&
  /^gen_ai\.[\w.]+$/.test(String(event['name'])) &&
  listAt(event, '/attributes').some((attribute) => {
    if (!isObject(attribute) || !EVENT_TEXT.test(String(attribute['key']))) return false;
    const { value } = attribute;
    return (
      isObject(value) && typeof value['stringValue'] === 'string' && value['stringValue'] !== ''
    );
  });

/** Returns the keys of span attributes that a trace request sends as `doubleValue`. */
export function doubleKeysOf(exchange: Exchange): ReadonlySet<string> {
  const traces = readTraces(exchange);
  if (traces.kind !== 'read') return new Set();
  if (traces.format === 'application/x-protobuf') {
    return listDoubleKeys(plainBytesOf(exchange) ?? new Uint8Array());
  }
  const attributes = rawSpansOf(exchange).flatMap(({ span }) => listAt(span, '/attributes'));
  return new Set(
    attributes.flatMap((attribute) => {
      if (!isObject(attribute) || typeof attribute['key'] !== 'string') return [];
      const { key, value } = attribute;
      return isObject(value) && value['doubleValue'] !== undefined ? [key] : [];
    }),
  );
}

/** Returns the name of a span in findings, without any content: `chat span 00f067aa0ba902b7`. */
export function nameSpan({ attributes, spanId }: TraceSpan): string {
  const operation = attributes[OPERATION_KEY];
  // A value of another form might contain text of the conversation.
  const kind = typeof operation === 'string' && /^\w{1,40}$/.test(operation) ? operation : '';
  const id = /^[\da-f]{1,16}$/.test(spanId) ? ` ${spanId}` : '';
  return `${kind} span${id}`.trim();
}

/** Identifies a span among all spans of a recording. */
export const spanKeyOf = ({ traceId, spanId }: TraceSpan): string => `${traceId}/${spanId}`;

/** Returns the conversation id in the header of a request. */
export function headerConversationOf({ request }: Exchange): string | undefined {
  const id = request.headers['x-conversation-id']?.trim();
  return id === '' ? undefined : id;
}

/** Returns whether a request names a conversation, in its header or on one of its spans. */
export const hasConversation = (exchange: Exchange): boolean =>
  headerConversationOf(exchange) !== undefined ||
  conversationSpansOf(exchange).some((span) => readConversationId(span) !== undefined);

/**
 * Returns the conversation id of each span that has one: from its attribute, from the header of its
 * request, or from another span of its trace.
 */
export const conversationsOf = computeOnce(
  (transcript: Transcript): ReadonlyMap<TraceSpan, string> => {
    const byTrace = new Map<string, string>();
    const requests = transcript.exchanges.filter(isTraces);
    for (const span of requests.flatMap(spansOf)) {
      const id = readConversationId(span);
      if (id !== undefined && !byTrace.has(span.traceId)) byTrace.set(span.traceId, id);
    }
    const conversations = new Map<TraceSpan, string>();
    for (const exchange of requests) {
      const header = headerConversationOf(exchange);
      for (const span of conversationSpansOf(exchange)) {
        const id = readConversationId(span) ?? header ?? byTrace.get(span.traceId);
        if (id !== undefined) conversations.set(span, id);
      }
    }
    return conversations;
  },
);

/** When the service first stored a span with a conversation, by trace id; in milliseconds of the run. */
const storedTracesOf = computeOnce(({ exchanges }: Transcript): ReadonlyMap<string, number> => {
  const stored = new Map<string, number>();
  for (const exchange of exchanges.filter(isTraces).filter(isAccepted)) {
    const header = headerConversationOf(exchange);
    for (const span of conversationSpansOf(exchange)) {
      const isNamed = header !== undefined || readConversationId(span) !== undefined;
      if (isNamed && !stored.has(span.traceId)) stored.set(span.traceId, exchange.endedMs);
    }
  }
  return stored;
});

/**
 * Returns the spans that the service drops from an accepted request: neither they, nor another span of
 * their trace that it knows by then, name their conversation.
 */
export function droppedSpansOf(exchange: Exchange, transcript: Transcript): TraceSpan[] {
  if (!isAccepted(exchange) || headerConversationOf(exchange) !== undefined) return [];
  const named = new Set(
    spansOf(exchange).flatMap((span) =>
      readConversationId(span) === undefined ? [] : span.traceId,
    ),
  );
  const stored = storedTracesOf(transcript);
  return conversationSpansOf(exchange).filter((span) => {
    const isKnown = (stored.get(span.traceId) ?? Infinity) <= exchange.endedMs;
    return hasValidIds(span) && !named.has(span.traceId) && !isKnown;
  });
}

/** Returns all spans of conversations, by trace id. Each span occurs once, although it may be sent twice. */
export const tracesOf = computeOnce(
  ({ exchanges }: Transcript): ReadonlyMap<string, readonly TraceSpan[]> => {
    const byKey = new Map<string, TraceSpan>();
    for (const span of exchanges.filter(isTraces).flatMap(conversationSpansOf)) {
      const key = spanKeyOf(span);
      if (!byKey.has(key)) byKey.set(key, span);
    }
    return Map.groupBy(byKey.values(), ({ traceId }) => traceId);
  },
);
