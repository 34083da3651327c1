import { awaitValues } from '../../../platform/concurrency.ts';
import { listDocuments } from '../../operations/documents.ts';
import { loadTranscript } from '../../sessions/transcripts.ts';
import type { SessionTurn } from '../../turns/turn-types.ts';
import { findSimulatedScenario } from '../../operations/conversation-scenarios.ts';
import type { Session, Store } from '../../store/store.ts';
import type { ScenarioSource } from './scenario-form.ts';
import { readSessionFilter } from './session-filter.ts';
import type { SessionPage } from './session-page.ts';
import { SPANS_MAX } from './span-list.ts';
import { readTurnPage } from './turn-pages.ts';

/** Reads everything that the page of a session shows. */
export async function loadSessionPage(
  store: Store,
  session: Session,
  query: URLSearchParams,
): Promise<SessionPage> {
  const { ownerId, id, kind, sourceSessionId } = session;
  const { conversations, recordings } = store;
  const isLive = sourceSessionId !== undefined && kind === 'production';
  const { conversation, traced, ...shown } = await awaitValues({
    transcript: loadTranscript(store, session),
    traced: isLive ? store.sessions.findTracedTarget(ownerId, id) : undefined,
    tags: isLive ? conversations.listTags(ownerId, sourceSessionId) : [],
    spans: isLive ? conversations.listSpans(ownerId, sourceSessionId, SPANS_MAX) : [],
    conversation: isLive ? conversations.find(ownerId, sourceSessionId) : undefined,
    recording: kind === 'simulation' ? recordings.find(ownerId, id) : undefined,
    reviews: store.reviews.listOfSession(ownerId, id),
    list: findList(store, session, query.get('list')),
  });
  const evals = await store.evals.list(ownerId);
  const { evals: chosen } = await store.settings.get(ownerId);
  const agent = await findAgent(store, session, traced?.agent);
  const scenario = await findSource(store, session, shown.transcript.scored);
  return {
    ...readTurnPage(query),
    ...shown,
    session,
    scenario,
    evalIds: new Set(evals.map(({ id: evalId }) => evalId)),
    target: {
      agent: session.agent?.name ?? traced?.agent,
      agentId: agent?.id,
      channel: session.simulated?.channel ?? traced?.channel,
    },
    hasLiveEvals: chosen.length > 0,
    spanCount: conversation?.spanCount ?? 0,
    spansRemoved: conversation?.spansRemoved,
  };
}

/** Finds the stored agent of a session. Spans name no id, and no URL. */
async function findAgent(
  store: Store,
  { ownerId, agent }: Session,
  tracedName: string | undefined,
): Promise<{ id: string } | undefined> {
  if (agent) return store.documents.find(ownerId, 'agent', agent.id ?? '');
  if (tracedName === undefined) return undefined;
  const agents = await listDocuments(store, ownerId, 'agent');
  return agents.find(({ name }) => name === tracedName);
}

/** Reads the list that the page was opened from. An invalid one counts as none. */
async function findList(
  { sessions }: Store,
  { ownerId, id }: Session,
  text: string | null,
): Promise<SessionPage['list']> {
  if (text === null) return undefined;
  const query = new URLSearchParams(text);
  const { filter, problem } = readSessionFilter(query, ownerId);
  if (problem) return undefined;
  return { query, neighbors: await sessions.findNeighbors(filter, id) };
}

async function findSource(
  store: Store,
  session: Session,
  turns: readonly SessionTurn[],
): Promise<ScenarioSource | undefined> {
  const { ownerId, id, kind, sourceSessionId, simulated } = session;
  if (kind === 'production') {
    if (turns.every(({ userInput }) => userInput === '')) return undefined;
    return { id: sourceSessionId ?? id, kind: 'conversation', storedId: undefined };
  }
  const scenarioId = simulated?.scenario_id;
  const stored =
    scenarioId === undefined
      ? undefined
      : await store.documents.find(ownerId, 'scenario', scenarioId);
  if (stored) return { id, kind: 'simulation', storedId: stored.id };
  const played = await findSimulatedScenario(store, session);
  return played && { id, kind: 'simulation', storedId: undefined };
}
