import type { EvalDefinition, Persona, Scenario } from '../../contract/index.ts';
import { awaitValues } from '../../platform/concurrency.ts';
import { foldCase } from '../../platform/fold-case.ts';
import type { RunSummary, Session, SessionKind, StoredAgent, Store } from '../store/store.ts';
import { listDocuments } from './documents.ts';

/** The most results of a kind. */
const RESULTS_MAX = 10;

/** The first results of a kind, and whether there are more. */
export interface Found<Item> {
  items: readonly Item[];
  hasMore: boolean;
}

/** What a search over everything finds. */
export interface SearchResults {
  agents: Found<StoredAgent>;
  scenarios: Found<Scenario>;
  personas: Found<Persona>;
  evals: Found<EvalDefinition>;
  runs: Found<RunSummary>;
  simulations: Found<RunSummary>;
  /** Ids of conversations of live traces that begin with the text. */
  conversations: Found<string>;
  /** Sessions whose id begins with the text. */
  byId: Found<Session>;
  /** Sessions where the user or the agent says the text. */
  said: Record<SessionKind, Found<Session>>;
}

type SearchedStores = Pick<Store, 'documents' | 'evals' | 'runs' | 'sessions' | 'conversations'>;

/**
 * Finds what has a text in its name or id, sessions whose id begins with it, and sessions where it is
 * said. Each kind has at most 10 results.
 */
export async function searchEverything(
  store: SearchedStores,
  ownerId: string,
  text: string,
): Promise<SearchResults> {
  const named = foldCase(text);
  const pickNamed = <Item extends { id: string; name: string }>(all: readonly Item[]) =>
    first(all.filter(({ id, name }) => foldCase(`${id}\n${name}`).includes(named)));
  // One more than is shown says whether there are more.
  const page = { skip: 0, limit: RESULTS_MAX + 1 };
  const findRuns = async (kind: SessionKind) =>
    first((await store.runs.list({ ownerId, kind, name: text, ...page })).runs);
  const findSaid = async (kind: SessionKind) =>
    first(
      (await store.sessions.listPage({ ownerId, kind, text, failedOnly: false, ...page })).sessions,
    );
  return awaitValues({
    agents: listDocuments(store, ownerId, 'agent').then(pickNamed),
    scenarios: listDocuments(store, ownerId, 'scenario').then(pickNamed),
    personas: listDocuments(store, ownerId, 'persona').then(pickNamed),
    evals: store.evals.list(ownerId).then(pickNamed),
    runs: findRuns('production'),
    simulations: findRuns('simulation'),
    conversations: store.conversations.listByIdPrefix(ownerId, text, page.limit).then(first),
    byId: store.sessions.listByIdPrefix(ownerId, text, page.limit).then(first),
    said: awaitValues({
      production: findSaid('production'),
      simulation: findSaid('simulation'),
    }),
  });
}

const first = <Item>(found: readonly Item[]): Found<Item> => ({
  items: found.slice(0, RESULTS_MAX),
  hasMore: found.length > RESULTS_MAX,
});
