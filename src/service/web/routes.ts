import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HTML_TYPE, pageHeaders } from '../../http-kit/pages.ts';
import type { Authentication } from '../domain/authentication.ts';
import { loadTurns } from '../domain/sessions.ts';
import type { Session, SessionKind, Store } from '../store/store.ts';
import { addFrontPage } from './front-page.ts';
import { addOpenApiRoute } from './openapi.ts';
import { renderMissingSessionPage } from './page-frame.ts';
import { renderSessionPage } from './session-page.ts';

export interface PageOptions {
  store: Store;
  authentication: Authentication;
  /** Lower-case name of the header that carries the API key. */
  apiKeyHeader: string;
}

/** Adds the front page and the pages of the deep links (spec 2.4, 2.5). */
export function addPageRoutes(app: FastifyInstance, options: PageOptions): void {
  const { store, authentication } = options;
  addFrontPage(app, options);
  addOpenApiRoute(app, options);
  const showSession =
    (kind: SessionKind, parentOf: (session: Session) => string | undefined) =>
    async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      const reader = await authentication.authenticateReader(request.headers);
      // A reader without a key is on this machine and may see the pages of every owner.
      const ownerIds = reader ? [reader.ownerId] : await store.owners.listIds();
      const session = await findSession(store, ownerIds, readSessionId(request));
      const exists = session?.kind === kind && parentOf(session) === request.params.id;
      reply.headers(pageHeaders).type(HTML_TYPE);
      if (!exists) return reply.code(404).send(renderMissingSessionPage());
      return reply.send(await renderSession(store, session));
    };
  const simulationOf = ({ simulation }: Session): string | undefined =>
    simulation?.deleted ? undefined : simulation?.id;
  app.get('/simulation/:id', showSession('simulation', simulationOf));
  app.get(
    '/production-eval/:id',
    showSession('production', ({ run }) => run?.id),
  );
}

function readSessionId({ url }: FastifyRequest): string {
  const queryStart = url.indexOf('?');
  return (
    new URLSearchParams(queryStart < 0 ? '' : url.slice(queryStart + 1)).get('sessionId') ?? ''
  );
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

async function renderSession(store: Store, session: Session): Promise<string> {
  const { ownerId, sourceSessionId } = session;
  const [turns, tags] = await Promise.all([
    loadTurns(store, session),
    sourceSessionId === undefined ? [] : store.conversations.listTags(ownerId, sourceSessionId),
  ]);
  return renderSessionPage({ session, turns, tags });
}
