import { isError } from '../platform/error-origin.ts';
import { SandboxKitError } from '../platform/sandbox-kit-error.ts';

/**
 * An error that an HTTP server responds with. Each server has its own codes and its own error body.
 */
export abstract class HttpError<Code extends string = string> extends Error {
  readonly code: Code;
  /** Additional response headers, by lower-case name. */
  readonly headers: Record<string, string>;

  constructor(code: Code, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }

  /** The HTTP status of the response. */
  abstract get status(): number;

  /** The body of the response, before it is serialized as JSON. */
  abstract get body(): object;
}

/**
 * A server can't start with its options or on this machine. The message says what to change. It is
 * for the person who starts the server and is never sent to clients.
 */
export class StartError extends SandboxKitError {
  constructor(message: string, options?: ErrorOptions) {
    super('start_failed', message, options);
  }
}

/** Returns an error that Fastify raised because of the request itself; undefined for any other. */
export function asFastifyClientError(
  error: unknown,
): { code: string; message: string } | undefined {
  if (!(isError(error) && 'statusCode' in error && 'code' in error)) return undefined;
  const { statusCode, code, message } = error;
  if (typeof statusCode !== 'number' || statusCode >= 500) return undefined;
  return { code: String(code), message };
}
