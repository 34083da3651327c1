import { toSentence } from '../src/platform/sandbox-kit-error.ts';

export { SandboxKitError } from '../src/platform/sandbox-kit-error.ts';
export { didYouMean } from '../src/platform/suggest.ts';

/** The exit codes that all commands share. */
export const exitCodes = {
  ok: 0,
  findings: 1,
  usage: 2,
  notJudged: 3,
  internal: 70,
} as const;

/** An error that ends a command. It is printed as one paragraph. */
export abstract class CommandError extends Error {
  abstract readonly exitCode: number;
  /** What to list below the message, one per line, such as files. */
  readonly items: readonly string[];

  constructor(message: string, items: readonly string[] = []) {
    super(toSentence(message));
    this.items = items;
  }
}

/** A mistake on the command line or in its files. */
export class UsageError extends CommandError {
  override name = 'UsageError';
  readonly exitCode = exitCodes.usage;
}

/** Rejects options as a mistake on the command line. */
export const rejectFlags = (message: string): UsageError => new UsageError(message);

/** Something outside the command line fails now, such as a full disk or an unreachable database. */
export class UnavailableError extends CommandError {
  override name = 'UnavailableError';
  readonly exitCode = exitCodes.notJudged;
}
