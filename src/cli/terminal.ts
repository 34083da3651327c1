import { ansiPaint, plainPaint, type Paint } from '../shared/paint.ts';
import { readEnvironment } from './environment.ts';

/** Where a verb writes for people, and how. */
export interface Terminal {
  paint: Paint;
  /** Characters a line, 60 to 100. */
  width: number;
  write: (text: string) => void;
  /** Shows a line, shorter than `width`, that the next one replaces; nothing in a pipe. */
  live: (line: string) => void;
}

/**
 * The terminal that a stream is, or the plain form of it when it is a pipe. Colours only on a
 * terminal, and not where NO_COLOR is set.
 */
export function terminalOf(stream: NodeJS.WriteStream): Terminal {
  const isTerminal = stream.isTTY;
  const { NO_COLOR = '' } = readEnvironment();
  const width = Math.min(100, Math.max(60, (isTerminal && stream.columns) || 80));
  let shown = false;
  const clear = (): void => {
    if (shown) stream.write('\r\u001B[2K');
    shown = false;
  };
  return {
    paint: isTerminal && NO_COLOR === '' ? ansiPaint : plainPaint,
    width,
    write(text) {
      clear();
      stream.write(text);
    },
    live(line) {
      if (!isTerminal) return;
      clear();
      stream.write(line);
      shown = line !== '';
    },
  };
}
