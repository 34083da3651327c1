import { formatValue } from '../../../contract/index.ts';
import type { RunRef, SessionKind, Store } from '../../store/store.ts';
import type { Pages } from '../frame/pages.ts';
import { renderChoicePage } from './choice-page.ts';
import { renderComparePage } from './compare-page.ts';
import { loadComparison, type ComparisonOptions, type RunOfSide } from './load-comparison.ts';

/** The most runs to choose from. */
const RUNS_MAX = 50;

/** Adds the comparison of two runs by their ids in deep links. */
export function addCompareRoutes({ page }: Pages, options: ComparisonOptions): void {
  const { store } = options;
  page('/compare', async ({ ownerId, context, query }) => {
    const [a, b] = [query.get('a') ?? '', query.get('b') ?? ''];
    const { kind, runs: loaded } = await loadRuns(store, ownerId, [a, b], query.get('kind'));
    const [before, after] = loaded;
    if (before && after && a !== b) {
      const comparison = await loadComparison(options, [
        { ref: { ownerId, kind, id: a }, details: before },
        { ref: { ownerId, kind, id: b }, details: after },
      ]);
      return renderComparePage(comparison, context);
    }
    const problem = describeProblem(kind, [
      [a, before],
      [b, after],
    ]);
    const { runs } = await store.runs.list({ ownerId, kind, skip: 0, limit: RUNS_MAX });
    const chosen = { a: before && a, b: after && b };
    const choice = renderChoicePage({ kind, runs, chosen, problem }, context);
    return problem === undefined ? choice : { status: a === b ? 400 : 404, page: choice };
  });
}

/**
 * Loads runs by their ids. If the query does not say whether they are simulations or production runs, they
 * are simulations if one of the ids is that of a simulation.
 */
async function loadRuns(
  store: Store,
  ownerId: string,
  ids: readonly string[],
  kind: string | null,
): Promise<{ kind: SessionKind; runs: readonly (RunOfSide | undefined)[] }> {
  const listRefs = (refKind: SessionKind): RunRef[] =>
    ids.map((id) => ({ ownerId, kind: refKind, id }));
  if (kind !== 'production') {
    const runs = await store.runs.loadSums(listRefs('simulation'));
    if (kind === 'simulation' || runs.some((run) => run !== undefined)) {
      return { kind: 'simulation', runs };
    }
  }
  return { kind: 'production', runs: await store.runs.load(listRefs('production')) };
}

/** Says why two runs can't be compared; undefined if one is still to be chosen. */
function describeProblem(
  kind: SessionKind,
  chosen: readonly (readonly [id: string, details: RunOfSide | undefined])[],
): string | undefined {
  const noun = kind === 'production' ? 'run' : 'simulation';
  const unknown = chosen.find(([id, details]) => id !== '' && !details);
  if (unknown) {
    return `There is no ${noun} ${formatValue(unknown[0])}. It was deleted, or it belongs to another owner. Choose two from the list.`;
  }
  const [first, second] = chosen;
  if (first && second && first[0] !== '' && first[0] === second[0]) {
    return `Both are the same ${noun}. Choose two different ones.`;
  }
  return undefined;
}
