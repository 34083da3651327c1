import { UsageError } from '../library/usage-error.ts';
import { didYouMean } from '../platform/suggest.ts';

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

/**
 * Returns what to do about an unknown requirement id. Ids of one area are too similar for a guess, so
 * the hint says how to list them.
 */
export function suggestRequirement(id: string, known: readonly string[]): string {
  const [, area = '', number = ''] = /^([a-z]+)-0*(\d+)$/i.exec(id) ?? [];
  if (!known.some((each) => each.startsWith(`${area.toUpperCase()}-`))) {
    return didYouMean(id, known, 'Run sandbox-kit explain to list all requirements.');
  }
  const padded = `${area.toUpperCase()}-${number.padStart(3, '0')}`;
  if (known.includes(padded)) return `Did you mean ${padded}?`;
  return `Run sandbox-kit explain ${area.toLowerCase()} to list the requirements of this area.`;
}
