/** The indented rows of the demo: a label, and a text that is wrapped next to it. */
import { hangingIndent, pad, wrap } from '../../src/report-kit/terminal.ts';
import type { Terminal } from '../output/terminal.ts';

const INDENT = 3;
const LABEL_WIDTH = 7;

/** Writes a label and a wrapped text. */
export function writeRow(
  out: Terminal,
  label: string,
  text: string,
  styleLabel = (plain: string): string => plain,
): void {
  const start = ' '.repeat(INDENT) + pad(styleLabel(label), LABEL_WIDTH);
  const lines = hangingIndent(start, wrap(text, out.width - INDENT - LABEL_WIDTH));
  out.write(`${lines.join('\n')}\n`);
}

/** Writes an outcome in its color, and a wrapped text. */
export function writeOutcome(out: Terminal, outcome: string, text: string): void {
  const color = outcome === 'pass' ? 'green' : 'red';
  writeRow(out, outcome, text, (label) => out.style(color, label));
}
