import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HTML_TYPE } from '../../../http-kit/pages.ts';
import { loadTurns } from '../../domain/sessions.ts';
import type { Session, SessionKind, Store } from '../../store/store.ts';
import { readListFilter } from '../frame/list-filter.ts';
import {
  renderMissingSessionPage,
  servicePageHeaders,
  type PageContext,
} from '../frame/page-frame.ts';
import { readQuery, type PageOptions } from '../frame/viewer.ts';
import { renderSessionPage } from './session-page.ts';
import { renderSessionsPage } from './sessions-page.ts';

/** Adds the list of sessions, and the pages that deep links lead to (spec 2.4, 2.5). */
export function addSessionRoutes(app: FastifyInstance, options: PageOptions): void {
  const { store, findViewer } = options;
  app.get('/sessions', async (request, reply) => {
    const { ownerId, context } = await findViewer(request);
    const query = readQuery(request);
    reply.headers(servicePageHeaders).type(HTML_TYPE);
    const { filter, problem } = readListFilter(query, ownerId);
    if (problem) reply.code(problem.status);
    const found = problem
      ? { sessions: [], total: 0, problem: problem.message }
      : await store.sessions.listPage(filter);
    return reply.send(renderSessionsPage({ filter, query, ...found }, context));
  });
  const simulationOf = ({ simulation }: Session): string | undefined =>
    simulation?.deleted ? undefined : simulation?.id;
  app.get('/simulation/:id', showSession(options, 'simulation', simulationOf));
  app.get(
    '/production-eval/:id',
    showSession(options, 'production', ({ run }) => run?.id),
  );
}

/** Shows the session of a deep link if it belongs to the run or simulation that the link names. */
function showSession(
  { store, findOwners }: PageOptions,
  kind: SessionKind,
  parentOf: (session: Session) => string | undefined,
) {
  return async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
    const { ownerIds, context } = await findOwners(request);
    const session = await findSession(store, ownerIds, readQuery(request).get('sessionId') ?? '');
    const exists = session?.kind === kind && parentOf(session) === request.params.id;
    reply.headers(servicePageHeaders).type(HTML_TYPE);
    if (!exists) return reply.code(404).send(renderMissingSessionPage(context));
    return reply.send(await renderSession(store, session, context));
  };
}

async function findSession(
  store: Store,
  ownerIds: readonly string[],
  id: string,
): Promise<Session | undefined> {
  for (const ownerId of ownerIds) {
    const session = await store.sessions.find(ownerId, id);
    if (session) return session;
  }
  return undefined;
}

async function renderSession(
  store: Store,
  session: Session,
  context: PageContext,
): Promise<string> {
  const { ownerId, sourceSessionId } = session;
  const { conversations } = store;
  const [turns, tags, spans] = await Promise.all([
    loadTurns(store, session),
    sourceSessionId === undefined ? [] : conversations.listTags(ownerId, sourceSessionId),
    sourceSessionId === undefined || session.kind === 'simulation'
      ? []
      : conversations.listSpans(ownerId, sourceSessionId),
  ]);
  return renderSessionPage({ session, turns, tags, spans }, context);
}
