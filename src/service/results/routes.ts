import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
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
  /** Injects the faults set for this endpoint; throws the error to respond with. */
  injectFault: () => Promise<void>;
}

/** Adds both results endpoints (spec 4.3, 4.4), with and without a trailing slash. */
export function addResultsRoutes(app: FastifyInstance, deps: ResultsDeps): void {
  const { listSimulationSessions, listProductionSessions } = serviceRoutes;
  const responses = createUnreadResponses(systemClock);
  for (const path of withAndWithoutSlash(listSimulationSessions.path)) {
    app.get(path, (request, reply): Promise<FastifyReply> =>
      sendPage(
        deps,
        { request, reply, responses },
        { kind: 'simulation', toView: toSimulationView },
      ),
    );
  }
  for (const path of withAndWithoutSlash(listProductionSessions.path)) {
    app.get(path, (request, reply): Promise<FastifyReply> =>
      sendPage(
        deps,
        { request, reply, responses },
        { kind: 'production', toView: toProductionView },
      ),
    );
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

/** Responds with a page of sessions, newest first. */
async function sendPage(
  deps: ResultsDeps,
  {
    request,
    reply,
    responses,
  }: { request: FastifyRequest; reply: FastifyReply; responses: UnreadResponses },
  { kind, toView }: Listed,
): Promise<FastifyReply> {
  const { authentication, store, appUrl, injectFault } = deps;
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
  const body: string | Readable = await writePage(
    { items: items(), total, skip, limit },
    responses,
  );
  return reply.type('application/json').send(body);
}
