import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from '../../domain/errors.ts';
import { buildConversationTranscript } from '../../domain/transcripts.ts';
import type { SessionKind, Session, Store } from '../../store/store.ts';
import { storeScenarioOf } from '../../operations/conversation-scenarios.ts';
import { readText, redirect } from '../frame/forms.ts';
import { readListFilter } from '../frame/list-filter.ts';
import { renderMissingSessionPage, sendPage } from '../frame/page-frame.ts';
import { readQuery, type PageOptions } from '../frame/viewer.ts';
import { CLOSE_PATH, renderConversationPage } from './conversation-page.ts';
import { loadSessionPage } from './load-session-page.ts';
import { addRecordingRoute } from './recording-route.ts';
import { MAKE_SCENARIO_PATH } from './scenario-form.ts';
import { readSessionFilter } from './session-filter.ts';
import { linkToSession } from './session-links.ts';
import { showRun } from '../runs/routes.ts';
import { SOURCE_PARAMETER } from '../scenarios/scenario-page.ts';
import { renderSessionPage } from './session-page.ts';
import { renderSessionsPage } from './sessions-page.ts';
import { readTurnPage } from './turn-pages.ts';
import { renderWaitingPage } from './waiting-page.ts';

/**
 * Adds the lists of sessions and conversations, the pages that deep links lead to (spec 2.4, 2.5), and
 * the form that makes a scenario.
 */
export function addSessionRoutes(app: FastifyInstance, options: PageOptions): void {
  addListRoute(app, options);
  const simulationOf = ({ simulation }: Session): string | undefined =>
    simulation?.deleted ? undefined : simulation?.id;
  app.get('/simulation/:id', showSession(options, 'simulation', simulationOf));
  app.get(
    '/production-eval/:id',
    showSession(options, 'production', ({ run }) => run?.id),
  );
  addConversationRoute(app, options);
  addCloseRoute(app, options);
  addRecordingRoute(app, options);
  addScenarioRoute(app, options);
}

function addListRoute(app: FastifyInstance, { store, findViewer }: PageOptions): void {
  app.get('/sessions', async (request, reply) => {
    const { ownerId, context } = await findViewer(request);
    const query = readQuery(request);
    const state = query.get('kind');
    if (state === 'open' || state === 'unscored') {
      const pages = new URLSearchParams([...query].filter(([name]) => name !== 'kind'));
      const { filter, problem } = readListFilter(pages, ownerId);
      if (problem) throw problem;
      const { skip, limit } = filter;
      const found = await store.conversations.listWaiting(ownerId, state, { skip, limit });
      return sendPage(reply, renderWaitingPage({ state, query, skip, limit, ...found }, context));
    }
    const { filter, problem } = readSessionFilter(query, ownerId);
    if (problem) reply.code(problem.status);
    const found = problem
      ? { sessions: [], total: 0, problem: problem.message }
      : await store.sessions.listPage(filter);
    return sendPage(reply, renderSessionsPage({ filter, query, ...found }, context));
  });
}

/** Shows the session of a deep link if it belongs to the run or simulation that the link names. */
function showSession(
  options: PageOptions,
  kind: SessionKind,
  parentOf: (session: Session) => string | undefined,
) {
  const { store, findOwners } = options;
  return async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
    if (!readQuery(request).has('sessionId')) return showRun(options, kind, request, reply);
    const { ownerIds, context } = await findOwners(request);
    const query = readQuery(request);
    const session = await findSession(store, ownerIds, query.get('sessionId') ?? '');
    const exists = session?.kind === kind && parentOf(session) === request.params.id;
    if (!exists) return sendPage(reply.code(404), renderMissingSessionPage(context));
    const owner = await findOwnerName(options, request, session.ownerId);
    const content = await loadSessionPage(store, session, query);
    return sendPage(reply, renderSessionPage(content, { ...context, owner }));
  };
}

/** Returns the name of the owner of a session, if the pages would show another owner by default. */
async function findOwnerName(
  { store, findViewer }: PageOptions,
  request: FastifyRequest,
  ownerId: string,
): Promise<string | undefined> {
  const viewer = await findViewer(request);
  return viewer.ownerId === ownerId ? viewer.context.owner : store.owners.findName(ownerId);
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

/** Adds the page of a conversation. One with a session leads to the page of the session. */
function addConversationRoute(app: FastifyInstance, { store, findViewer }: PageOptions): void {
  app.get('/conversation', async (request, reply) => {
    const { ownerId, context } = await findViewer(request);
    const query = readQuery(request);
    const conversationId = query.get('id') ?? '';
    const { conversations, sessions } = store;
    const conversation = await conversations.find(ownerId, conversationId);
    if (!conversation) throw new RequestError('not_found', 'This conversation does not exist.');
    const { sessionId } = conversation;
    const session = sessionId === undefined ? undefined : await sessions.find(ownerId, sessionId);
    const link = session && linkToSession(session, context);
    if (link !== undefined) return reply.redirect(link);
    const [transcript, tags, spans] = [
      await buildConversationTranscript(store, ownerId, conversationId),
      await conversations.listTags(ownerId, conversationId),
      await conversations.listSpans(ownerId, conversationId),
    ];
    const content = { ...readTurnPage(query), conversation, transcript, tags, spans };
    return sendPage(reply, renderConversationPage(content, context));
  });
}

/** Adds the form that closes a conversation, and leads to its outcomes. */
function addCloseRoute(app: FastifyInstance, options: PageOptions): void {
  const { close, findViewer, findEditor } = options;
  app.get(CLOSE_PATH, async (request, reply) =>
    redirect(reply, (await findViewer(request)).context, '/sessions', { kind: 'open' }),
  );
  app.post(CLOSE_PATH, async (request, reply) => {
    const { ownerId, context, form } = await findEditor(request);
    const id = form.get('id');
    const conversationId = typeof id === 'string' ? id : '';
    const closed = await close({ ownerId, conversationId });
    if (!closed) throw new RequestError('not_found', 'This conversation does not exist.');
    return redirect(reply, context, '/conversation', { id: conversationId });
  });
}

/** Adds the form that stores the scenario of a conversation or session, and leads to its page. */
function addScenarioRoute(app: FastifyInstance, { store, findEditor }: PageOptions): void {
  app.post(MAKE_SCENARIO_PATH, async (request, reply) => {
    const { ownerId, context, form } = await findEditor(request);
    const id = readText(form, 'id');
    const { scenario, notes, isNew } = await storeScenarioOf(store, ownerId, id);
    const path = `/scenarios/${encodeURIComponent(scenario.id)}`;
    const source = notes.length > 0 ? { [SOURCE_PARAMETER]: id } : {};
    return redirect(reply, context, path, isNew ? { notice: 'added', ...source } : {});
  });
}
