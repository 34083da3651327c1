/** JSON files that come from earlier runs: reports to compare with, and known failures. */
import * as z from 'zod';
import type * as conformanceModule from '../../conformance/index.ts';
import type { Selection } from '../../conformance/index.ts';
import type { KnownFailure } from '../../src/options/shared.ts';
import {
  isMessage,
  type Area,
  type CheckReport,
  type LoadReport,
  type Messages,
} from '../../src/contract/index.ts';
import { formatList } from '../../src/report-kit/format.ts';
import { readJsonFile } from '../../library/input/documents.ts';
import { findKnownFailureProblem } from '../../library/known-failures.ts';
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

const EXAMPLE = '{"accepted":[{"id":"CHAT-024","comment":"why"}]}';

const knownFailures = z.strictObject({
  accepted: z.array(z.strictObject({ id: z.string(), comment: z.string().trim().min(1) })),
});

/**
 * Reads the failures that `--known-failures` accepts; none without a path. An id of an area that is
 * not checked is valid, because one file can serve several runs.
 *
 * @throws {UsageError} if the file has another form, or an id is unknown, belongs to the other kind of
 *   server, or is repeated.
 */
export function readKnownFailures(
  path: string | undefined,
  areas: readonly Area[],
  conformance: typeof conformanceModule,
): KnownFailure[] {
  if (path === undefined) return [];
  const expected = `a JSON file such as ${EXAMPLE}`;
  const { value, locate } = readJsonFile(path, '--known-failures', expected);
  const errorAt = (pointer: string, message: string): UsageError =>
    new UsageError(`${locate(pointer)}: ${message}`);
  const parsed = knownFailures.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const pointer = (issue?.path ?? []).map((key) => `/${String(key)}`).join('');
    throw errorAt(
      pointer,
      issue?.code === 'too_small'
        ? `${pointer} must not be empty. State why the failure is accepted.`
        : `Invalid known failures${pointer === '' ? '' : ` at ${pointer}`}: expected ${EXAMPLE}.`,
    );
  }
  const { accepted } = parsed.data;
  const problem = findKnownFailureProblem(accepted, areas, conformance);
  if (problem) throw errorAt(`/accepted/${problem.index}/id`, problem.message);
  return accepted;
}

/** Returns a sentence about the accepted failures that are not selected; undefined if all are. */
export function describeUnselected(
  knownFailures: readonly KnownFailure[],
  { areas, selected }: Selection,
  { idsOf }: typeof conformanceModule,
): string | undefined {
  const selectedIds: readonly string[] = selected ?? areas.flatMap(idsOf);
  const ids = knownFailures.map(({ id }) => id).filter((id) => !selectedIds.includes(id));
  if (ids.length === 0) return undefined;
  const list = formatList(ids);
  const verb = ids.length === 1 ? 'is' : 'are';
  const part = selected ? 'only the selected requirements' : areas.join(', ');
  return `${list} (--known-failures) ${verb} not part of this run, which checks ${part}.`;
}
