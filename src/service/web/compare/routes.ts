import { formatValue } from '../../../contract/index.ts';
import type { RunDetails, RunRef, SessionKind, Store } from '../../store/store.ts';
import type { Pages } from '../frame/pages.ts';
import { renderChoicePage } from './choice-page.ts';
import { renderComparePage } from './compare-page.ts';
import { loadComparison, type ComparisonOptions } from './load-comparison.ts';

/** The most runs to choose from. */
const RUNS_MAX = 50;

/** Adds the comparison of two runs by their ids in deep links. */
export function addCompareRoutes({ page }: Pages, options: ComparisonOptions): void {
  const { store } = options;
  page('/compare', async ({ ownerId, context, query }) => {
    const [a, b] = [query.get('a') ?? '', query.get('b') ?? ''];
    const kind = await findKind(store, { ownerId, ids: [a, b], kind: query.get('kind') });
    const refs = [a, b].map((id): RunRef => ({ ownerId, kind, id }));
    const [before, after] = await store.runs.load(refs);
    const [beforeRef, afterRef] = refs;
    if (before && after && beforeRef && afterRef && a !== b) {
      const comparison = await loadComparison(options, [
        { ref: beforeRef, details: before },
        { ref: afterRef, details: after },
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

/** Finds out whether ids are those of simulations or of production runs, if the query does not say it. */
async function findKind(
  store: Store,
  { ownerId, ids, kind }: { ownerId: string; ids: readonly string[]; kind: string | null },
): Promise<SessionKind> {
  if (kind === 'production' || kind === 'simulation') return kind;
  const simulations = await store.runs.load(ids.map((id) => ({ ownerId, kind: 'simulation', id })));
  return simulations.some((simulation) => simulation !== undefined) ? 'simulation' : 'production';
}

/** Says why two runs can't be compared; undefined if one is still to be chosen. */
function describeProblem(
  kind: SessionKind,
  chosen: readonly (readonly [id: string, details: RunDetails | undefined])[],
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
