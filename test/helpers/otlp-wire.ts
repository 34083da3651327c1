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
} from '../../src/contract/index.ts';

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

function number(fieldNumber: number, value: number | bigint): Buffer {
  return Buffer.concat([varint(fieldNumber << 3), varint(value)]);
}

function eightBytes(fieldNumber: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(8);
  write(bytes);
  return Buffer.concat([varint((fieldNumber << 3) | 1), bytes]);
}

function each<Item>(items: readonly Item[] | undefined, write: (item: Item) => Buffer): Buffer {
  return Buffer.concat((items ?? []).map(write));
}

export function protobufOf(request: TraceExportRequest): Buffer {
  return each(request.resourceSpans, (group) => field(1, resourceSpans(group)));
}

function resourceSpans({ resource, scopeSpans }: ResourceSpans): Buffer {
  const attributes = each(resource?.attributes, (pair) => field(1, keyValue(pair)));
  return Buffer.concat([
    resource ? field(1, attributes) : Buffer.alloc(0),
    each(scopeSpans, ({ scope, spans }) =>
      field(
        2,
        Buffer.concat([
          scope ? field(1, field(1, scope.name ?? '')) : Buffer.alloc(0),
          each(spans, (one) => field(2, span(one))),
        ]),
      ),
    ),
  ]);
}

function span(one: Span): Buffer {
  const time = (number: number, ns: string | number | undefined): Buffer =>
    ns === undefined
      ? Buffer.alloc(0)
      : eightBytes(number, (bytes) => bytes.writeBigUInt64LE(BigInt(ns)));
  return Buffer.concat([
    field(1, Buffer.from(one.traceId, 'hex')),
    field(2, Buffer.from(one.spanId, 'hex')),
    field(4, Buffer.from(one.parentSpanId ?? '', 'hex')),
    field(5, one.name ?? ''),
    number(6, 3),
    time(7, one.startTimeUnixNano),
    time(8, one.endTimeUnixNano),
    each(one.attributes, (pair) => field(9, keyValue(pair))),
    field(11, field(2, 'an event, which the service ignores')),
    one.status
      ? field(15, Buffer.concat([field(2, 'why'), number(3, one.status.code ?? 0)]))
      : Buffer.alloc(0),
  ]);
}

function keyValue({ key, value }: KeyValue): Buffer {
  return Buffer.concat([field(1, key), value ? field(2, anyValue(value)) : Buffer.alloc(0)]);
}

function anyValue(value: AnyValue): Buffer {
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue } = value;
  if (stringValue !== undefined) return field(1, stringValue);
  if (boolValue !== undefined) return number(2, boolValue ? 1 : 0);
  if (intValue !== undefined) return number(3, BigInt(intValue));
  if (doubleValue !== undefined) {
    return eightBytes(4, (bytes) => bytes.writeDoubleLE(Number(doubleValue)));
  }
  if (arrayValue)
    return field(
      5,
      each(arrayValue.values, (item) => field(1, anyValue(item))),
    );
  if (kvlistValue)
    return field(
      6,
      each(kvlistValue.values, (pair) => field(1, keyValue(pair))),
    );
  if (value.bytesValue !== undefined) return field(7, Buffer.from(value.bytesValue, 'base64'));
  return Buffer.alloc(0);
}
