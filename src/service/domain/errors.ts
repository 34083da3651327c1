import type { ServiceError } from '../../contract/index.ts';

/**
 * Every way in which the service refuses or fails, by code: the rows of the interface (spec 7, area
 * A) and, where it is silent, ours. No other file names the status of a refusal.
 */
export const SERVICE_ERROR_STATUS = {
  bad_request: 400,
  no_conversation_id: 400,
  malformed_body: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  unknown_conversation: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  too_large: 413,
  unsupported_type: 415,
  unsupported_encoding: 415,
  rate_limited: 429,
  headers_too_large: 431,
  failed: 500,
  busy: 503,
  unwritable: 503,
} as const satisfies Record<string, number>;

/** A code of the service's error table. */
export type ServiceErrorCode = keyof typeof SERVICE_ERROR_STATUS;

/** A request that is answered with a row of the error table. Thrown; one handler writes it. */
export class RequestError extends Error {
  override name = 'Refusal';
  readonly code: ServiceErrorCode;
  /** Headers that belong to the refusal, by lower-case name. */
  readonly headers: Record<string, string>;

  constructor(code: ServiceErrorCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }

  /** The HTTP status of the answer. */
  get status(): number {
    return SERVICE_ERROR_STATUS[this.code];
  }

  /** The body of the answer. */
  get body(): ServiceError {
    return { message: this.message };
  }
}

/** A place in a document that is not what it must be, though the schema holds. */
export class InvalidDocumentError extends RequestError {
  /** JSON pointer (RFC 6901) to the place. */
  readonly pointer: string;
  /** To another place that it does not go together with, where there is one. */
  readonly relatedPointer: string | undefined;

  /**
   * @param what What must be there and what came, to be read behind the pointer; where `besides` is
   * given, it ends with that.
   */
  constructor(pointer: string, what: string, besides?: string) {
    super('bad_request', `${pointer || 'the document'} ${what}`);
    this.pointer = pointer;
    this.relatedPointer = besides;
  }
}

/**
 * The service can't start as it was told to; the message says what to change. For the one who
 * starts it, and never on the wire.
 */
export class StartError extends Error {
  override name = 'StartError';
  /** JSON pointer (RFC 6901) to the place in the seed that is to blame, where one is. */
  readonly seedPointer: string | undefined;
  /** To another place in the seed that it does not go together with. */
  readonly relatedSeedPointer: string | undefined;

  constructor(
    message: string,
    more: { cause?: unknown; seedPointer?: string; seedBesides?: string | undefined } = {},
  ) {
    super(message, { cause: more.cause });
    this.seedPointer = more.seedPointer;
    this.relatedSeedPointer = more.seedBesides;
  }
}

/** What fastify's own errors are to a caller, by fastify's code. */
const ownCodes: Record<string, ServiceErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_type',
};

// A disk is not mended within a second; exporters keep what they have for some minutes.
const unwritableRetryAfterS = 5;

/** What is refused because the disk takes nothing: nothing of it was done. */
export function diskWriteError(): RequestError {
  const message = 'the service can not write to its disk; send it again later';
  return new RequestError('unwritable', message, { 'retry-after': String(unwritableRetryAfterS) });
}

/** SQLite's code where an error says that the disk, and nothing in the request, is to blame. */
export function diskErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error)) return undefined;
  const code = String(error.code);
  return /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(code) ? code : undefined;
}

/**
 * The refusal that an error is answered with. A caller's mistake that fastify found keeps its
 * message; whatever else went wrong becomes `failed`, and says nothing of how.
 */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (diskErrorCode(error) !== undefined) return diskWriteError();
  if (error instanceof Error && 'statusCode' in error && 'code' in error) {
    const { statusCode, code, message } = error;
    const isCallersMistake = typeof statusCode === 'number' && statusCode < 500;
    if (isCallersMistake) return new RequestError(ownCodes[String(code)] ?? 'bad_request', message);
  }
  return new RequestError('failed', 'The service failed to answer this request.');
}
