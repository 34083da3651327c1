import type { FastifyInstance } from 'fastify';
import { formatValue } from '../../../contract/index.ts';
import type { RunDetails, RunRef, SessionKind, Store } from '../../store/store.ts';
import { sendPage } from '../frame/page-frame.ts';
import { readQuery, type PageOptions } from '../frame/viewer.ts';
import { renderChoicePage } from './choice-page.ts';
import { renderComparePage } from './compare-page.ts';
import { loadComparison } from './load-comparison.ts';

/** The most runs to choose from. */
const RUNS_MAX = 50;

/** Adds the comparison of two runs by their ids in deep links. */
export function addCompareRoutes(app: FastifyInstance, options: PageOptions): void {
  const { store, findViewer } = options;
  app.get('/compare', async (request, reply) => {
    const { ownerId, context } = await findViewer(request);
    const query = readQuery(request);
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
      return sendPage(reply, renderComparePage(comparison, context));
    }
    const problem = describeProblem(kind, [
      [a, before],
      [b, after],
    ]);
    if (problem !== undefined) reply.code(a === b ? 400 : 404);
    const { runs } = await store.runs.list({ ownerId, kind, skip: 0, limit: RUNS_MAX });
    const chosen = { a: before && a, b: after && b };
    return sendPage(reply, renderChoicePage({ kind, runs, chosen, problem }, context));
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
