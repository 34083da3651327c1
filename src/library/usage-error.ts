/** A mistake of the caller, such as a file that can't be read. The CLI prints it as one line and exits with 2. */
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
