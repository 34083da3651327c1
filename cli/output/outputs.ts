import { platform } from 'node:os';
import { quoteArgument } from '../../src/platform/shell.ts';
import { UsageError } from '../errors.ts';
import { identityOf, reserveFile, writeJsonOutput, writeOutput } from './files.ts';
import type { CommandProcess, OutputStream } from '../process.ts';
import { createTerminal, type Terminal } from './terminal.ts';

const OUTPUT_NAMES = ['json', 'junit', 'markdown', 'html', 'record'] as const;

/** Output files by option name; `-` is stdout. */
export type Outputs = Partial<Record<(typeof OUTPUT_NAMES)[number], string | undefined>>;

/** Returns the output files with the flags that name them. */
export const listOutputs = (outputs: Outputs): [flag: string, path: string][] =>
  OUTPUT_NAMES.flatMap((name): [string, string][] => {
    const path = outputs[name];
    return path === undefined ? [] : [[`--${name}`, path]];
  });

/**
 * Checks that every output file can be written, and returns the terminal for text: stdout, or stderr
 * if an output uses stdout.
 *
 * @throws {UsageError} if an output can't be written, or two outputs go to the same place.
 */
export function openOutputs(outputs: Outputs, { stdout, stderr, env }: CommandProcess): Terminal {
  const listed = listOutputs(outputs);
  const onStdout = listed.filter(([, path]) => path === '-').map(([flag]) => flag);
  if (onStdout.length > 1) {
    throw new UsageError(`Only one of ${onStdout.join(', ')} can be -, which is stdout.`);
  }
  rejectSameFile(listed.filter(([, path]) => path !== '-'));
  for (const [flag, path] of listed) reserveFile(path, flag);
  return createTerminal(onStdout.length === 1 ? stderr : stdout, env);
}

/**
 * Checks that no output replaces a file that an option reads.
 *
 * @throws {UsageError} about the first output that does.
 */
export function rejectOverwriting(
  outputs: Outputs,
  option: string,
  inputs: readonly string[],
): void {
  const identities = new Set(inputs.map(identityOf));
  for (const [flag, path] of listOutputs(outputs)) {
    const identity = path === '-' ? undefined : identityOf(path);
    if (identity === undefined || !identities.has(identity)) continue;
    throw new UsageError(
      `${flag} would overwrite ${path}, which ${option} reads. Use another file.`,
    );
  }
}

function rejectSameFile(outputs: readonly (readonly [flag: string, path: string])[]): void {
  const flags = new Map<string, string>();
  for (const [flag, path] of outputs) {
    const identity = identityOf(path);
    if (identity === undefined) continue;
    const first = flags.get(identity);
    if (first !== undefined) {
      throw new UsageError(`${first} and ${flag} both write to ${path}. Use two files.`);
    }
    flags.set(identity, flag);
  }
}

/** The views of a report, each made only if it is written. */
interface ReportViews {
  json: object;
  junit: () => string;
  markdown: () => string;
  html: () => string;
}

/**
 * Writes the views of a report that the options ask for, and says how to open the page.
 *
 * @throws {UsageError} if a file can't be written.
 */
export function writeViews(
  outputs: Outputs,
  views: ReportViews,
  { out, stdout }: { out: Terminal; stdout: OutputStream },
): void {
  const { json, junit, markdown, html } = outputs;
  if (json !== undefined) writeJsonOutput(json, views.json, stdout);
  if (junit !== undefined) writeOutput(junit, views.junit(), '--junit', stdout);
  if (markdown !== undefined) writeOutput(markdown, views.markdown(), '--markdown', stdout);
  if (html === undefined) return;
  writeOutput(html, views.html(), '--html', stdout);
  if (html !== '-') out.write(`Open the page: ${openCommandOf(html)}\n`);
}

/** Returns the command that opens a file in the user's browser. */
function openCommandOf(path: string): string {
  const commands: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'start ""' };
  return `${commands[platform()] ?? 'xdg-open'} ${quoteArgument(path)}`;
}
