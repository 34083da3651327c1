import { versionOf } from '../../evals/eval-version.ts';
import { listDocuments } from '../../operations/documents.ts';
import { STATUS_WORDS } from '../../runs/reasons.ts';
import { decideVerdict } from '../../sessions/verdict.ts';
import type { Store } from '../../store/store.ts';
import { makeVersion, type LabeledValues } from '../frame/edits.ts';
import { readPage } from '../frame/list-filter.ts';
import type { Viewer } from '../frame/viewer.ts';
import type { ShownTrial, TriableSession } from './dry-run.ts';
import type { Problems } from './eval-form.ts';
import { renderEvalPage, type EvalPage } from './eval-page.ts';
import { measureReviews, summarizeReviews } from './eval-reviews.ts';

/** The stores that the pages of evals read and change. */
export type EvalStores = Pick<
  Store,
  'evals' | 'settings' | 'documents' | 'sessions' | 'conversations' | 'reviews'
>;

const EVALS_PER_PAGE = 50;
const RECENT_OUTCOMES_MAX = 200;
const RECENT_SESSIONS_MAX = 20;

/** Reads a page of the list of evals. */
export async function loadEvalList(store: EvalStores, ownerId: string, query: URLSearchParams) {
  const all = await store.evals.list(ownerId);
  const asked = readPage(query, EVALS_PER_PAGE);
  const skip = Math.min(asked.skip, Math.max(0, all.length - 1));
  const page = all.slice(skip, skip + EVALS_PER_PAGE);
  const [settings, scenarios, recent, reviews] = await Promise.all([
    store.settings.get(ownerId),
    findScenariosByEval(store, ownerId),
    store.evals.countRecentOutcomes(
      ownerId,
      page.map((definition) => ({ ...definition, version: versionOf(definition) })),
      RECENT_OUTCOMES_MAX,
    ),
    Promise.all(page.map((definition) => measureReviews(store.reviews, ownerId, definition))),
  ]);
  return {
    skip,
    limit: EVALS_PER_PAGE,
    total: all.length,
    recentMax: RECENT_OUTCOMES_MAX,
    evals: page.map((definition, index) => ({
      definition,
      agreement: reviews[index]?.agreement,
      isLive: settings.evals.includes(definition.id),
      scenarios: scenarios.get(definition.id)?.length ?? 0,
      recent: recent.get(definition.id) ?? { outcomes: 0, passed: 0, hasOtherVersions: false },
    })),
  };
}

/** Returns the ids of the scenarios that refer to each eval. */
async function findScenariosByEval(
  store: EvalStores,
  ownerId: string,
): Promise<Map<string, string[]>> {
  const users = new Map<string, string[]>();
  for (const scenario of await listDocuments(store, ownerId, 'scenario')) {
    for (const id of new Set(scenario.evals)) {
      if (typeof id !== 'string') continue;
      const known = users.get(id);
      if (known) known.push(scenario.id);
      else users.set(id, [scenario.id]);
    }
  }
  return users;
}

/** Renders the editor of an eval with what it is used for. */
export async function renderEditor(
  store: EvalStores,
  { ownerId, context }: Viewer,
  page: Pick<EvalPage, 'draft'> & {
    problems?: Problems | undefined;
    trial?: Partial<ShownTrial>;
    /** What was saved meanwhile. */
    changed?: LabeledValues | undefined;
  },
): Promise<string> {
  const { draft, problems, trial = {}, changed } = page;
  const { original = '' } = draft;
  const stored = (await store.evals.list(ownerId)).find(({ id }) => id === original);
  const [recent, settings, scenarios, reviews] = await Promise.all([
    listTriable(store, ownerId),
    store.settings.get(ownerId),
    findScenariosByEval(store, ownerId),
    stored && summarizeReviews(store, ownerId, stored),
  ]);
  const shown = {
    reviews,
    edit: stored && { version: makeVersion(stored), changed },
    draft,
    ...(problems && { problems }),
    isLive: settings.evals.includes(original),
    scenarios: scenarios.get(original) ?? [],
    trial: { recent, chosen: '', entered: '', ...trial },
  };
  return renderEvalPage(shown, context);
}

/** Lists the newest sessions and conversations, for dry runs. */
async function listTriable(store: EvalStores, ownerId: string): Promise<TriableSession[]> {
  const page = { skip: 0, limit: RECENT_SESSIONS_MAX };
  const [sessions, unscored, open] = await Promise.all([
    store.sessions.listNewest(ownerId, RECENT_SESSIONS_MAX),
    store.conversations.listWaiting(ownerId, 'unscored', page),
    store.conversations.listWaiting(ownerId, 'open', page),
  ]);
  const waiting = [
    ...unscored.conversations.map((each) => ({ ...each, state: 'not scored' })),
    ...open.conversations.map((each) => ({ ...each, state: 'open' })),
  ];
  return [
    ...sessions.map((session) => ({
      id: session.id,
      name: session.sourceSessionId ?? session.scenario ?? session.id,
      state: session.status === 'completed' ? decideVerdict(session) : STATUS_WORDS[session.status],
      atMs: session.startedAtMs,
    })),
    ...waiting.map(({ conversationId, state, lastReceivedAtMs }) => ({
      id: conversationId,
      name: conversationId,
      state,
      atMs: lastReceivedAtMs,
    })),
  ]
    .sort((left, right) => right.atMs - left.atMs)
    .slice(0, RECENT_SESSIONS_MAX);
}
