import { sandboxSuite } from '../../conformance/areas/index.ts';
import type { Mutant } from '../../conformance/engine/mutants/mutant.ts';
import type { RequirementId } from '../../conformance/engine/requirement.ts';

/** About as expensive as this many requests: a turn of a call, with speech in both directions. */
const REQUESTS_PER_TURN = 20;

/** Returns about how much a run against a mutant of the sandbox costs, in requests. */
function costOf({ kills }: Mutant): number {
  return sandboxSuite.probes
    .filter(({ exercises }) => kills.some((id) => exercises.includes(id)))
    .map(({ cost }) => cost([], 0))
    .reduce(
      (total, { requests, modelCalls }) => total + requests + REQUESTS_PER_TURN * modelCalls,
      1,
    );
}

/**
 * Returns ids of mutants that together kill every requirement that any of them kills: always the same
 * ones, and few and cheap ones.
 */
export function chooseCover(mutants: readonly Mutant[]): string[] {
  const left = new Set<RequirementId>(mutants.flatMap(({ kills }) => kills));
  const chosen: string[] = [];
  while (left.size > 0) {
    const [best] = mutants
      .map((mutant) => ({
        mutant,
        costPerKill: costOf(mutant) / mutant.kills.filter((id) => left.has(id)).length,
      }))
      .toSorted((a, b) => a.costPerKill - b.costPerKill);
    if (!best) break;
    chosen.push(best.mutant.id);
    for (const id of best.mutant.kills) left.delete(id);
  }
  return chosen;
}
