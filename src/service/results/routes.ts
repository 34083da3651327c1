import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  serviceRoutes,
  type ProductionSessionPage,
  type SimulationSessionPage,
} from '../../contract/index.ts';
import { readQuery } from '../../http-kit/query.ts';
import type { Authentication } from '../domain/authentication.ts';
import { loadTurns } from '../domain/transcripts.ts';
import type { Session, SessionKind, Store } from '../store/store.ts';
import { readResultsQuery } from '../domain/results-query.ts';
import { toProductionView, toSimulationView, type ViewOptions } from './views.ts';

/** Dependencies of the results endpoints. */
export interface ResultsDeps {
  store: Store;
  authentication: Authentication;
  /** Returns the base URL of deep links, without a trailing slash; known once the service listens. */
  appUrl: () => string;
  /** Injects the faults set for this endpoint; throws the error to respond with. */
  injectFault: () => Promise<void>;
}

/** Adds both results endpoints (spec 4.3, 4.4), with and without a trailing slash. */
export function addResultsRoutes(app: FastifyInstance, deps: ResultsDeps): void {
  const { listSimulationSessions, listProductionSessions } = serviceRoutes;
  for (const path of withAndWithoutSlash(listSimulationSessions.path)) {
    app.get(path, (request): Promise<SimulationSessionPage> =>
      sendPage(deps, request, 'simulation', toSimulationView),
    );
  }
  for (const path of withAndWithoutSlash(listProductionSessions.path)) {
    app.get(path, (request): Promise<ProductionSessionPage> =>
      sendPage(deps, request, 'production', toProductionView),
    );
  }
}

const withAndWithoutSlash = (path: string): string[] => [path, path.replace(/\/$/, '')];

interface Page<Item> {
  items: Item[];
  total: number;
  skip: number;
  limit: number;
  [more: string]: unknown;
}

/** Responds with a page of sessions, newest first. */
async function sendPage<Item>(
  { authentication, store, appUrl, injectFault }: ResultsDeps,
  request: FastifyRequest,
  kind: SessionKind,
  toView: (session: Session, options: ViewOptions) => Item,
): Promise<Page<Item>> {
  const { ownerId } = await authentication.authenticateCaller(request.headers);
  await injectFault();
  const { filter, includeTraces } = readResultsQuery(kind, ownerId, readQuery(request));
  const { sessions, total } = await store.sessions.listPage(filter);
  const items: Item[] = [];
  for (const session of sessions) {
    const turns = includeTraces ? await loadTurns(store, session) : undefined;
    items.push(toView(session, { appUrl: appUrl(), failedOnly: filter.failedOnly, turns }));
  }
  return { items, total, skip: filter.skip, limit: filter.limit };
}
