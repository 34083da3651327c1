/** JSON files that come from earlier runs: reports to compare with, and known failures. */
import { z } from 'zod';
import type { KnownFailure } from '../../../conformance/index.ts';
import type { Messages } from '../../contract/index.ts';
import { didYouMean, UsageError } from '../errors.ts';
import { readJsonFile } from './documents.ts';

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
  const { value, check } = readJsonFile(path, '--compare');
  try {
    check(name);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(
      `--compare must be a report of sandbox-kit ${commands[name]} --json. ${error.message}`,
    );
  }
  return value as Messages[Name];
}

const EXPECTED = 'expected {"accepted":[{"id":"CHAT-024","comment":"why"}]}';

const knownFailures = z.strictObject({
  accepted: z.array(z.strictObject({ id: z.string(), comment: z.string().trim().min(1) })),
});

/**
 * Reads the failures that `--known-failures` accepts; none without a path.
 *
 * @throws {UsageError} if the file has another form, an id is unknown, or an id is repeated.
 */
export function readKnownFailures(
  path: string | undefined,
  requirementIds: readonly string[],
): KnownFailure[] {
  if (path === undefined) return [];
  const { value, locate } = readJsonFile(path, '--known-failures');
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
        : `Invalid known failures${pointer === '' ? '' : ` at ${pointer}`}: ${EXPECTED}.`,
    );
  }
  const { accepted } = parsed.data;
  for (const [index, { id }] of accepted.entries()) {
    const pointer = `/accepted/${index}/id`;
    if (!requirementIds.includes(id)) {
      const hint = didYouMean(id, requirementIds, 'Run sandbox-kit explain to list all.');
      throw errorAt(pointer, `Unknown requirement ${JSON.stringify(id)} in this run. ${hint}`);
    }
    if (accepted.findIndex((failure) => failure.id === id) !== index) {
      throw errorAt(pointer, `Duplicate requirement ${JSON.stringify(id)}.`);
    }
  }
  return accepted;
}
