/** How a trace export request is encoded (spec 4.1). */
import { gzipSync } from 'node:zlib';
import type { Step } from '../../engine/probe.ts';
import { UNKNOWN_FIELD, type Attribute, type Span, type TraceExport } from './spans.ts';

const PROTOBUF_TYPE = { 'content-type': 'application/x-protobuf' };
const GZIP_ENCODING = { 'content-encoding': 'gzip' };

/** The encodings that `POST /v1/traces` accepts (spec 4.1). */
export const encodings = {
  json: (request) => ({ body: { json: request } }),
  escapedJson: (request) => ({ body: { text: escapeUnicode(JSON.stringify(request)) } }),
  protobuf: (request) => ({ body: { bytes: encodeProtobuf(request) }, headers: PROTOBUF_TYPE }),
  gzip: (request) => ({
    body: { bytes: gzipSync(JSON.stringify(request)) },
    headers: GZIP_ENCODING,
  }),
  gzipOfTwoMembers: (request) => ({
    body: { bytes: compressInParts(JSON.stringify(request)) },
    headers: GZIP_ENCODING,
  }),
  gzipInChunks: (request) => ({
    body: { bytes: gzipSync(JSON.stringify(request)) },
    headers: { ...GZIP_ENCODING, 'transfer-encoding': 'chunked' },
  }),
  protobufWithUnknownFields: (request) => ({
    body: { bytes: encodeProtobuf(request, unknownFields()) },
    headers: PROTOBUF_TYPE,
  }),
  gzipProtobuf: (request) => ({
    body: { bytes: gzipSync(encodeProtobuf(request)) },
    headers: { ...PROTOBUF_TYPE, ...GZIP_ENCODING },
  }),
} satisfies Record<string, (request: TraceExport) => Pick<Step, 'body' | 'headers'>>;

/** One of these encodings. */
export type Encoding = keyof typeof encodings;

/** Compresses the halves of a text one after the other: a gzip file may have several members (RFC 1952, 2.2). */
function compressInParts(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  const middle = Math.ceil(bytes.length / 2);
  return Buffer.concat(
    [bytes.subarray(0, middle), bytes.subarray(middle)].map((part) => gzipSync(part)),
  );
}

/** Escapes the letters of a JSON text outside ASCII, as many programs do: an emoji becomes a pair of escapes. */
const escapeUnicode = (json: string): string =>
  json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Encodes a trace export request as protobuf, with the field numbers of opentelemetry-proto. It is
 * independent of the OTLP codec because the checks decode recorded requests with that codec.
 */
function encodeProtobuf({ resourceSpans }: TraceExport, others: Buffer = NOTHING): Uint8Array {
  const groups = resourceSpans.map(({ resource, scopeSpans }) =>
    encodeMessage(
      1,
      encodeMessage(1, ...resource.attributes.map((tag) => encodeAttribute(1, tag)), others),
      ...scopeSpans.map(({ spans }) =>
        encodeMessage(2, ...spans.map((span) => encodeSpan(span, others)), others),
      ),
      others,
    ),
  );
  return Buffer.concat([...groups, others]);
}

const NOTHING = Buffer.alloc(0);

/** Encodes fields of each wire type with numbers that OTLP does not use. */
const unknownFields = (): Buffer =>
  Buffer.concat([
    encodeVarintField(1901, 300n),
    encodeFixed64(1902, '1'),
    encodeBytes(1903, Buffer.from(UNKNOWN_FIELD)),
  ]);

function encodeSpan(span: Span, others: Buffer): Buffer {
  const { parentSpanId, status, events = [], links = [] } = span;
  return encodeMessage(
    2,
    encodeBytes(1, Buffer.from(span.traceId, 'hex')),
    encodeBytes(2, Buffer.from(span.spanId, 'hex')),
    ...(parentSpanId === undefined ? [] : [encodeBytes(4, Buffer.from(parentSpanId, 'hex'))]),
    encodeBytes(5, Buffer.from(span.name)),
    encodeFixed64(7, span.startTimeUnixNano),
    encodeFixed64(8, span.endTimeUnixNano),
    ...span.attributes.map((attribute) => encodeAttribute(9, attribute)),
    ...events.map(({ timeUnixNano, name, attributes }) =>
      encodeMessage(
        11,
        encodeFixed64(1, timeUnixNano),
        encodeBytes(2, Buffer.from(name)),
        ...attributes.map((attribute) => encodeAttribute(3, attribute)),
      ),
    ),
    ...links.map(({ traceId, spanId, attributes }) =>
      encodeMessage(
        13,
        encodeBytes(1, Buffer.from(traceId, 'hex')),
        encodeBytes(2, Buffer.from(spanId, 'hex')),
        ...attributes.map((attribute) => encodeAttribute(4, attribute)),
      ),
    ),
    ...(status ? [encodeMessage(15, encodeVarintField(3, BigInt(status.code)))] : []),
    others,
  );
}

function encodeAttribute(field: number, { key, value }: Attribute): Buffer {
  const anyValue =
    'stringValue' in value
      ? encodeBytes(1, Buffer.from(value.stringValue))
      : 'intValue' in value
        ? encodeVarintField(3, BigInt(value.intValue))
        : NOTHING;
  return encodeMessage(field, encodeBytes(1, Buffer.from(key)), encodeMessage(2, anyValue));
}

function encodeMessage(field: number, ...parts: Buffer[]): Buffer {
  return encodeBytes(field, Buffer.concat(parts));
}

function encodeBytes(field: number, content: Buffer): Buffer {
  const tag = encodeVarint(BigInt((field << 3) | 2));
  return Buffer.concat([tag, encodeVarint(BigInt(content.length)), content]);
}

function encodeVarintField(field: number, value: bigint): Buffer {
  return Buffer.concat([encodeVarint(BigInt(field << 3)), encodeVarint(value)]);
}

function encodeFixed64(field: number, digits: string): Buffer {
  const content = Buffer.alloc(8);
  content.writeBigUInt64LE(BigInt(digits));
  return Buffer.concat([encodeVarint(BigInt((field << 3) | 1)), content]);
}

function encodeVarint(value: bigint): Buffer {
  const groups: number[] = [];
  let rest = value;
  do {
    const group = Number(rest & 0x7fn);
    rest >>= 7n;
    groups.push(rest > 0n ? group | 0x80 : group);
  } while (rest > 0n);
  return Buffer.from(groups);
}
