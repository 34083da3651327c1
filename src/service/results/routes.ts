import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  serviceRoutes,
  type ProductionSession,
  type SimulationSession,
} from '../../contract/index.ts';
import { readQuery } from '../../http-kit/query.ts';
import { systemClock } from '../../platform/clock.ts';
import { yieldPeriodically } from '../../platform/event-loop.ts';
import type { Authentication } from '../requests/authentication.ts';
import { holdTurns, loadTurns } from '../sessions/transcripts.ts';
import type { Session, SessionKind, Store } from '../store/store.ts';
import type { WorkQueue } from '../requests/work-queue.ts';
import { readResultsQuery } from '../requests/results-query.ts';
import { UnreadableConversationError } from '../turns/turn-builder.ts';
import type { SessionTurn } from '../turns/turn-types.ts';
import { createUnreadResponses, type UnreadResponses } from './unread-responses.ts';
import { writePage } from './write-page.ts';
import { toProductionView, toSimulationView, type ViewOptions } from './views.ts';

/** Dependencies of the results endpoints. */
export interface ResultsDeps {
  store: Store;
  authentication: Authentication;
  /** Returns the base URL of deep links, without a trailing slash; known once the service listens. */
  appUrl: () => string;
  queue: Pick<WorkQueue, 'enter'>;
  /** Injects the faults set for this endpoint; throws the error to respond with. */
  injectFault: () => Promise<void>;
}

/** Adds both results endpoints (spec 4.3, 4.4), with and without a trailing slash. */
export function addResultsRoutes(app: FastifyInstance, deps: ResultsDeps): void {
  const { listSimulationSessions, listProductionSessions } = serviceRoutes;
  const responses = createUnreadResponses(systemClock);
  const addRoute = (path: string, listed: Listed): void => {
    app.get(path, async (request, reply) => {
      const body = await readPage(deps, { request, responses }, listed);
      return reply.type('application/json').send(body);
    });
  };
  for (const path of withAndWithoutSlash(listSimulationSessions.path)) {
    addRoute(path, { kind: 'simulation', toView: toSimulationView });
  }
  for (const path of withAndWithoutSlash(listProductionSessions.path)) {
    addRoute(path, { kind: 'production', toView: toProductionView });
  }
}

const withAndWithoutSlash = (path: string): string[] => [path, path.replace(/\/$/, '')];

/** Returns the turns of a session. One that can't be read has none, and the others are listed. */
async function findTurns(store: Store, session: Session): Promise<SessionTurn[]> {
  try {
    return await loadTurns(store, session);
  } catch (error) {
    if (error instanceof UnreadableConversationError) return [];
    throw error;
  }
}

/** How long the sessions of a page may be read before other work gets its turn. */
const SESSIONS_MS_MAX = 10;

/** The sessions of an endpoint. */
interface Listed {
  kind: SessionKind;
  toView: (session: Session, options: ViewOptions) => ProductionSession | SimulationSession;
}

/** Returns a page of sessions, newest first. */
async function readPage(
  deps: ResultsDeps,
  { request, responses }: { request: FastifyRequest; responses: UnreadResponses },
  { kind, toView }: Listed,
): Promise<string | Readable> {
  const { authentication, store, appUrl, queue, injectFault } = deps;
  using _work = await queue.enter();
  const { ownerId } = await authentication.authenticateCaller(request.headers);
  await injectFault();
  const { filter, includeTraces } = readResultsQuery(kind, ownerId, readQuery(request));
  const { sessions, total } = await store.sessions.listPage(filter);
  const options = { appUrl: appUrl(), failedOnly: filter.failedOnly };
  const yieldIfDue = yieldPeriodically(systemClock, SESSIONS_MS_MAX);
  const writeItem = async (session: Session): Promise<string> => {
    if (!includeTraces) return JSON.stringify(toView(session, { ...options, turns: undefined }));
    // Until the item is written, and not until a slow client has read it.
    using _held = await holdTurns(store, session);
    await responses.waitForRoom();
    const turns = await findTurns(store, session);
    return JSON.stringify(toView(session, { ...options, turns }));
  };
  const items = async function* (): AsyncGenerator<string> {
    for (const session of sessions) {
      await yieldIfDue();
      yield await writeItem(session);
    }
  };
  const { skip, limit } = filter;
  return await writePage({ items: items(), total, skip, limit }, responses);
}
