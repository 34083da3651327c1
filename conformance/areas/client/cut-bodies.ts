/** Trace requests whose body ends before it is complete: the service waits for the rest, and stores nothing. */
import { constants, gunzipSync } from 'node:zlib';
import { formatCount } from '../../../src/report-kit/format.ts';
import { requestBytesOf } from '../../engine/transcript/body-length.ts';
import { type Exchange, isAccepted, type Transcript } from '../../engine/transcript/reading.ts';
import type { Fault } from './checks.ts';
import { bytesOf, encodingOf, INFLATED_BYTES_MAX, isTraces, spansOf } from './sent-traces.ts';

/** Returns whether the body of a request was not complete when the client closed the connection, or the run ended. */
export const isCut = ({ request }: Exchange): boolean => request.bodyCut === true;

/** Returns the fault of a body that is cut, unless a later request may have delivered its spans. */
export function findCut(exchange: Exchange, transcript: Transcript): Fault | undefined {
  if (!isCut(exchange) || isDeliveredLater(exchange, transcript)) return undefined;
  const bytes = requestBytesOf(exchange);
  const length = lengthOf(exchange);
  const isOpen = exchange.failure?.kind === 'timeout';
  const lost = 'The service stores nothing from an incomplete body.';
  const upload =
    'If it is correct, the upload was interrupted: check the timeout of the client, and wait for the result before the process exits.';
  if (length === undefined) {
    return {
      expected: 'a chunked body that ends with a chunk of length 0',
      received: `no such chunk after ${formatBytes(bytes)}: ${isOpen ? 'the run ended' : 'the client closed the connection'}`,
      hint: `${lost} Close the stream of the body, so that the HTTP library sends the last chunk.`,
    };
  }
  return {
    expected: `the ${formatBytes(length)} that Content-Length announces`,
    received: isOpen
      ? `${formatBytes(bytes)} when the run ended`
      : `${formatBytes(bytes)}, and then the client closed the connection`,
    hint: `${lost} Check that Content-Length is the number of bytes that you send: after encoding as UTF-8, and after compression. ${upload}`,
  };
}

const formatBytes = (bytes: number): string => formatCount(bytes, 'byte');

/** Returns the Content-Length of a request; undefined if its body is chunked. */
function lengthOf({ request }: Exchange): number | undefined {
  const length = request.headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/**
 * Returns whether later requests may have delivered the spans of a body that is cut: one has the same
 * length, they have the same spans, or, if no span arrived, one starts with the same bytes.
 */
function isDeliveredLater(cut: Exchange, { exchanges }: Transcript): boolean {
  const later = exchanges.filter(
    (exchange) => isTraces(exchange) && isAccepted(exchange) && exchange.startedMs >= cut.startedMs,
  );
  const length = lengthOf(cut);
  if (length !== undefined && later.some((exchange) => lengthOf(exchange) === length)) return true;
  const start = Buffer.from(bytesOf(cut) ?? []);
  const ids = listSpanIds(start, encodingOf(cut));
  if (ids.length > 0) {
    const delivered = new Set(later.flatMap(spansOf).map(({ spanId }) => spanId));
    return ids.every((id) => delivered.has(id));
  }
  return later.some((exchange) => {
    const bytes = Buffer.from(bytesOf(exchange) ?? []);
    return bytes.subarray(0, start.length).equals(start);
  });
}

/** Returns the span ids in the part of a body that arrived, in JSON or protobuf. */
function listSpanIds(bytes: Buffer, encoding: string): string[] {
  const text = (encoding === 'identity' ? bytes : inflateStart(bytes)).toString('latin1');
  const inJson = text.matchAll(/"spanId"\s*:\s*"([\da-f]{16})"/gi);
  // A trace id of 16 bytes, and then a span id of 8.
  // eslint-disable-next-line no-control-regex
  const inProtobuf = text.matchAll(/\n\x10[^]{16}\x12\x08([^]{8})/g);
  return [
    ...[...inJson].map(([, id = '']) => id.toLowerCase()),
    ...[...inProtobuf].map(([, id = '']) => Buffer.from(id, 'latin1').toString('hex')),
  ];
}

/** Decompresses the part of gzip data that arrived. */
function inflateStart(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: INFLATED_BYTES_MAX,
    });
  } catch {
    return Buffer.alloc(0);
  }
}
