/** What the self-tests of all areas assert. */
import type { Test } from 'tap';
import type { RequirementId } from '../../../conformance/engine/requirement-id.ts';
import type { Mutant } from '../../../conformance/engine/mutants/mutant.ts';
import {
  killable,
  selftest,
  selftestSize,
  type SelftestOptions,
  type SelftestResult,
} from '../../../conformance/proof/selftest.ts';
import { isNightly } from '../nightly.ts';

/** Asserts that mutants kill each of these requirements (default: all) that can fail. */
export function assertKilled(
  t: Test,
  mutants: readonly Mutant[],
  ids?: readonly RequirementId[],
): void {
  const killed = new Set<string>(mutants.flatMap(({ kills }) => kills));
  for (const id of killable(ids)) t.ok(killed.has(id), `${id} is killed by a mutant`);
}

/** Asserts that each peer of a self-test has the expected result. On a push, the self-test is quick. */
export async function assertSelftest(
  t: Test,
  options: Omit<SelftestOptions, 'kitVersion' | 'onResult'>,
): Promise<void> {
  const result = await selftest({
    kitVersion: 'test',
    isQuick: !isNightly,
    ...options,
    onResult: ({ kind, id, expected, actual, ms }) =>
      t.same(actual, expected, `${kind} ${id} (${Math.round(ms)} ms)`),
  });
  t.equal(result.cause, undefined, `the unchanged peer conforms; seed ${result.seed}`);
  if (options.only === undefined) t.same(result.unkilled, [], 'every mutant is killed');
  t.equal(result.rows.length + result.skipped.length, selftestSize(options));
  t.comment(describeRows(result));
  t.ok(result.ok);
}

/** Says how the rows of a self-test were judged, e.g. `mutant: 228 by a recording, 21 by a run`. */
function describeRows({ rows, skipped, ms }: SelftestResult): string {
  const kinds = [...new Set(rows.map(({ kind }) => kind))].map((kind) => {
    const ofKind = rows.filter((row) => row.kind === kind);
    const replayed = ofKind.filter(({ isReplayed }) => isReplayed);
    return `${kind}: ${replayed.length} by a recording, ${ofKind.length - replayed.length} by a run`;
  });
  const total = `${rows.length} rows in ${Math.round(ms / 1_000)} s`;
  return [...kinds, `${skipped.length} mutants left to the night`, total].join('; ');
}
