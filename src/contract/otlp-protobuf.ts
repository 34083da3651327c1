/**
 * Reads and writes OTLP trace export in protobuf (spec 4.1). At run time, only this module uses
 * protobufjs.
 */
import { createRequire } from 'node:module';
import type protobuf from 'protobufjs/light.js';
import { otlpProto } from './generated/otlp-proto.ts';
import {
  noAttributes,
  RequestBudget,
  selectEventNames,
  toDoubleValue,
  toIntegerValue,
  OtlpError,
  toStatusCode,
  type Attributes,
  type AttributeValue,
  type TraceRequest,
  type TraceSpan,
} from './otlp-request.ts';

const requireLibrary = createRequire(import.meta.url);

type MessageTypes = ReturnType<typeof createTypes>;
let types: MessageTypes | undefined;

/** Loads protobufjs when the first message is read or written: that takes 10 ms, and most checks need none. */
function loadTypes(): MessageTypes {
  return (types ??= createTypes());
}

function createTypes() {
  const { Reader, Root, Type } = requireLibrary('protobufjs/light.js') as typeof protobuf;
  const root = Root.fromJSON(otlpProto).resolveAll();
  return {
    Reader,
    Type,
    request: root.lookupType('ExportTraceServiceRequest'),
    response: root.lookupType('ExportTraceServiceResponse'),
    span: root.lookupType('Span'),
  };
}

/**
 * Reads a protobuf trace export request. Checks the limits before it builds any object.
 * @throws OtlpError if the bytes are invalid or exceed `otlpLimits`.
 */
export function decodeTraceRequest(bytes: Uint8Array): TraceRequest {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  checkLimits(buffer);
  return { spans: toSpans(decodeRequest(buffer)), ignoredKeys: [] };
}

/**
 * Returns the keys of span attributes that a request sends as `doubleValue`: `decodeTraceRequest` gives
 * integers and doubles the same form.
 * @throws OtlpError if the bytes are invalid or exceed `otlpLimits`.
 */
export function listDoubleKeys(bytes: Uint8Array): ReadonlySet<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  checkLimits(buffer);
  const spans = decodeRequest(buffer).resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap((scoped) => scoped.spans),
  );
  const pairs = spans.flatMap(({ attributes }) => attributes);
  return new Set(
    pairs.flatMap(({ key, value }) => (value && Object.hasOwn(value, 'doubleValue') ? [key] : [])),
  );
}

/** Spans of a request that were not stored although the others were, and why. */
export interface PartialSuccess {
  rejectedSpans: number;
  errorMessage: string;
}

/** Encodes the response to an accepted request some of whose spans were not stored. */
export function encodeTraceResponse(partialSuccess: PartialSuccess): Uint8Array {
  const { response } = loadTypes();
  return response.encode(response.create({ partialSuccess })).finish();
}

/** Visits all messages without building objects, so a small hostile body can't exhaust memory. */
function checkLimits(buffer: Buffer): void {
  const { Reader, request } = loadTypes();
  const reader = Reader.create(buffer);
  const path: string[] = [];
  try {
    checkMessage({ reader, path, budget: new RequestBudget() }, request, reader.len);
  } catch (error) {
    if (error instanceof OtlpError) throw error;
    throw decodeError(`it is truncated or damaged at byte ${reader.pos}`, path);
  }
}

interface CheckState {
  reader: protobuf.Reader;
  budget: RequestBudget;
  /** Names of the fields from the request to the current message. */
  path: string[];
}

function checkMessage(state: CheckState, type: protobuf.Type, end: number): void {
  const { reader, budget, path } = state;
  const { Type, span } = loadTypes();
  while (reader.pos < end) {
    const tag = reader.tag();
    const field = type.fieldsById[tag >>> 3];
    if ((tag & 7) !== 2 || !(field?.resolvedType instanceof Type)) {
      reader.skipType(tag & 7, 0, tag >>> 3);
      continue;
    }
    const inner = field.resolvedType;
    path.push(field.name);
    const innerEnd = reader.size() + reader.pos;
    if (innerEnd > end) throw new RangeError('exceeds the enclosing message');
    if (inner === span) budget.countSpan(path.length);
    else budget.countMessage(path.length);
    checkMessage(state, inner, innerEnd);
    path.pop();
  }
  if (reader.pos !== end) throw new RangeError('exceeds the enclosing message');
}

