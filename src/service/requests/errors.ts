import { formatPlace, type ServiceError } from '../../contract/index.ts';
import { asFastifyClientError, HttpError } from '../../http-kit/errors.ts';
import { toSentence } from '../../platform/sandbox-kit-error.ts';
import { capitalize } from '../../report-kit/format.ts';
import { findDatabaseProblem, type DatabaseProblem } from '../store/database-problem.ts';

/**
 * The HTTP status of every error that the service responds with, by code: the errors of the
 * interface (spec 7, area A) and the service's own where the interface is silent. Pages choose the
 * status of a form that they show again.
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
  database_failed: 503,
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

/** What is wrong with a parameter: the rest of a sentence that starts with its name. */
type ParameterProblem = Pick<ParameterError, 'parameter' | 'problem'>;

/** A parameter of a query is invalid, and possibly others, too. */
export class ParameterError extends RequestError {
  readonly parameter: string;
  readonly problem: string;

  constructor(parameter: string, problem: string, others: readonly ParameterProblem[] = []) {
    const all = [{ parameter, problem }, ...others];
    super('bad_request', all.map((each) => `${each.parameter} ${each.problem}`).join(' '));
    this.parameter = parameter;
    this.problem = problem;
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
    super('bad_request', toSentence(capitalize(sentence)));
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

/** Fastify's error codes that have a separate code here. */
const CODE_BY_FASTIFY_CODE: Record<string, ServiceErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_type',
};

// A full disk takes a while to fix, and exporters buffer for a few minutes.
const LONG_RETRY_AFTER_SECONDS = 5;
// Programs that lock a database, and restarts of a server, take seconds.
const SHORT_RETRY_AFTER_SECONDS = 2;

const UNUSABLE = "The service can't use its database. Its log says why. Try again later.";

/** What clients read about each problem of the database. The log of the service has the details. */
const DATABASE_MESSAGES: Readonly<Record<DatabaseProblem['kind'], string>> = {
  locked:
    'Another program has locked the database of the service. Nothing was stored. Send the request again.',
  unwritable: "The service can't write to its disk. Nothing was stored. Try again later.",
  file_changed:
    'The database file of the service was deleted or replaced. Nothing was stored. The log of the service says what to do. Try again later.',
  disk_full: 'The disk of the database is full. Nothing was stored. Try again later.',
  read_only: 'The database of the service is read-only. Nothing was stored. Try again later.',
  unreachable: "The service can't reach its database. Send the request again.",
  shutting_down: 'The database of the service is starting or stopping. Send the request again.',
  too_many_connections: 'The database of the service is busy. Send the request again.',
  overloaded: 'The database of the service is overloaded. Send the request again.',
  conflict: 'Another request changed the same data. Nothing was stored. Send the request again.',
  timeout: 'The database of the service did not respond in time. Send the request again.',
  tls_failed: UNUSABLE,
  authentication_failed: UNUSABLE,
  database_missing: UNUSABLE,
  permission_denied: UNUSABLE,
};

const LONG_PROBLEMS: readonly DatabaseProblem['kind'][] = [
  'unwritable',
  'file_changed',
  'disk_full',
  'read_only',
  'tls_failed',
  'authentication_failed',
  'database_missing',
  'permission_denied',
];

/** Returns the error to respond with for a problem of the database. */
export function databaseError({ kind }: Pick<DatabaseProblem, 'kind'>): RequestError {
  const isLong = LONG_PROBLEMS.includes(kind);
  const seconds = isLong ? LONG_RETRY_AFTER_SECONDS : SHORT_RETRY_AFTER_SECONDS;
  const code = kind === 'locked' || kind === 'unwritable' ? kind : 'database_failed';
  return new RequestError(code, DATABASE_MESSAGES[kind], { 'retry-after': String(seconds) });
}

/** Returns the error for a method that a path does not support. */
export const createMethodError = (
  message: string,
  headers: Readonly<Record<string, string>>,
): RequestError => new RequestError('method_not_allowed', message, headers);

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
