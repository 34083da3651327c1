import { sandboxErrors, type SandboxError } from '../src/contract/index.ts';
import { asFastifyClientError, HttpError, StartError } from '../src/http-kit/errors.ts';

/**
 * Every error that the agent responds with, by code: the codes of the interface (spec 7, area B)
 * and the agent's own where the interface is silent.
 */
const AGENT_ERRORS = {
  ...sandboxErrors,
  // The interface names this code but no status.
  user_exists: { ...sandboxErrors.user_exists, status: 409 },
  user_not_found: { status: 404, type: 'invalid_request_error' },
  unauthorized: { status: 401, type: 'authentication_error' },
  forbidden: { status: 403, type: 'permission_error' },
  not_found: { status: 404, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  upgrade_required: { status: 426, type: 'invalid_request_error' },
  body_too_large: { status: 413, type: 'invalid_request_error' },
} as const satisfies Record<string, { status: number; type: string }>;

/** A code of the agent's error table. */
export type AgentErrorCode = keyof typeof AGENT_ERRORS;

/** An error that the agent responds with, in the sandbox error shape (spec 7, area B). */
export class RequestError extends HttpError<AgentErrorCode> {
  override name = 'RequestError';

  get status(): number {
    return AGENT_ERRORS[this.code].status;
  }

  get body(): SandboxError {
    const { message, code } = this;
    return { error: { message, type: AGENT_ERRORS[code].type, code } };
  }
}

/** Runs a check of request input on start options. @throws StartError instead of RequestError. */
export function withStartError<Result>(check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    if (error instanceof RequestError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

/** Runs a check of request input on arguments of code. @throws TypeError instead of RequestError. */
export function withTypeError<Result>(caller: string, check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new TypeError(`${caller}: ${error.message}`, { cause: error });
  }
}

/** Fastify's error codes that are not a `bad_request`. */
const CODE_BY_FASTIFY_CODE: Record<string, AgentErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
};

/**
 * Returns the error to respond with for anything that was thrown. Errors that Fastify blames on the
 * request keep their message; any other error becomes `server_error` without details.
 */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const clientError = asFastifyClientError(error);
  if (!clientError) return new RequestError('server_error', 'The agent failed to respond.');
  const { code, message } = clientError;
  return new RequestError(CODE_BY_FASTIFY_CODE[code] ?? 'bad_request', message);
}
