import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formatValue } from '../../contract/index.ts';
import { HTML_TYPE, pageHeaders } from '../../http-kit/pages.ts';
import type { Authentication } from '../domain/authentication.ts';
import { RequestError } from '../domain/errors.ts';
import { readResultsQuery } from '../domain/results-query.ts';
import { loadTurns } from '../domain/sessions.ts';
import type { Session, SessionFilter, SessionKind, Store } from '../store/store.ts';
import { addFrontPage } from './front-page.ts';
import { addOpenApiRoute } from './openapi.ts';
import { renderMissingSessionPage, type PageContext } from './page-frame.ts';
import { renderRunsPage } from './runs-page.ts';
import { renderSessionPage } from './session-page.ts';
import { renderSessionsPage } from './sessions-page.ts';
import type { FindViewer } from './viewer.ts';

export interface PageOptions {
  store: Store;
  authentication: Authentication;
  /** Lower-case name of the header that carries the API key. */
  apiKeyHeader: string;
  /** Returns the id of the owner that the query names, or of the default owner. */
  findOwner: (request: FastifyRequest) => Promise<string>;
}

/** Adds the pages: the overview, lists of sessions and runs, and the deep links (spec 2.4, 2.5). */
export function addPageRoutes(app: FastifyInstance, options: PageOptions): void {
  const { store, authentication, findOwner } = options;
  const findViewer: FindViewer = async (request) => {
    const reader = await authentication.authenticateReader(request.headers);
    const context = readContext(request);
    if (reader) return { ownerId: reader.ownerId, context: { ...context, owner: undefined } };
    // A reader without a key is on this machine and may see the pages of every owner.
    return { ownerId: await findOwner(request), context };
  };
  addFrontPage(app, { ...options, findViewer });
  addOpenApiRoute(app, options);
  addListPages(app, store, findViewer);
  addSessionPages(app, options);
}

function addListPages(app: FastifyInstance, store: Store, findViewer: FindViewer): void {
  app.get('/sessions', async (request, reply) => {
    const { ownerId, context } = await findViewer(request);
    const query = readQuery(request);
    reply.headers(pageHeaders).type(HTML_TYPE);
    const { filter, problem } = readFilter(query, ownerId);
    if (problem) reply.code(problem.status);
    const found = problem
      ? { sessions: [], total: 0, problem: problem.message }
      : await store.sessions.listPage(filter);
    return reply.send(renderSessionsPage({ filter, query, ...found }, context));
  });
  app.get('/runs', async (request, reply) => {
    const { ownerId, context } = await findViewer(request);
    const query = readQuery(request);
    const { kind, skip, limit } = readFilter(query, ownerId).filter;
    const { overview } = store;
    const found =
      kind === 'production'
        ? await overview.listRuns(ownerId, { skip, limit })
        : await overview.listSimulations(ownerId, { skip, limit });
    reply.headers(pageHeaders).type(HTML_TYPE);
    return reply.send(renderRunsPage({ kind, query, skip, limit, ...found }, context));
  });
}

/** Reads the filter of a list. An invalid query gives the filter without it, and the problem. */
function readFilter(
  query: URLSearchParams,
  ownerId: string,
): { filter: SessionFilter; problem?: RequestError } {
  const name = query.get('kind') ?? 'production';
  const kind = name === 'simulation' ? 'simulation' : 'production';
  // A form sends its empty fields.
  const filled = new URLSearchParams([...query].filter(([, value]) => value !== ''));
  try {
    if (name !== kind) {
      const message = `kind must be production or simulation, got ${formatValue(name)}.`;
      throw new RequestError('bad_request', message);
    }
    return readResultsQuery(kind, ownerId, `?${filled.toString()}`);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { ...readResultsQuery(kind, ownerId, ''), problem: error };
  }
}

/** Adds the pages that deep links lead to. */
function addSessionPages(app: FastifyInstance, { store, authentication }: PageOptions): void {
  const showSession =
    (kind: SessionKind, parentOf: (session: Session) => string | undefined) =>
    async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      const reader = await authentication.authenticateReader(request.headers);
      const context = readContext(request);
      // A reader without a key is on this machine and may see the pages of every owner.
      const ownerIds = reader ? [reader.ownerId] : await store.owners.listIds();
      const session = await findSession(store, ownerIds, readQuery(request).get('sessionId') ?? '');
      const exists = session?.kind === kind && parentOf(session) === request.params.id;
      reply.headers(pageHeaders).type(HTML_TYPE);
      if (!exists) return reply.code(404).send(renderMissingSessionPage(context));
      return reply.send(await renderSession(store, session, context));
    };
  const simulationOf = ({ simulation }: Session): string | undefined =>
    simulation?.deleted ? undefined : simulation?.id;
  app.get('/simulation/:id', showSession('simulation', simulationOf));
  app.get(
    '/production-eval/:id',
    showSession('production', ({ run }) => run?.id),
  );
}

function readContext(request: FastifyRequest): PageContext {
  return {
    owner: readQuery(request).get('owner') ?? undefined,
    serviceUrl: `${request.protocol}://${request.host}`,
  };
}

function readQuery({ url }: FastifyRequest): URLSearchParams {
  const queryStart = url.indexOf('?');
  return new URLSearchParams(queryStart < 0 ? '' : url.slice(queryStart + 1));
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
