import { listDocumentIds } from '../../operations/documents.ts';
import type { Store } from '../../store/store.ts';
import type { PageContext } from '../frame/page-frame.ts';
import { linkToEval, linkToScenario } from './run-links.ts';

/** The ids of the scenarios and evals that are stored, and so have a page. */
export interface StoredDefinitions {
  scenarios: ReadonlySet<string>;
  evals: ReadonlySet<string>;
}

/** Lists the scenarios and evals of an owner. */
export async function listStoredDefinitions(
  store: Pick<Store, 'documents' | 'evals'>,
  ownerId: string,
): Promise<StoredDefinitions> {
  const [scenarioIds, evals] = await Promise.all([
    listDocumentIds(store, ownerId, 'scenario'),
    store.evals.list(ownerId),
  ]);
  return {
    scenarios: new Set(scenarioIds),
    evals: new Set(evals.map(({ id }) => id)),
  };
}

/** Returns what links to the page of a scenario, if it has one. */
export const scenarioLinks =
  ({ scenarios }: Pick<StoredDefinitions, 'scenarios'>, context: PageContext) =>
  (id: string): string | undefined =>
    scenarios.has(id) ? linkToScenario(id, context) : undefined;

/** Returns what links to the page of an eval, if it has one. */
export const evalLinks =
  ({ evals }: Pick<StoredDefinitions, 'evals'>, context: PageContext) =>
  (id: string): string | undefined =>
    evals.has(id) ? linkToEval(id, context) : undefined;
