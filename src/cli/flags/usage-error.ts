/** The caller's mistake: said in one sentence, exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';

  /** Puts a message of several lines, or without an end of its own, into the form of a sentence. */
  constructor(message: string) {
    const line = message
      .replaceAll(/\s*\n\s*/g, ' ')
      .trim()
      .replace(/\?\.$/, '?');
    super(/[.?!]$/.test(line) ? line : `${line}.`);
  }
}

/** What was found can't be said: its reader refuses it, as a full disk does. Exit code 3. */
export class OutputLost extends UsageError {
  override name = 'OutputLost';
}

/** The exit codes of every verb. */
export const exitCodes = {
  fine: 0,
  findings: 1,
  usage: 2,
  notJudged: 3,
  ourFault: 70,
} as const;
