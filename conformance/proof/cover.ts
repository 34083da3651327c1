import { suiteOf } from '../areas/index.ts';
import type { Mutant } from '../engine/mutants/mutant.ts';
import type { RequirementId } from '../engine/requirement.ts';

/** About as expensive as this many requests: a turn of a call, with speech in both directions. */
const REQUESTS_PER_TURN = 20;

/** Returns about how much a run against a mutant costs, in requests. */
function costOf({ areas, kills }: Mutant): number {
  return suiteOf({ areas })
    .probes.filter(({ exercises }) => kills.some((id) => exercises.includes(id)))
    .map(({ cost }) => cost([], 0))
    .map(({ requests, modelCalls }) => requests + REQUESTS_PER_TURN * modelCalls)
    .reduce((total, cost) => total + cost, 1);
}

/**
 * Returns mutants that together kill every requirement that any of them kills and that is not killed
 * yet: always the same ones, and few and cheap ones.
 */
export function chooseCover(
  mutants: readonly Mutant[],
  killed: ReadonlySet<RequirementId>,
): ReadonlySet<Mutant> {
  const left = new Set(mutants.flatMap(({ kills }) => kills).filter((id) => !killed.has(id)));
  const costs = new Map(mutants.map((mutant) => [mutant, costOf(mutant)]));
  const chosen = new Set<Mutant>();
  while (left.size > 0) {
    const [best] = mutants
      .map((mutant) => ({ mutant, count: mutant.kills.filter((id) => left.has(id)).length }))
      .filter(({ count }) => count > 0)
      .map(({ mutant, count }) => ({ mutant, price: (costs.get(mutant) ?? 0) / count }))
      .toSorted((a, b) => a.price - b.price);
    if (!best) break;
    chosen.add(best.mutant);
    for (const id of best.mutant.kills) left.delete(id);
  }
  return chosen;
}
