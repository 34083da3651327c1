/** The file of accepted failures that `--known-failures` names. */
import * as z from 'zod';
import type * as conformanceModule from '../../conformance/index.ts';
import type { Selection } from '../../conformance/index.ts';
import { readJsonFile } from '../../library/input/documents.ts';
import { findKnownFailureProblem } from '../../library/known-failures.ts';
import type { Area } from '../../src/contract/index.ts';
import type { KnownFailure } from '../../src/options/shared.ts';
import { formatList } from '../../src/report-kit/format.ts';
import { UsageError } from '../errors.ts';

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
