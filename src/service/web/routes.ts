import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authentication } from '../app/authentication.ts';
import { loadTurns } from '../domain/sessions.ts';
import type { Session, SessionKind, Store } from '../store/store.ts';
import { frontPage } from './front-page.ts';
import { htmlType, nothingPage, pageHeaders } from './page-frame.ts';
import { sessionPage } from './session-page.ts';

/** What pages are made from. */
export interface PageDeps {
  store: Store;
  authentication: Authentication;
  /** Lower-case name of the header that holds the key. */
  apiKeyHeader: string;
}

/** The pages that deep links lead to (spec 2.4, 2.5), and the front page. */
export function pageRoutes(app: FastifyInstance, deps: PageDeps): void {
  frontPage(app, deps);
  const show =
    (kind: SessionKind, parentOf: (session: Session) => string | undefined) =>
    async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      const reader = await deps.authentication.reader(request.headers);
      // A reader without a key is this machine's own user, who may see the pages of every owner.
      const ownerIds = reader ? [reader.ownerId] : await deps.store.owners.listIds();
      const session = await findSession(deps.store, ownerIds, sessionIdIn(request));
      const isHere = session?.kind === kind && parentOf(session) === request.params.id;
      reply.headers(pageHeaders).type(htmlType);
      if (!isHere) return reply.code(404).send(nothingPage());
      return reply.send(await pageFor(deps.store, session));
    };
  const simulationOf = ({ simulation }: Session): string | undefined =>
    simulation?.deleted ? undefined : simulation?.id;
  app.get('/simulation/:id', show('simulation', simulationOf));
  app.get(
    '/production-eval/:id',
    show('production', ({ run }) => run?.id),
  );
}

function sessionIdIn({ url }: FastifyRequest): string {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)).get('sessionId') ?? '';
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

async function pageFor(store: Store, session: Session): Promise<string> {
  const { ownerId, sourceSessionId } = session;
  const [turns, tags] = await Promise.all([
    loadTurns(store, session),
    sourceSessionId === undefined ? [] : store.conversations.listTags(ownerId, sourceSessionId),
  ]);
  return sessionPage({ session, turns, tags });
}
