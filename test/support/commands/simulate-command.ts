/** What the tests of the command `simulate` share. */
import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import { findViolations, type SimulationReport } from '../../../src/contract/index.ts';
import type { CommandResult } from './command.ts';

/** A scenario that an agent passes if its reply contains "welcome". */
export const HELLO = `id: hello
name: Says hello
user: { opening: Hello }
evals:
  - { id: kind, name: Is kind, kind: contains, params: { text: welcome } }
`;

/** Reads a report that the command wrote, and asserts that it has the form of the schema. */
export function readSimulationReport(t: Pick<Test, 'same'>, path: string): SimulationReport {
  const report = JSON.parse(readFileSync(path, 'utf8')) as SimulationReport;
  t.same(findViolations('SimulationReport', report), []);
  return report;
}

/** Asserts lines of at most 80 columns without escape codes. */
export function assertPlain(
  t: Pick<Test, 'same' | 'notMatch'>,
  { stdout, stderr }: Pick<CommandResult, 'stdout' | 'stderr'>,
): void {
  // A command is not wrapped, so that it can be copied.
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => !/^ +curl '/.test(line));
  t.same(
    lines.filter((line) => line.length > 80),
    [],
    'no line is longer than 80 columns',
  );
  // eslint-disable-next-line no-control-regex
  t.notMatch(stdout + stderr, /\u001b/, 'no colors in a pipe');
}
