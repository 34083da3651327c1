/** The layout of help texts: two columns, examples, and paragraphs. */
import { hangingIndent, wrap } from '../../src/report-kit/terminal.ts';
import type { Example } from '../command.ts';
import { fill, WIDTH } from './message.ts';

const NAME_WIDTH_MAX = 28;

/** A name and its description. */
export type Row = readonly [name: string, text: string];

/** Formats rows in two columns. `alignedNames` sets the width of the first one. */
export function section(
  heading: string,
  rows: readonly Row[],
  alignedNames = rows.map(([name]) => name),
): string {
  if (rows.length === 0) return '';
  const widths = alignedNames.map(({ length }) => length).filter((it) => it <= NAME_WIDTH_MAX);
  const indent = 2 + Math.max(0, ...widths) + 2;
  const lines = rows.flatMap(([name, text]) => {
    const label = `  ${name}  `.padEnd(indent);
    const description = wrapUnbroken(text, WIDTH - indent);
    // A long name has its own line.
    return label.length > indent
      ? [`  ${name}`, ...hangingIndent(' '.repeat(indent), description)]
      : hangingIndent(label, description);
  });
  return [`${heading}:`, ...lines].join('\n');
}

/** Wraps text without breaking a short default. */
function wrapUnbroken(text: string, width: number): string[] {
  const joined = text.replaceAll(/\(default: [^)]{1,28}\)/g, (it) => it.replaceAll(' ', '\0'));
  return wrap(joined, width).map((line) => line.replaceAll('\0', ' '));
}

/** Writes the notes next to the commands if all fit, or else above them. */
export function formatExamples(examples: readonly Example[]): string {
  const column = Math.max(...examples.map(({ command }) => command.length));
  const isInline = examples.every(({ note = '' }) => 2 + column + 4 + note.length <= WIDTH);
  const lines = examples.flatMap(({ command, note }) => {
    if (note === undefined) return [`  ${command}`];
    return isInline ? [`  ${command.padEnd(column)}  # ${note}`] : [`  # ${note}`, `  ${command}`];
  });
  return ['Examples:', ...lines].join('\n');
}

/** Writes the exit codes as one paragraph. */
export function formatExitCodes(codes: Readonly<Record<number, string>>): string {
  const text = Object.entries(codes)
    .map(([code, meaning]) => `${code} ${meaning}`)
    .join(', ');
  return fill(`Exit codes: ${text}.`);
}

/** Joins paragraphs with empty lines; empty ones are omitted. */
export const joinParagraphs = (paragraphs: readonly string[]): string =>
  `${paragraphs.filter((paragraph) => paragraph !== '').join('\n\n')}\n`;
