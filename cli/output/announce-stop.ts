import type { OutputStream } from '../process.ts';
import { fill } from './message.ts';

/** Says on stderr that a server stops or has stopped, except to programs, which use --json. */
export function announceStop(
  { json }: { json: boolean },
  text: string,
  stderr: OutputStream,
): void {
  if (json) return;
  // A terminal shows ^C on the current line.
  const newLine = stderr.isTTY ? '\n' : '';
  stderr.write(`${newLine}${fill(text)}\n`);
}
