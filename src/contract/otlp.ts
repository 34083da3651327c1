/** OTLP trace export on the wire (spec 4.1). The only owner of protobufjs. */
import protobuf, { type Reader, type Type } from 'protobufjs/light.js';
import { otlpProto } from './generated/otlp-proto.ts';
import {
  Budget,
  doubleValue,
  integerValue,
  OtlpError,
  statusCodeOf,
  type Attributes,
  type AttributeValue,
  type TraceRequest,
  type TraceSpan,
} from './otlp-request.ts';

const root = protobuf.Root.fromJSON(otlpProto).resolveAll();
const requestType = root.lookupType('ExportTraceServiceRequest');
const responseType = root.lookupType('ExportTraceServiceResponse');
const statusType = root.lookupType('RpcStatus');
const spanType = root.lookupType('Span');

/**
 * Reads a protobuf trace export request. Throws an OtlpError when the bytes are none, or hold more
 * than `otlpLimits` allows; that is found before anything is built from them.
 */
export function decodeTraceRequest(bytes: Uint8Array): TraceRequest {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  survey(buffer);
  return { spans: spansOf(decode(buffer)), ignoredKeys: [] };
}

/** The answer to a request whose spans were all taken: no bytes at all. */
export function encodeTraceResponse(): Uint8Array {
  return responseType.encode(responseType.create({})).finish();
}

/** A google.rpc.Status with a message: the body of a refusal of a protobuf request. */
export function encodeStatus(message: string): Uint8Array {
  return statusType.encode(statusType.create({ message })).finish();
}

/** Walks through all messages without building any, so that a small bomb stays small. */
function survey(buffer: Buffer): void {
  const reader = protobuf.Reader.create(buffer);
  const place: string[] = [];
  try {
    surveyMessage({ reader, place, budget: new Budget() }, requestType, reader.len);
  } catch (error) {
    if (error instanceof OtlpError) throw error;
    throw unreadable(`cut off or damaged at byte ${reader.pos}`, place);
  }
}

interface Survey {
  reader: Reader;
  budget: Budget;
  /** Names of the fields that lead to where the reader is. */
  place: string[];
}

function surveyMessage(walk: Survey, type: Type, end: number): void {
  const { reader, budget, place } = walk;
  while (reader.pos < end) {
    const tag = reader.tag();
    const field = type.fieldsById[tag >>> 3];
    if ((tag & 7) !== 2 || !(field?.resolvedType instanceof protobuf.Type)) {
      reader.skipType(tag & 7, 0, tag >>> 3);
      continue;
    }
    const inner = field.resolvedType;
    place.push(field.name);
    const innerEnd = reader.size() + reader.pos;
    if (innerEnd > end) throw new RangeError('longer than what holds it');
    if (inner === spanType) budget.enterSpan(place.length);
    else budget.enter(place.length);
    surveyMessage(walk, inner, innerEnd);
    place.pop();
  }
  if (reader.pos !== end) throw new RangeError('longer than what holds it');
}

function decode(buffer: Buffer): WireRequest {
  try {
    return requestType.decode(buffer) as unknown as WireRequest;
  } catch {
    throw unreadable('a string in it is not UTF-8, or a field has the wrong type', []);
  }
}

function unreadable(why: string, place: readonly string[]): OtlpError {
  const where = place.length > 0 ? ` (${place.slice(0, 8).join('.')})` : '';
  return new OtlpError(`the body is not a protobuf ExportTraceServiceRequest: ${why}${where}`);
}

/** Messages as protobufjs gives them: missing scalars are their defaults, missing messages null. */
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
  status?: { code: number } | null;
}

interface WirePair {
  key: string;
  value?: WireValue | null;
}

/** The two halves of a 64-bit integer. */
interface WireInteger {
  low: number;
  high: number;
}

/** The one field that is set is an own property; the others are inherited defaults. */
interface WireValue {
  stringValue: string;
  boolValue: boolean;
  intValue: WireInteger;
  doubleValue: number;
  arrayValue: { values: WireValue[] };
  kvlistValue: { values: WirePair[] };
  bytesValue: Uint8Array;
}

function spansOf(request: WireRequest): TraceSpan[] {
  return request.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const shared = attributesOf(resource?.attributes ?? []);
    return scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({ ...spanOf(span), resource: shared, scope: scope?.name ?? '' })),
    );
  });
}

function spanOf(span: WireSpan): Omit<TraceSpan, 'resource' | 'scope'> {
  return {
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentSpanId: hex(span.parentSpanId),
    name: span.name,
    startNs: BigInt.asUintN(64, bigintOf(span.startTimeUnixNano)),
    endNs: BigInt.asUintN(64, bigintOf(span.endTimeUnixNano)),
    statusCode: statusCodeOf(span.status?.code ?? 0),
    attributes: attributesOf(span.attributes),
  };
}

const NONE: Attributes = Object.freeze({});

function attributesOf(pairs: readonly WirePair[]): Attributes {
  return pairs.length === 0 ? NONE : objectOf(pairs);
}

function objectOf(pairs: readonly WirePair[]): Record<string, AttributeValue> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value ? valueOf(value) : null]));
}

function valueOf(wire: WireValue): AttributeValue {
  // Asking protobufjs which field of the oneof is set would take as long as all the rest together.
  switch (Object.keys(wire)[0]) {
    case 'stringValue':
      return wire.stringValue;
    case 'boolValue':
      return wire.boolValue;
    case 'intValue':
      return integerValue(bigintOf(wire.intValue));
    case 'doubleValue':
      return doubleValue(wire.doubleValue);
    case 'arrayValue':
      return wire.arrayValue.values.map(valueOf);
    case 'kvlistValue':
      return objectOf(wire.kvlistValue.values);
    case 'bytesValue':
      return Buffer.from(wire.bytesValue).toString('base64');
    case undefined:
    default:
      return null;
  }
}

function bigintOf({ low, high }: WireInteger): bigint {
  return (BigInt(high | 0) << 32n) | BigInt(low >>> 0);
}

function hex(bytes: Uint8Array): string {
  // Where the field is missing, this is an empty array and no Uint8Array.
  if (bytes.length === 0) return '';
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
