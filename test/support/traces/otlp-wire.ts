/**
 * Encodes an OTLP/JSON trace export request as protobuf with the published field numbers and without
 * a library, so that the tests do not depend on our own field definitions.
 */
import type {
  AnyValue,
  KeyValue,
  ResourceSpans,
  Span,
  TraceExportRequest,
} from '../../../src/contract/index.ts';

/** Encodes a varint; negative numbers as 64-bit two's complement. */
export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

/** Encodes a field that contains bytes, text, or a message. */
export function field(number: number, content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

function varintField(fieldNumber: number, value: number | bigint): Buffer {
  return Buffer.concat([varint(fieldNumber << 3), varint(value)]);
}

function fixed64Field(fieldNumber: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(8);
  write(bytes);
  return Buffer.concat([varint((fieldNumber << 3) | 1), bytes]);
}

function concatEach<Item>(
  items: readonly Item[] | undefined,
  write: (item: Item) => Buffer,
): Buffer {
  return Buffer.concat((items ?? []).map(write));
}

export function encodeProtobuf(request: TraceExportRequest): Buffer {
  return concatEach(request.resourceSpans, (group) => field(1, encodeResourceSpans(group)));
}

function encodeResourceSpans({ resource, scopeSpans }: ResourceSpans): Buffer {
  const attributes = concatEach(resource?.attributes, (pair) => field(1, encodeKeyValue(pair)));
  return Buffer.concat([
    resource ? field(1, attributes) : Buffer.alloc(0),
    concatEach(scopeSpans, ({ scope, spans }) =>
      field(
        2,
        Buffer.concat([
          scope ? field(1, field(1, scope.name ?? '')) : Buffer.alloc(0),
          concatEach(spans, (span) => field(2, encodeSpan(span))),
        ]),
      ),
    ),
  ]);
}

/** A span with events, of which the service reads only the names. */
export interface SpanWithEvents extends Span {
  events?: readonly { name: string }[];
}

function encodeSpan(span: SpanWithEvents): Buffer {
  const time = (number: number, ns: string | number | undefined): Buffer =>
    ns === undefined
      ? Buffer.alloc(0)
      : fixed64Field(number, (bytes) => bytes.writeBigUInt64LE(BigInt(ns)));
  return Buffer.concat([
    field(1, Buffer.from(span.traceId, 'hex')),
    field(2, Buffer.from(span.spanId, 'hex')),
    field(4, Buffer.from(span.parentSpanId ?? '', 'hex')),
    field(5, span.name ?? ''),
    varintField(6, 3),
    time(7, span.startTimeUnixNano),
    time(8, span.endTimeUnixNano),
    concatEach(span.attributes, (pair) => field(9, encodeKeyValue(pair))),
    field(11, field(2, 'an event, which the service ignores')),
    concatEach(span.events, ({ name }) =>
      field(11, Buffer.concat([field(2, name), field(3, 'x')])),
    ),
    span.status
      ? field(15, Buffer.concat([field(2, 'why'), varintField(3, span.status.code ?? 0)]))
      : Buffer.alloc(0),
  ]);
}

function encodeKeyValue({ key, value }: KeyValue): Buffer {
  return Buffer.concat([field(1, key), value ? field(2, encodeAnyValue(value)) : Buffer.alloc(0)]);
}

function encodeAnyValue(value: AnyValue): Buffer {
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue } = value;
  if (stringValue !== undefined) return field(1, stringValue);
  if (boolValue !== undefined) return varintField(2, boolValue ? 1 : 0);
  if (intValue !== undefined) return varintField(3, BigInt(intValue));
  if (doubleValue !== undefined) {
    return fixed64Field(4, (bytes) => bytes.writeDoubleLE(Number(doubleValue)));
  }
  if (arrayValue)
    return field(
      5,
      concatEach(arrayValue.values, (item) => field(1, encodeAnyValue(item))),
    );
  if (kvlistValue)
    return field(
      6,
      concatEach(kvlistValue.values, (pair) => field(1, encodeKeyValue(pair))),
    );
  if (value.bytesValue !== undefined) return field(7, Buffer.from(value.bytesValue, 'base64'));
  return Buffer.alloc(0);
}
