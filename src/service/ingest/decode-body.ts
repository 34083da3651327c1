import { gunzipSync } from 'node:zlib';
import {
  INGEST_BODY_BYTES_MAX,
  OtlpError,
  readTraceRequest,
  type TraceRequest,
} from '../../contract/index.ts';
import { decodeTraceRequest } from '../../contract/otlp-protobuf.ts';
import type { TraceRequestRows } from '../store/store.ts';
import { readSpans, type RejectedSpans } from './read-spans.ts';
import type { IngestTask } from './thread-messages.ts';
import { errorCode } from '../../platform/error-origin.ts';
import { findJsonExcess } from '../../platform/json.ts';

/** The rows of a request, or why none of its spans can be stored. */
type ReadRows =
  | { kind: 'read'; rows: TraceRequestRows }
  | ({ kind: 'rejected'; logEntries: TraceRequestRows['logEntries'] } & RejectedSpans['rejection']);

/** Why a body has no rows. */
interface UnreadableBody {
  kind: 'malformed' | 'too_large' | 'failed';
  message: string;
}

/** The result of decoding a body. `bytes` is its decompressed size. */
export type Decoded = { bytes: number } & (ReadRows | UnreadableBody);

/** Returns the conversations of stored traces, by trace id. */
export interface TraceLookup {
  findConversations(traceIds: readonly string[]): Map<string, string>;
}

/** Reads the spans of a decoded body, given the conversations of stored traces. */
export type ReadBody = (traces: TraceLookup) => Decoded;

/**
 * Decompresses a body and decodes it. The returned function reads its spans, again if more traces are
 * known then. A bad body is a result, not an exception. Its message is sent to the client and never
 * quotes the body, except for a short excerpt of an invalid time.
 */
export function decodeBody(task: IngestTask): ReadBody {
  let bytes = task.body.byteLength;
  try {
    const body = task.gzip ? decompress(task.body) : new Uint8Array(task.body);
    bytes = body.byteLength;
    if (bytes > INGEST_BODY_BYTES_MAX) throw new TooLargeError();
    const request = task.contentType === 'json' ? parseJson(body) : decodeTraceRequest(body);
    return (traces) => ({ bytes, ...readRows(request, task, traces) });
  } catch (error) {
    const problem = findProblem(error);
    if (!problem) throw error;
    return () => ({ bytes, ...problem });
  }
}

function findProblem(
  error: unknown,
): { kind: 'too_large' | 'malformed'; message: string } | undefined {
  if (error instanceof TooLargeError) return { kind: 'too_large', message: BODY_TOO_LARGE_MESSAGE };
  if (error instanceof OtlpError) return { kind: 'malformed', message: error.message };
  return undefined;
}

class TooLargeError extends Error {}

/** Sent to the client of a body that is too large, before or after decompression. */
export const BODY_TOO_LARGE_MESSAGE =
  `The body is larger than ${INGEST_BODY_BYTES_MAX} bytes (10 MB, decompressed). Configure the exporter ` +
  'to send smaller batches.';

function decompress(body: ArrayBuffer): Uint8Array {
  try {
    return gunzipSync(body, { maxOutputLength: INGEST_BODY_BYTES_MAX });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new TooLargeError();
    if (!code.startsWith('Z_')) throw error;
    throw new OtlpError(
      code === 'Z_BUF_ERROR'
        ? 'The gzip body is incomplete. Send the whole body.'
        : 'The body is not valid gzip, although Content-Encoding says so. Compress it, or remove the ' +
            'header.',
    );
  }
}

function parseJson(body: Uint8Array): TraceRequest {
  let json: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    const excess = findJsonExcess(text, Infinity);
    if (excess !== undefined) throw new OtlpError(`The body ${excess}. Send smaller batches.`);
    json = JSON.parse(text);
  } catch (error) {
    if (error instanceof OtlpError) throw error;
    if (!(error instanceof SyntaxError)) throw new OtlpError('The body is not valid UTF-8.');
    // The original message quotes the body.
    const position = /at position \d+/.exec(error.message)?.[0];
    throw new OtlpError(
      `The body is not valid JSON${position === undefined ? '' : ` (error ${position})`}.`,
    );
  }
  return readTraceRequest(json);
}

function readRows(
  request: TraceRequest,
  { ownerId, receivedAtMs, headerConversationId }: IngestTask,
  traces: TraceLookup,
): ReadRows {
  const spans = readSpans(request, {
    headerConversationId,
    ownerId,
    receivedAtMs,
    knownTraces: (traceIds) => traces.findConversations(traceIds),
  });
  return 'rejection' in spans
    ? { kind: 'rejected', ...spans.rejection, logEntries: spans.logEntries }
    : { kind: 'read', rows: spans };
}
