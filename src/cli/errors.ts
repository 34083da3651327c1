import { findClosest } from '../platform/suggest.ts';

/** A mistake of the caller. Printed as one line; exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';

  /** Joins the lines of a message, and adds a full stop if it has no end mark. */
  constructor(message: string) {
    const line = message
      .replaceAll(/\s*\n\s*/g, ' ')
      .trim()
      .replace(/\?\.$/, '?');
    super(/[.?!]$/.test(line) ? line : `${line}.`);
  }
}

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

/** Returns the sentence "Did you mean X?" if a known word is close, or else `fallback`. */
export function didYouMean(word: string, known: readonly string[], fallback: string): string {
  const closest = findClosest(word, known);
  return closest === undefined ? fallback : `Did you mean ${closest}?`;
}

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
