/** The fields of an error that are safe to log. The message may quote a conversation. */
export interface ErrorOrigin {
  /** The class of the error, or the type of a thrown value that is not an error. */
  error: string;
  /** The innermost stack frame, e.g. `at readSpans (src/…)`; empty when there is no stack. */
  at: string;
}

/**
 * Returns whether a thrown value is an error. In a test runner such as Jest, errors of Node come from
 * another context than this module, and have another `Error` class.
 */
export function isError(value: unknown): value is Error {
  return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';
}

/** Returns the class of an error and where it was thrown, without its message. */
export function errorOrigin(error: unknown): ErrorOrigin {
  if (!isError(error)) return { error: typeof error, at: '' };
  const frame = error.stack?.split('\n').find((line) => /^\s+at /.test(line)) ?? '';
  return { error: error.name, at: frame.trim() };
}

/** Returns the code of an error, such as `ENOENT`; empty if it has none. */
export function errorCode(error: unknown): string {
  return isError(error) && 'code' in error ? String(error.code) : '';
}

/** Returns the message of an error, or the text of a thrown value that is not an error. */
export function errorMessage(error: unknown): string {
  return toError(error).message;
}

/** Returns a thrown value as an `Error`. */
export function toError(error: unknown): Error {
  return isError(error) ? error : new Error(String(error));
}

/** Returns the first of several errors, one for each address that was tried. */
export function firstError(error: unknown): Error & { code?: string } {
  if (error instanceof AggregateError && error.errors.length > 0)
    return firstError(error.errors[0]);
  return toError(error);
}

/** Returns whether an error code says that this machine is out of ports, files, or memory. */
export function isLocalShortage(code: string): boolean {
  return /^(EMFILE|ENFILE|ENOBUFS|ENOMEM|EADDRNOTAVAIL|EADDRINUSE)$/.test(code);
}

/**
 * Returns the message of a failed connection without Node's advice on its own options (a user of
 * sandbox-kit has `--ca`), and without the addresses and source files in errors of OpenSSL.
 */
export function describeFailure(message: string): string {
  const [, reason] = /:SSL routines:[^:]*:([^:]+):/.exec(message) ?? [];
  if (reason !== undefined) return reason;
  return message.replace(/[;,]? *(?:if [^;]*, )?try running Node\.js with --use-system-ca\.?/i, '');
}
