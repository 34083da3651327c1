/** The indented rows of the demo: a label, and a text that is wrapped next to it. */
import { wrap } from '../../src/report-kit/terminal.ts';
import type { Terminal } from '../output/terminal.ts';

const LABEL_WIDTH = 10;

/** Writes a label and a wrapped text. */
export function writeRow(out: Terminal, label: string, text: string): void {
  const [first = '', ...rest] = wrap(text, out.width - LABEL_WIDTH);
  const lines = [
    `   ${label.padEnd(LABEL_WIDTH - 3)}${first}`,
    ...rest.map((line) => ' '.repeat(LABEL_WIDTH) + line),
  ];
  out.write(`${lines.join('\n')}\n`);
}

/** Writes an outcome in its color, and a wrapped text. */
export function writeOutcome(out: Terminal, outcome: string, text: string): void {
  const color = outcome === 'pass' ? 'green' : 'red';
  const [first = '', ...rest] = wrap(text, out.width - LABEL_WIDTH);
  const lines = [
    `   ${out.style(color, outcome)}${' '.repeat(Math.max(1, LABEL_WIDTH - 3 - outcome.length))}${first}`,
    ...rest.map((line) => ' '.repeat(LABEL_WIDTH) + line),
  ];
  out.write(`${lines.join('\n')}\n`);
}
