/** The parts of an error that are safe to log. The message may quote a conversation. */
export interface ErrorOrigin {
  /** The class of the error, or the type of a thrown value that is not an error. */
  name: string;
  /** The innermost stack frame, e.g. `at readSpans (src/…)`; empty when there is no stack. */
  at: string;
}

/** Returns the class of an error and where it was thrown, without its message. */
export function errorOrigin(error: unknown): ErrorOrigin {
  if (!(error instanceof Error)) return { name: typeof error, at: '' };
  const frame = error.stack?.split('\n').find((line) => /^\s+at /.test(line)) ?? '';
  return { name: error.name, at: frame.trim() };
}

/** Returns the message of an error, or the text of a thrown value that is not an error. */
export function errorMessage(error: unknown): string {
  return toError(error).message;
}

/** Returns a thrown value as an `Error`. */
export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
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
