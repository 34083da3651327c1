import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { formatValue } from '../../contract/index.ts';
import { REQUEST_TIMEOUT_MS } from '../../http-kit/server.ts';
import type { Clock } from '../../platform/clock.ts';
import { RequestError } from '../requests/errors.ts';

/** The format of a request body. */
export interface BodyFormat {
  contentType: 'json' | 'protobuf';
  gzip: boolean;
}

/**
 * Reads the format of the body from the headers: one of two content types (spec 7), in any case and
 * with any parameters, and optionally gzip (spec 4.1).
 * @throws RequestError `unsupported_type` or `unsupported_encoding`.
 */
export function readBodyFormat(headers: IncomingHttpHeaders): BodyFormat {
  return { contentType: readContentType(headers), gzip: readIsGzip(headers) };
}

function readContentType(headers: IncomingHttpHeaders): BodyFormat['contentType'] {
  const header = headers['content-type'];
  const type = header?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') return 'json';
  if (type === 'application/x-protobuf') return 'protobuf';
  const message = `Content-Type must be application/json or application/x-protobuf, got ${formatValue(header)}.`;
  throw new RequestError('unsupported_type', message);
}

function readIsGzip(headers: IncomingHttpHeaders): boolean {
  const header = headers['content-encoding'];
  const encoding = header?.trim().toLowerCase() ?? '';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === '' || encoding === 'identity') return false;
  const message = `Content-Encoding must be gzip or absent, got ${formatValue(header)}.`;
  throw new RequestError('unsupported_encoding', message);
}

/** The result of reading a body. */
export type BodyResult =
  | { kind: 'read'; body: ArrayBuffer }
  /** The body is longer than allowed. The rest is still unread. */
  | { kind: 'too_large' }
  /** All requests together use too much memory. The rest is still unread. */
  | { kind: 'busy' }
  /** The body was not complete in time. The rest is still unread. */
  | { kind: 'timeout' }
  /** The client disconnected before it had sent the whole body. */
  | { kind: 'disconnected' };

/**
 * Limits the memory of request bodies, from their first byte until they are stored. Beyond it, clients
 * get a 503 and retry. The ingest thread accepts as much at a time.
 */
export const BYTES_IN_FLIGHT_MAX = 67_108_864;

/** Limits the memory that the bodies of all concurrent requests use together. */
export interface ByteBudget {
  /** Reserves bytes; returns false, and reserves none, if they would exceed the budget. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

/** Creates a budget of `bytesMax` bytes. */
export function createByteBudget(bytesMax: number): ByteBudget {
  let reserved = 0;
  return {
    reserve(bytes) {
      if (reserved + bytes > bytesMax) return false;
      reserved += bytes;
      return true;
    },
    release(bytes) {
      reserved -= bytes;
    },
  };
}

/** The bytes that one request has reserved. Disposing of the share releases them. */
export interface Share extends Disposable {
  reserve(bytes: number): boolean;
}

/** Creates an empty share. */
export function createShare(budget: ByteBudget): Share {
  let reserved = 0;
  return {
    reserve(bytes) {
      const isGranted = budget.reserve(bytes);
      if (isGranted) reserved += bytes;
      return isGranted;
    },
    [Symbol.dispose]() {
      budget.release(reserved);
      reserved = 0;
    },
  };
}

/** Time limit of a body: as long as the HTTP server allows for a whole request. */
export const BODY_MS_MAX = REQUEST_TIMEOUT_MS;

/**
 * Reads a body and stops as soon as it exceeds the limit, the share, or its time. A Content-Length
 * above the limit is rejected before reading; otherwise the received bytes count.
 */
export async function readBody(
  request: IncomingMessage,
  { bytesMax, share, clock }: { bytesMax: number; share: Share; clock: Clock },
): Promise<BodyResult> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return { kind: 'too_large' };
  const chunks: Buffer[] = [];
  let length = 0;
  const deadline = clock.deadline(BODY_MS_MAX);
  return new Promise((resolve) => {
    const settle = (result: BodyResult): void => {
      deadline[Symbol.dispose]();
      request.off('data', onData).off('end', onEnd);
      request.off('close', onDisconnect).off('error', onDisconnect);
      // Without a listener, a connection error would crash the process.
      request.on('error', () => undefined);
      resolve(result);
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > bytesMax) settle({ kind: 'too_large' });
      else if (!share.reserve(chunk.length)) settle({ kind: 'busy' });
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle({ kind: 'read', body: concat(chunks, length) });
    const onDisconnect = (): void => settle({ kind: 'disconnected' });
    deadline.signal.addEventListener('abort', () => settle({ kind: 'timeout' }));
    request.on('data', onData).on('end', onEnd).on('close', onDisconnect).on('error', onDisconnect);
  });
}

/** Joins chunks in a new buffer, which can be transferred to another thread without copying. */
function concat(chunks: readonly Buffer[], length: number): ArrayBuffer {
  const body = new ArrayBuffer(length);
  const bytes = new Uint8Array(body);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return body;
}
