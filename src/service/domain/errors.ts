import { formatPlace, type ServiceError } from '../../contract/index.ts';
import { asFastifyClientError, HttpError } from '../../http-kit/errors.ts';
import { isError } from '../../platform/error-origin.ts';

/**
 * The HTTP status of every error that the service responds with, by code: the errors of the
 * interface (spec 7, area A) and the service's own where the interface is silent. No other file
 * names an error status.
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
  locked: 503,
  unwritable: 503,
} as const satisfies Record<string, number>;

/** A code of the service's error table. */
export type ServiceErrorCode = keyof typeof SERVICE_ERROR_STATUS;

/** An error that the service responds with, as `{"message"}` (spec 7, area A). */
export class RequestError extends HttpError<ServiceErrorCode> {
  override name = 'RequestError';

  get status(): number {
    return SERVICE_ERROR_STATUS[this.code];
  }

  get body(): ServiceError {
    return { message: this.message };
  }
}

/** A part of a document is invalid although the document matches its schema. */
export class InvalidDocumentError extends RequestError {
  /** JSON pointer (RFC 6901) to the invalid part. */
  readonly pointer: string;
  /** JSON pointer to another part that it conflicts with. */
  readonly relatedPointer: string | undefined;
  /** The message without its full stop, for callers that add a line number. */
  readonly problem: string;

  /**
   * @param problem What is expected and what was received, to be read after the pointer. It ends
   * with `relatedPointer` if there is one.
   */
  constructor(pointer: string, problem: string, relatedPointer?: string) {
    const sentence = `${pointer || 'the document'} ${problem}`;
    super('bad_request', `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`);
    this.problem = sentence;
    this.pointer = pointer;
    this.relatedPointer = relatedPointer;
  }
}

/** The option `seed` of a service is invalid. */
export class InvalidSeedError extends TypeError {
  /** JSON pointer (RFC 6901) to the invalid part of the seed data. */
  readonly pointer: string;
  /** JSON pointer to another part that it conflicts with. */
  readonly relatedPointer: string | undefined;
  /** The message without its full stop, for callers that add a line number. */
  readonly problem: string;

  constructor(cause: InvalidDocumentError) {
    const rest = cause.problem.slice(cause.pointer.length).trimStart();
    super(`startService: ${formatPlace('seed', cause.pointer)} ${rest}.`, { cause });
    this.problem = cause.problem;
    this.pointer = cause.pointer;
    this.relatedPointer = cause.relatedPointer;
  }
}

/** Fastify's error codes that have a code of their own here. */
const CODE_BY_FASTIFY_CODE: Record<string, ServiceErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_type',
};

// A full disk takes a while to fix, and exporters buffer for a few minutes.
const DISK_RETRY_AFTER_SECONDS = 5;

/** Returns the error for a request that was not stored because the disk can't be written to. */
function diskWriteError(): RequestError {
  const message = "The service can't write to its disk. Nothing was stored. Try again later.";
  return new RequestError('unwritable', message, {
    'retry-after': String(DISK_RETRY_AFTER_SECONDS),
  });
}

// The programs that lock a database for seconds are backups and consoles.
const LOCK_RETRY_AFTER_SECONDS = 2;

/** Returns the error for a request that was not stored because the database stayed locked. */
function databaseLockedError(): RequestError {
  const message =
    'Another program has locked the database of the service. Nothing was stored. Send the request again.';
  return new RequestError('locked', message, {
    'retry-after': String(LOCK_RETRY_AFTER_SECONDS),
  });
}

/** A problem of the database file that a retry can solve, with SQLite's code. */
export interface DatabaseProblem {
  kind: 'locked' | 'unwritable';
  code: string;
}

/** Returns the problem of the database that an error shows; undefined for any other error. */
export function findDatabaseProblem(error: unknown): DatabaseProblem | undefined {
  if (!(isError(error) && 'code' in error)) return undefined;
  const code = String(error.code);
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return { kind: 'locked', code };
  if (/^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(code)) return { kind: 'unwritable', code };
  return undefined;
}

/** Returns the error to respond with for a problem of the database. */
export function databaseError({ kind }: Pick<DatabaseProblem, 'kind'>): RequestError {
  return kind === 'locked' ? databaseLockedError() : diskWriteError();
}

/** The events under which the log of the service shows the problems of the database. */
export const DATABASE_EVENTS = {
  locked: 'database_locked',
  unwritable: 'disk_write_failed',
} as const satisfies Record<DatabaseProblem['kind'], string>;

/**
 * Returns the error to respond with for anything that was thrown. Errors that Fastify blames on the
 * request keep their message; any other error becomes `failed` without details.
 */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const problem = findDatabaseProblem(error);
  if (problem) return databaseError(problem);
  const clientError = asFastifyClientError(error);
  if (!clientError) return new RequestError('failed', 'The service failed to respond.');
  const { code, message } = clientError;
  return new RequestError(CODE_BY_FASTIFY_CODE[code] ?? 'bad_request', message);
}
