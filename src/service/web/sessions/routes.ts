import type { Clock } from '../../../platform/clock.ts';
import { findLiveEvals } from '../../evals/definitions.ts';
import { storeScenarioOf } from '../../operations/conversation-scenarios.ts';
import { RequestError } from '../../requests/errors.ts';
import { buildConversationTranscript } from '../../sessions/transcripts.ts';
import type { CloseResult, Store } from '../../store/store.ts';
import { readText } from '../frame/forms.ts';
import { chooseKind, readListFilter } from '../frame/list-filter.ts';
import { goTo, type Answer, type Pages, type Visit } from '../frame/pages.ts';
import { SOURCE_PARAMETER } from '../scenarios/scenario-page.ts';
import { CLOSE_PATH, renderConversationPage } from './conversation-page.ts';
import { addRecordingRoute } from './recording-route.ts';
import { addReviewForms } from './review-form.ts';
import { MAKE_SCENARIO_PATH } from './scenario-form.ts';
import { readSessionFilter } from './session-filter.ts';
import { linkToSession } from './session-links.ts';
import { renderSessionsPage } from './sessions-page.ts';
import { SPANS_MAX } from './span-list.ts';
import { readTurnPage } from './turn-pages.ts';
import { renderWaitingPage, type WaitingList } from './waiting-page.ts';

/** The data and operations of the pages of sessions and conversations. */
export interface SessionPageOptions {
  store: Store;
  /** The service clock. */
  clock: Clock;
  /** Closes a conversation, as the close endpoint does; undefined if it does not exist. */
  close: (conversation: {
    ownerId: string;
    conversationId: string;
  }) => Promise<CloseResult | undefined>;
}

/** Adds the lists of sessions and conversations, the page of a conversation, and its forms. */
export function addSessionRoutes(pages: Pages, { store, clock, close }: SessionPageOptions): void {
  const { page, form } = pages;
  page('/sessions', async (visit) => {
    const state = visit.query.get('kind');
    return state === 'open' || state === 'unscored'
      ? renderWaiting(store, visit, state)
      : renderSessions(store, visit);
  });
  page('/conversation', (visit) => renderConversation(store, visit));
  page(CLOSE_PATH, ({ context }) => goTo(context, '/sessions', { kind: 'open' }));
  form(CLOSE_PATH, async ({ ownerId, context, form: sent }) => {
    const id = sent.get('id');
    const conversationId = typeof id === 'string' ? id : '';
    if (!(await close({ ownerId, conversationId }))) throw unknownConversation();
    return goTo(context, '/conversation', { id: conversationId });
  });
  form(MAKE_SCENARIO_PATH, async ({ ownerId, context, form: sent }) => {
    const id = readText(sent, 'id');
    const { scenario, notes, isNew } = await storeScenarioOf(store, ownerId, id);
    const path = `/scenarios/${encodeURIComponent(scenario.id)}`;
    const source = notes.length > 0 ? { [SOURCE_PARAMETER]: id } : {};
    return goTo(context, path, isNew ? { notice: 'added', ...source } : {});
  });
  addReviewForms(pages, { store, clock });
  addRecordingRoute(pages, store);
}

async function renderWaiting(
  { conversations }: Store,
  { ownerId, context, query }: Visit,
  state: WaitingList['state'],
): Promise<Answer> {
  const pages = new URLSearchParams([...query].filter(([name]) => name !== 'kind'));
  const { filter, problem } = readListFilter(pages, ownerId);
  if (problem) throw problem;
  const { skip, limit } = filter;
  const found = await conversations.listWaiting(ownerId, state, { skip, limit });
  return renderWaitingPage({ state, query, skip, limit, ...found }, context);
}

async function renderSessions(
  store: Store,
  { ownerId, context, query: asked }: Visit,
): Promise<Answer> {
  const { sessions } = store;
  const query = await chooseKind(store, ownerId, asked);
  const { filter, problem } = readSessionFilter(query, ownerId);
  if (!problem) {
    return renderSessionsPage({ filter, query, ...(await sessions.listPage(filter)) }, context);
  }
  const list = { filter, query, sessions: [], total: 0, problem };
  return { status: problem.status, page: renderSessionsPage(list, context) };
}

/** Renders the page of a conversation. One with a session leads to the page of the session. */
async function renderConversation(
  store: Store,
  { ownerId, context, query }: Visit,
): Promise<Answer> {
  const conversationId = query.get('id') ?? '';
  const { conversations, sessions } = store;
  const conversation = await conversations.find(ownerId, conversationId);
  if (!conversation) throw unknownConversation();
  const { sessionId } = conversation;
  const session = sessionId === undefined ? undefined : await sessions.find(ownerId, sessionId);
  const location = session && linkToSession(session, context);
  if (location !== undefined) return { status: 302, location };
  using _held = await conversations.holdMemory(ownerId, conversationId);
  const { evals } = await findLiveEvals(store, ownerId);
  const liveEvals = evals.map(({ name }) => name);
  const transcript = await buildConversationTranscript(store, ownerId, conversationId);
  const tags = await conversations.listTags(ownerId, conversationId);
  const spans = await conversations.listSpans(ownerId, conversationId, SPANS_MAX);
  const content = { ...readTurnPage(query), conversation, liveEvals, transcript, tags, spans };
  return renderConversationPage(content, context);
}

const unknownConversation = (): RequestError =>
  new RequestError('not_found', 'This conversation does not exist.');