function decodeRequest(buffer: Buffer): WireRequest {
  try {
    return loadTypes().request.decode(buffer) as unknown as WireRequest;
  } catch {
    throw decodeError('a string is not UTF-8, or a field has the wrong type', []);
  }
}

function decodeError(reason: string, path: readonly string[]): OtlpError {
  const where = path.length > 0 ? ` (${path.slice(0, 8).join('.')})` : '';
  return new OtlpError(
    `The body is not a valid protobuf ExportTraceServiceRequest: ${reason}${where}.`,
  );
}

/** Messages as protobufjs decodes them: missing scalars have defaults, missing messages are null. */
interface WireRequest {
  resourceSpans: { resource?: WireAttributes | null; scopeSpans: WireScopeSpans[] }[];
}

interface WireScopeSpans {
  scope?: { name: string } | null;
  spans: WireSpan[];
}

interface WireAttributes {
  attributes: WirePair[];
}

interface WireSpan extends WireAttributes {
  traceId: Uint8Array;
  spanId: Uint8Array;
  parentSpanId: Uint8Array;
  name: string;
  startTimeUnixNano: WireInteger;
  endTimeUnixNano: WireInteger;
  events: { name: Uint8Array }[];
  status?: { code: number } | null;
}

interface WirePair {
  key: string;
  value?: WireValue | null;
}

/** A 64-bit integer in two halves. */
interface WireInteger {
  low: number;
  high: number;
}

/** Exactly the field that is set is an own property; the others are inherited defaults. */
interface WireValue {
  stringValue: string;
  boolValue: boolean;
  intValue: WireInteger;
  doubleValue: number;
  arrayValue: { values: WireValue[] };
  kvlistValue: { values: WirePair[] };
  bytesValue: Uint8Array;
}

function toSpans(request: WireRequest): TraceSpan[] {
  return request.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const shared = toAttributes(resource?.attributes ?? []);
    return scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({ ...toSpan(span), resource: shared, scope: scope?.name ?? '' })),
    );
  });
}

function toSpan(span: WireSpan): Omit<TraceSpan, 'resource' | 'scope'> {
  return {
    traceId: toHex(span.traceId),
    spanId: toHex(span.spanId),
    parentSpanId: toHex(span.parentSpanId),
    name: span.name,
    startNs: BigInt.asUintN(64, toBigint(span.startTimeUnixNano)),
    endNs: BigInt.asUintN(64, toBigint(span.endTimeUnixNano)),
    statusCode: toStatusCode(span.status?.code ?? 0),
    attributes: toAttributes(span.attributes),
    ...(span.events.length > 0 && selectEventNames(span.events.map(({ name }) => toText(name)))),
  };
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}

function toAttributes(pairs: readonly WirePair[]): Attributes {
  return pairs.length === 0 ? noAttributes : toObject(pairs);
}

function toObject(pairs: readonly WirePair[]): Record<string, AttributeValue> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value ? toValue(value) : null]));
}

function toValue(wire: WireValue): AttributeValue {
  // The own key is the oneof field that is set. Asking protobufjs would double the decoding time.
  switch (Object.keys(wire)[0]) {
    case 'stringValue':
      return wire.stringValue;
    case 'boolValue':
      return wire.boolValue;
    case 'intValue':
      return toIntegerValue(toBigint(wire.intValue));
    case 'doubleValue':
      return toDoubleValue(wire.doubleValue);
    case 'arrayValue':
      return wire.arrayValue.values.map(toValue);
    case 'kvlistValue':
      return toObject(wire.kvlistValue.values);
    case 'bytesValue':
      return Buffer.from(wire.bytesValue).toString('base64');
    case undefined:
    default:
      return null;
  }
}

function toBigint({ low, high }: WireInteger): bigint {
  return (BigInt(high | 0) << 32n) | BigInt(low >>> 0);
}

function toHex(bytes: Uint8Array): string {
  // A missing field is an empty Array, not a Uint8Array.
  if (bytes.length === 0) return '';
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
