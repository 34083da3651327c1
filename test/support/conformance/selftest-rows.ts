import type { SelftestResult } from '../../../conformance/proof/selftest.ts';

/** Says how the rows of a self-test were judged, e.g. `mutant: 228 by a recording, 21 by a run`. */
export function describeRows({ rows, skipped }: SelftestResult): string {
  const kinds = [...new Set(rows.map(({ kind }) => kind))].map((kind) => {
    const ofKind = rows.filter((row) => row.kind === kind);
    const replayed = ofKind.filter(({ isReplayed }) => isReplayed);
    return `${kind}: ${replayed.length} by a recording, ${ofKind.length - replayed.length} by a run`;
  });
  return [...kinds, `${skipped.length} mutants left to the night`].join('; ');
}
