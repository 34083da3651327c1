import { identityOf, reserveFile } from '../input/files.ts';
import { terminalOf, type Terminal } from './terminal.ts';
import { UsageError } from '../flags/usage-error.ts';

/** The flags of a verb that write a file, `-` for stdout. */
export type Outputs = Partial<
  Record<'json' | 'junit' | 'markdown' | 'html' | 'record', string | undefined>
>;

/**
 * Makes sure that every output can be written, and gives the terminal for what people read: stderr
 * where an output takes stdout.
 *
 * @throws {UsageError} about the first that can't be written, and where two want the same place.
 */
export function openOutputs({ json, junit, markdown, html, record }: Outputs): Terminal {
  const named = Object.entries({ json, junit, markdown, html, record });
  const onStdout = named.filter(([, path]) => path === '-').map(([name]) => `--${name}`);
  if (onStdout.length > 1) {
    throw new UsageError(`${onStdout.join(', ')}: only one of them can be -, which is stdout.`);
  }
  refuseTwins(named.filter(([, path]) => path !== '-'));
  for (const [name, path] of named) if (path !== undefined) reserveFile(path, `--${name}`);
  return terminalOf(onStdout.length === 1 ? process.stderr : process.stdout);
}

/** Of two outputs in one file the second would be all that is left. */
function refuseTwins(named: readonly (readonly [string, string | undefined])[]): void {
  const taken = new Map<string, string>();
  for (const [name, path] of named) {
    const identity = path === undefined ? undefined : identityOf(path);
    if (identity === undefined) continue;
    const other = taken.get(identity);
    if (other !== undefined) {
      throw new UsageError(
        `--${other} and --${name}: both are to be written to ${path}: expected a file for each.`,
      );
    }
    taken.set(identity, name);
  }
}
