/** The reason why a function of the library could not do its work. */
export type SandboxKitErrorCode =
  /** A file can't be read, or no file matches a pattern. */
  | 'unreadable_file'
  /** The content of a file is invalid. */
  | 'invalid_file'
  /** A file can't be written. */
  | 'unwritable_file'
  /** An agent or a service can't start on this machine, for example because its port is in use. */
  | 'start_failed'
  /** Work of the service did not end in time. */
  | 'timeout'
  /** A service was stopped before the call. */
  | 'stopped';

/**
 * A function of the library could not do its work, although its options are valid. The message says
 * what happened, and what to do about it.
 */
export class SandboxKitError extends Error {
  override name = 'SandboxKitError';
  readonly code: SandboxKitErrorCode;
  /** All problems of the files, if there are several. The message has them too. */
  readonly problems: readonly string[];

  constructor(
    code: SandboxKitErrorCode,
    message: string,
    options: { cause?: unknown; problems?: readonly string[] } = {},
  ) {
    super(toSentence(message), options);
    this.code = code;
    this.problems = options.problems ?? [];
  }
}

/** Creates the error about one or several problems of files. */
export function createFileError(problems: readonly string[]): SandboxKitError {
  const sentences = problems.map(toSentence);
  const [first = ''] = sentences;
  if (problems.length < 2) return new SandboxKitError('invalid_file', first);
  const message = `${problems.length} problems: ${sentences.join(' ')}`;
  return new SandboxKitError('invalid_file', message, { problems: sentences });
}

/** Joins the lines of a message, and adds a full stop if it has no end mark. */
export function toSentence(message: string): string {
  const line = endOnce(message.replaceAll(/\s*\n\s*/g, ' ').trim());
  return /[.?!]["”]?$/.test(line) ? line : `${line}.`;
}

/** Removes the full stop after a text or a quotation that already ends with an end mark. */
export const endOnce = (sentence: string): string =>
  sentence.replace(/(?<!\.)([.?!]["”]?)\.$/, '$1');
