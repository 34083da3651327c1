import { gunzipSync } from 'node:zlib';
import {
  decodeTraceRequest,
  ingestBodyBytesMax,
  OtlpError,
  readTraceRequest,
  type TraceRequest,
} from '../../contract/index.ts';
import type { SpanWriter } from '../store/span-writer.ts';
import type { TraceRequestRows } from '../store/store.ts';
import { readSpans, type RefusedSpans } from './read-spans.ts';
import type { IngestTask } from './thread-messages.ts';

/** What a body turned out to be. `bytes` is how long it is, inflated. */
export type Decoded = { bytes: number } & (
  | { kind: 'read'; toKeep: TraceRequestRows }
  | ({ kind: 'refused'; logEntries: TraceRequestRows['logEntries'] } & RefusedSpans['refused'])
  | { kind: 'malformed' | 'too_large' | 'failed'; message: string }
);

/**
 * Inflates a body, decodes it and reads its spans. What is wrong with the body is a value, with a
 * sentence for the caller that shows nothing of the body but a little of a time that is none.
 */
export function decodeBody(job: IngestTask, sink: Pick<SpanWriter, 'findConversations'>): Decoded {
  let bytes = job.body.byteLength;
  try {
    const body = job.gzip ? inflate(job.body) : new Uint8Array(job.body);
    bytes = body.byteLength;
    if (bytes > ingestBodyBytesMax) throw new TooLarge();
    const request = job.contentType === 'json' ? parse(body) : decodeTraceRequest(body);
    return { bytes, ...read(request, job, sink) };
  } catch (error) {
    if (error instanceof TooLarge) return { bytes, kind: 'too_large', message: tooLarge };
    if (error instanceof OtlpError) return { bytes, kind: 'malformed', message: error.message };
    throw error;
  }
}

class TooLarge extends Error {}

const tooLarge =
  `the body is larger than ${ingestBodyBytesMax} bytes (10 MB) once inflated; ` +
  'let the exporter send smaller batches';

function inflate(body: ArrayBuffer): Uint8Array {
  try {
    return gunzipSync(body, { maxOutputLength: ingestBodyBytesMax });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new TooLarge();
    if (typeof code !== 'string' || !code.startsWith('Z_')) throw error;
    throw new OtlpError(
      code === 'Z_BUF_ERROR'
        ? 'the gzip body is cut off; send all of it'
        : 'the body is not gzip, or is damaged; send what Content-Encoding says',
    );
  }
}

function parse(body: Uint8Array): TraceRequest {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw new OtlpError('the body is not UTF-8');
    // The engine's own message quotes the body.
    const at = /at position \d+/.exec(error.message)?.[0];
    throw new OtlpError(`the body is not JSON${at === undefined ? '' : `: it breaks ${at}`}`);
  }
  return readTraceRequest(json);
}

function read(
  request: TraceRequest,
  { ownerId, receivedAtMs, headerConversationId }: IngestTask,
  sink: Pick<SpanWriter, 'findConversations'>,
):
  | { kind: 'read'; toKeep: TraceRequestRows }
  | ({ kind: 'refused'; logEntries: TraceRequestRows['logEntries'] } & RefusedSpans['refused']) {
  const spans = readSpans(request, {
    headerConversationId,
    ownerId,
    receivedAtMs,
    knownTraces: (traceIds) => sink.findConversations(ownerId, traceIds),
  });
  return 'refused' in spans
    ? { kind: 'refused', ...spans.refused, logEntries: spans.logEntries }
    : { kind: 'read', toKeep: spans };
}
