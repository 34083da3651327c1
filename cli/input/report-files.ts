/** JSON reports of earlier runs, to compare with or to merge. */
import type * as conformanceModule from '../../conformance/index.ts';
import { readJsonFile } from '../../library/input/documents.ts';
import {
  isMessage,
  type Area,
  type CheckReport,
  type LoadReport,
  type Messages,
} from '../../src/contract/index.ts';
import { SandboxKitError, UsageError } from '../errors.ts';

const commands = {
  CheckReport: 'check',
  LoadReport: 'load',
  SimulationReport: 'simulate',
} as const;

/**
 * Reads the earlier report that `--compare` names; undefined without a path.
 *
 * @throws {UsageError} if the file is not a report of the command.
 */
export function readEarlierReport<Name extends keyof typeof commands>(
  path: string | undefined,
  name: Name,
): Messages[Name] | undefined {
  if (path === undefined) return undefined;
  const report = readReport(path, '--compare', name);
  const { shard } = report as Partial<LoadReport>;
  if (shard) {
    const { index, count } = shard;
    throw new UsageError(
      `--compare needs the report of a whole run, but ${path} is that of shard ${index}/${count}. ` +
        'Merge the reports of all shards with sandbox-kit load --merge FILES --json FILE, and compare with the result.',
    );
  }
  return report;
}

/**
 * Reads a report of an earlier run.
 *
 * @throws {UsageError} if the file is not a report of the command.
 */
export function readReport<Name extends keyof typeof commands>(
  path: string,
  option: string,
  name: Name,
): Messages[Name] {
  const expected = `a report of sandbox-kit ${commands[name]} --json`;
  const { value, check } = readJsonFile(path, option, expected);
  try {
    check(name);
  } catch (error) {
    if (!(error instanceof SandboxKitError)) throw error;
    const other = Object.entries(commands).find(([kind]) => isMessage(kind as Name, value));
    if (other) {
      throw new UsageError(
        `${option} must be ${expected}, but ${path} is a report of sandbox-kit ${other[1]}.`,
      );
    }
    // Another file lacks every field: the first problem is enough.
    const [problem = error.message] = error.problems;
    throw new UsageError(`${option} must be ${expected}. ${problem}`);
  }
  return value as Messages[Name];
}

/**
 * Reads the earlier report of a check; undefined without a path.
 *
 * @throws {UsageError} if the file is not a report of `check`, or it is about the other kind of server.
 */
export function readEarlierCheck(
  path: string | undefined,
  areas: readonly Area[],
  { idsOfRun }: typeof conformanceModule,
): CheckReport | undefined {
  const earlier = readEarlierReport(path, 'CheckReport');
  if (!earlier) return undefined;
  const runIds: readonly string[] = idsOfRun({ areas });
  if (earlier.requirements.some(({ id }) => runIds.includes(id))) return earlier;
  const [now, before] = areas.includes('service')
    ? ['a service', 'a sandbox']
    : ['a sandbox', 'a service'];
  throw new UsageError(
    `--compare must be a report about ${now}, but ${path} is a report about ${before}. Use another file.`,
  );
}
