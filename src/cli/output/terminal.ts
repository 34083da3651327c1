import { ansiStyle, cutTo, plainStyle, type ApplyStyle } from '../../report-kit/terminal.ts';
import { readEnvironment } from '../flags/environment.ts';

/** Where a verb writes for people, and how. */
export interface Terminal {
  style: ApplyStyle;
  /** Characters a line, 60 to 100. */
  width: number;
  write: (text: string) => void;
  /** Whether `live` shows anything. */
  isLive: boolean;
  /** Shows a line, cut to the terminal, that the next one replaces; nothing in a pipe. */
  live: (line: string) => void;
}

/**
 * The terminal that a stream is, or the plain form of it when it is a pipe. Colours only on a
 * terminal, and not where NO_COLOR is set; neither they nor a line that changes where TERM is dumb.
 */
export function terminalOf(stream: NodeJS.WriteStream): Terminal {
  const { NO_COLOR = '', TERM = '' } = readEnvironment();
  const isTerminal = stream.isTTY;
  const knowsCodes = isTerminal && TERM !== 'dumb';
  const width = Math.min(100, Math.max(60, (isTerminal && stream.columns) || 80));
  let shown = false;
  const clear = (): void => {
    if (shown) stream.write('\r\u001B[2K');
    shown = false;
  };
  return {
    style: knowsCodes && NO_COLOR === '' ? ansiStyle : plainStyle,
    width,
    isLive: knowsCodes,
    write(text) {
      clear();
      stream.write(text);
    },
    live(line) {
      if (!knowsCodes) return;
      clear();
      // A line that breaks leaves all but its last part behind; a terminal may be made narrower.
      stream.write(cutTo(line, (stream.columns || 80) - 1));
      shown = line !== '';
    },
  };
}
