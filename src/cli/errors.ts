import { UsageError } from '../library/usage-error.ts';

export { didYouMean } from '../platform/suggest.ts';
export { UsageError } from '../library/usage-error.ts';

/** A result can't be written, for example because the disk is full. Exit code 3. */
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
