/** Error responses. The service tells them apart by `type` and `code` (spec 7). */
import { hash, timingSafeEqual } from 'node:crypto';

/** An error with the response to send. */
export class SandboxError extends Error {
  /**
   * @param {400 | 401 | 404 | 409 | 413 | 500} status
   * @param {string} type
   * @param {string} code
   * @param {string} message
   */
  constructor(status, type, code, message) {
    super(message);
    this.status = status;
    this.body = { error: { message, type, code } };
  }
}

/** @param {string} message */
export const badRequest = (message) =>
  new SandboxError(400, 'invalid_request_error', 'bad_request', message);

export const notFound = (message = 'This endpoint does not exist.') =>
  new SandboxError(404, 'invalid_request_error', 'not_found', message);

export const tooLarge = () =>
  new SandboxError(413, 'invalid_request_error', 'body_too_large', 'The request is too large.');

/**
 * Returns the response to any error. An error of the framework has a status, for example 400 for
 * malformed JSON. Any other error gets a 500, and only the log has its details.
 *
 * @param {unknown} error
 */
export function toSandboxError(error) {
  if (error instanceof SandboxError) return error;
  if (error instanceof Error) {
    const { status, statusCode = status } =
      /** @type {{ status?: unknown, statusCode?: unknown }} */ (error);
    if (statusCode === 404) return notFound();
    if (statusCode === 413) return tooLarge();
    if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
      return badRequest(error.message);
    }
  }
  console.error(error);
  return new SandboxError(500, 'internal_error', 'server_error', 'Internal error; see the log.');
}

/**
 * Verifies the key that the service sends as `Authorization: Bearer KEY` (spec 5).
 *
 * @param {string | undefined} authorization
 * @param {string | undefined} apiKey The expected key. If undefined, every request is allowed.
 * @throws {SandboxError} 401. The interface defines no response to a wrong key.
 */
export function checkKey(authorization = '', apiKey) {
  if (apiKey === undefined) return;
  // `timingSafeEqual` needs inputs of equal length, which digests always have.
  const [actual, expected] = [authorization, `Bearer ${apiKey}`].map((text) =>
    hash('sha256', text, 'buffer'),
  );
  if (!timingSafeEqual(actual, expected)) {
    throw new SandboxError(
      401,
      'authentication_error',
      'unauthorized',
      'Missing or wrong API key.',
    );
  }
}
