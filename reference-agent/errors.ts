import { sandboxErrors, type SandboxError } from '../src/contract/index.ts';

/**
 * Every way in which the agent refuses or fails, by code: the rows of the interface (spec 7, area
 * B) and, where it is silent, ours. No other file names a status of a refusal.
 */
export const AGENT_ERRORS = {
  ...sandboxErrors,
  // The interface names the pair and leaves the status open.
  user_exists: { ...sandboxErrors.user_exists, status: 409 },
  user_not_found: { status: 404, type: 'invalid_request_error' },
  unauthorized: { status: 401, type: 'authentication_error' },
  forbidden: { status: 403, type: 'permission_error' },
  not_found: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  upgrade_required: { status: 426, type: 'invalid_request_error' },
  body_too_large: { status: 413, type: 'invalid_request_error' },
} as const satisfies Record<string, { status: number; type: string }>;

/** A code of the agent's error table. */
export type AgentErrorCode = keyof typeof AGENT_ERRORS;

/** A request that is answered with a row of the error table. Thrown; one handler writes it. */
export class RequestError extends Error {
  override name = 'Refusal';
  readonly code: AgentErrorCode;
  /** Headers that belong to the refusal, by lower-case name. */
  readonly headers: Record<string, string>;

  constructor(code: AgentErrorCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }

  /** The HTTP status of the answer. */
  get status(): number {
    return AGENT_ERRORS[this.code].status;
  }

  /** The body of the answer, in the sandbox error shape (spec 7, area B). */
  get body(): SandboxError {
    const { message, code } = this;
    return { error: { message, type: AGENT_ERRORS[code].type, code } };
  }
}

/**
 * The agent can't start as it was told to; the message says what to change. For the one who starts
 * it, and never on the wire.
 */
export class StartError extends Error {
  override name = 'StartError';
}

/** Runs what refuses a caller on behalf of the one who starts the agent. @throws StartError. */
export function withStartError<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    if (error instanceof RequestError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

/** What fastify's own errors are to a caller, by fastify's code. */
const ownCodes: Record<string, AgentErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
};

/**
 * The refusal that an error is answered with. A caller's mistake that fastify found keeps its
 * message; whatever else went wrong becomes `server_error`, and says nothing of how.
 */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof Error && 'statusCode' in error && 'code' in error) {
    const { statusCode, code, message } = error;
    const isCallersMistake = typeof statusCode === 'number' && statusCode < 500;
    if (isCallersMistake) return new RequestError(ownCodes[String(code)] ?? 'bad_request', message);
  }
  return new RequestError('server_error', 'The agent failed to answer this request.');
}
