import { ansiStyle, cutTo, plainStyle, type ApplyStyle } from '../../src/report-kit/terminal.ts';
import { readEnvironment } from '../flags/environment.ts';
import type { OutputStream, Variables } from '../process.ts';
import { fill } from './message.ts';
import { findProgramName } from './program-name.ts';

/** Where a command writes text for people. */
export interface Terminal {
  style: ApplyStyle;
  /** Characters per line, 60 to 100. */
  width: number;
  /** How the user types the name of the program in commands to copy. */
  program: string;
  write: (text: string) => void;
  /** Whether `live` shows anything. */
  isLive: boolean;
  /** Replaces the live line, cut to the width of the terminal. Does nothing in a pipe. */
  live: (line: string) => void;
}

/**
 * Creates a terminal for stdout or stderr. A pipe gets plain text. NO_COLOR turns colors off;
 * TERM=dumb turns colors and the live line off.
 */
export function createTerminal(stream: OutputStream, env: Variables): Terminal {
  const { NO_COLOR = '', TERM = '' } = readEnvironment(env);
  const hasCodes = stream.isTTY === true && TERM !== 'dumb';
  const width = Math.min(100, Math.max(60, (stream.isTTY && stream.columns) || 80));
  let isShown = false;
  const clear = (): void => {
    if (isShown) stream.write('\r\u001B[2K');
    isShown = false;
  };
  return {
    style: hasCodes && NO_COLOR === '' ? ansiStyle : plainStyle,
    width,
    program: findProgramName(env),
    isLive: hasCodes,
    write(text) {
      clear();
      stream.write(text);
    },
    live(line) {
      if (!hasCodes) return;
      clear();
      // Only one row can be cleared, so a line must not wrap; the terminal may have been resized.
      stream.write(cutTo(line, (stream.columns || 80) - 1));
      isShown = line !== '';
    },
  };
}

/** Returns a function that writes a warning to a stream. */
export function createWarningPrinter(stream: OutputStream): (warning: string) => void {
  return (warning) => void stream.write(`${fill(`sandbox-kit: Warning: ${warning}`)}\n`);
}
