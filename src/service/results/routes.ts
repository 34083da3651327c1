import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ProductionSessionPage, SimulationSessionPage } from '../../contract/index.ts';
import type { Authentication } from '../app/authentication.ts';
import { loadTurns } from '../domain/sessions.ts';
import type { Session, SessionKind, Store } from '../store/store.ts';
import { toProductionView } from './production-view.ts';
import { readResultsQuery } from './read-query.ts';
import { toSimulationView, type ViewOptions } from './simulation-view.ts';

/** What the results endpoints work with. */
export interface ResultsDeps {
  store: Store;
  authentication: Authentication;
  /** Base of the deep links, without a slash at the end; known once the service listens. */
  appUrl: () => string;
  /** Injects the faults set for this endpoint; throws the error to respond with. */
  injectFault: () => Promise<void>;
}

/** Where results are read, without the slash at the end that may follow. */
export const resultsPaths = {
  simulation: '/api/simulations/sessions',
  production: '/api/prod-evaluations/sessions',
} as const satisfies Record<SessionKind, string>;

/** `GET` on the two results endpoints (spec 4.3, 4.4), with and without the slash at the end. */
export function addResultsRoutes(app: FastifyInstance, deps: ResultsDeps): void {
  for (const slash of ['/', '']) {
    app.get(resultsPaths.simulation + slash, (request): Promise<SimulationSessionPage> =>
      page(deps, request, 'simulation', toSimulationView),
    );
    app.get(resultsPaths.production + slash, (request): Promise<ProductionSessionPage> =>
      page(deps, request, 'production', toProductionView),
    );
  }
}

interface Page<Item> {
  items: Item[];
  total: number;
  skip: number;
  limit: number;
  [more: string]: unknown;
}

/** A page of sessions, newest first, seen as `view` has them. */
async function page<Item>(
  { authentication, store, appUrl, injectFault }: ResultsDeps,
  request: FastifyRequest,
  kind: SessionKind,
  view: (session: Session, options: ViewOptions) => Item,
): Promise<Page<Item>> {
  const { ownerId } = await authentication.caller(request.headers);
  await injectFault();
  const { filter, includeTraces } = readResultsQuery(kind, ownerId, request.url);
  const { sessions, total } = await store.sessions.listPage(filter);
  const items: Item[] = [];
  for (const session of sessions) {
    const turns = includeTraces ? await loadTurns(store, session) : undefined;
    items.push(view(session, { appUrl: appUrl(), failedOnly: filter.failedOnly, turns }));
  }
  return { items, total, skip: filter.skip, limit: filter.limit };
}
