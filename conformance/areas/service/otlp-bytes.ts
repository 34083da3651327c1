import type { Attribute, Span, TraceExport } from './spans.ts';

/**
 * A trace export request as protobuf, by the field numbers of opentelemetry-proto. Written here, so
 * that the judge does not read with the code that it wrote with.
 */
export function toProtobuf({ resourceSpans }: TraceExport): Uint8Array {
  return Buffer.concat(
    resourceSpans.map(({ resource, scopeSpans }) =>
      message(
        1,
        message(1, ...resource.attributes.map((one) => attribute(1, one))),
        ...scopeSpans.map(({ spans }) => message(2, ...spans.map(spanOf))),
      ),
    ),
  );
}

function spanOf(span: Span): Buffer {
  return message(
    2,
    bytes(1, Buffer.from(span.traceId, 'hex')),
    bytes(2, Buffer.from(span.spanId, 'hex')),
    ...(span.parentSpanId === undefined ? [] : [bytes(4, Buffer.from(span.parentSpanId, 'hex'))]),
    bytes(5, Buffer.from(span.name)),
    fixed(7, span.startTimeUnixNano),
    fixed(8, span.endTimeUnixNano),
    ...span.attributes.map((one) => attribute(9, one)),
    ...(span.status ? [message(15, varintField(3, BigInt(span.status.code)))] : []),
  );
}

function attribute(field: number, { key, value }: Attribute): Buffer {
  const any =
    'stringValue' in value
      ? bytes(1, Buffer.from(value.stringValue))
      : 'intValue' in value
        ? varintField(3, BigInt(value.intValue))
        : Buffer.alloc(0);
  return message(field, bytes(1, Buffer.from(key)), message(2, any));
}

function message(field: number, ...parts: Buffer[]): Buffer {
  return bytes(field, Buffer.concat(parts));
}

function bytes(field: number, content: Buffer): Buffer {
  return Buffer.concat([varint(BigInt((field << 3) | 2)), varint(BigInt(content.length)), content]);
}

function varintField(field: number, value: bigint): Buffer {
  return Buffer.concat([varint(BigInt(field << 3)), varint(value)]);
}

function fixed(field: number, digits: string): Buffer {
  const content = Buffer.alloc(8);
  content.writeBigUInt64LE(BigInt(digits));
  return Buffer.concat([varint(BigInt((field << 3) | 1)), content]);
}

function varint(value: bigint): Buffer {
  const groups: number[] = [];
  let rest = value;
  do {
    const group = Number(rest & 0x7fn);
    rest >>= 7n;
    groups.push(rest > 0n ? group | 0x80 : group);
  } while (rest > 0n);
  return Buffer.from(groups);
}
