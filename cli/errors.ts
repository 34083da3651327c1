import { toSentence } from '../src/platform/sandbox-kit-error.ts';

export { SandboxKitError } from '../src/platform/sandbox-kit-error.ts';
export { didYouMean } from '../src/platform/suggest.ts';

/** A mistake on the command line or in its files. It is printed as one paragraph. Exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
  /** What to list below the message, one per line, such as files. */
  readonly items: readonly string[];

  constructor(message: string, items: readonly string[] = []) {
    super(toSentence(message));
    this.items = items;
  }
}

/** A disk is full, or a database can't be used now. Exit code 3. */
export class OutputError extends UsageError {
  override name = 'OutputError';
}

/** The exit codes that all commands share. */
export const exitCodes = {
  ok: 0,
  findings: 1,
  usage: 2,
  notJudged: 3,
  internal: 70,
} as const;
