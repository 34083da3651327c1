import { explain, violations, type Messages } from '../../contract/index.ts';
import { readTextFile } from './files.ts';
import { UsageError } from '../flags/usage-error.ts';

const verbs = { LoadReport: 'load', SimulationReport: 'simulate' } as const;

/**
 * Reads the report of an earlier run, as `--baseline` names it.
 *
 * @throws {UsageError} where it is none.
 */
export function readEarlierReport<Name extends keyof typeof verbs>(
  path: string,
  name: Name,
): Messages[Name] {
  const wrong = (why: string): UsageError =>
    new UsageError(`--baseline: ${path} is not a report of ${verbs[name]} --json: ${why}`);
  let report: unknown;
  try {
    report = JSON.parse(readTextFile(path, '--baseline'));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw wrong('it is not JSON');
  }
  const found = violations(name, report);
  if (found.length > 0) throw wrong(explain(found));
  return report as Messages[Name];
}
