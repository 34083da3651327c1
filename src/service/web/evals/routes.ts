import type { EvalDefinition } from '../../../contract/index.ts';
import { RequestError } from '../../domain/errors.ts';
import { versionOf } from '../../domain/eval-version.ts';
import { decideVerdict } from '../../domain/sessions.ts';
import { STATUS_WORDS } from '../../domain/simulation-results/reasons.ts';
import type { RunDry } from '../../operations/dry-run.ts';
import { listDocuments } from '../../operations/documents.ts';
import { deleteEval, findEval } from '../../operations/evals.ts';
import type { Store } from '../../store/store.ts';
import { readText } from '../frame/forms.ts';
import { readPage } from '../frame/list-filter.ts';
import { goTo, type Pages } from '../frame/pages.ts';
import type { Viewer } from '../frame/viewer.ts';
import type { ShownTrial, TriableSession } from './dry-run.ts';
import {
  draftOf,
  idTakenProblem,
  toNewDraft,
  JSON_FIELD,
  readEval,
  type EvalDraft,
  type Problems,
} from './eval-form.ts';
import { addReviewExport, summarizeReviews } from './eval-reviews.ts';
import { renderEvalPage, type EvalPage } from './eval-page.ts';
import { isEvalKind, listFields } from './eval-fields.ts';
import { renderEvalsPage, renderKindsPage } from './evals-page.ts';

type EvalStores = Pick<
  Store,
  'evals' | 'settings' | 'documents' | 'sessions' | 'conversations' | 'reviews'
>;

/** What the pages of evals read and change. */
export interface EvalPageOptions {
  store: EvalStores;
  runDry: RunDry;
}

const EVALS_PER_PAGE = 50;
const RECENT_OUTCOMES_MAX = 200;
const RECENT_SESSIONS_MAX = 20;

/** `/evals`: lists evals, edits them, and tries them on stored conversations. */
export function addEvalRoutes(pages: Pages, options: EvalPageOptions): void {
  const { store } = options;
  const { page } = pages;
  page('/evals', async ({ ownerId, context, query }) =>
    renderEvalsPage({ ...(await loadList(store, ownerId, query)), query }, context),
  );
  page('/evals/new', async (visit) => {
    const kind = visit.query.get('kind') ?? '';
    if (!isEvalKind(kind) && visit.query.get('as') !== 'json') {
      return renderKindsPage(visit.context);
    }
    const values = new Map(isEvalKind(kind) ? [['/required', 'true']] : [[JSON_FIELD, EXAMPLE]]);
    const draft = { original: undefined, kind: isEvalKind(kind) ? kind : undefined, values };
    return renderEditor(store, visit, { draft });
  });
  page('/evals/edit', async (visit) => {
    const { ownerId, query } = visit;
    const definition = await findEval(store.evals, ownerId, query.get('id') ?? '');
    const draft = draftOf(definition, { asJson: query.get('as') === 'json' });
    return renderEditor(store, visit, { draft });
  });
  addReviewExport(pages, store);
  addEvalForms(pages, options);
}

function addEvalForms({ form }: Pages, { store, runDry }: EvalPageOptions): void {
  form('/evals/save', async (sent) => {
    const { ownerId, context } = sent;
    const draft = readDraft(sent.form);
    const read = readEval(draft);
    const refused =
      'problems' in read
        ? { draft, problems: read.problems }
        : await findIdProblem(store, ownerId, draft, read.definition);
    if (refused !== undefined || 'problems' in read) {
      const editor = { draft, ...refused, trial: readTrial(sent.form) };
      return { status: 422, page: await renderEditor(store, sent, editor) };
    }
    await store.evals.put(ownerId, read.definition);
    const { evals: liveIds } = await store.settings.get(ownerId);
    const notice = liveIds.includes(read.definition.id) ? 'saved' : 'saved-not-live';
    return goTo(context, '/evals', { notice });
  });
  form('/evals/try', async (sent) => {
    const draft = readDraft(sent.form);
    const trial = readTrial(sent.form);
    const read = readEval(draft);
    if ('problems' in read) {
      const { problems } = read;
      return { status: 422, page: await renderEditor(store, sent, { draft, problems, trial }) };
    }
    const tried = await tryEval(runDry, sent.ownerId, { definition: read.definition, trial });
    const page = await renderEditor(store, sent, { draft, trial: { ...trial, ...tried } });
    return { status: tried.problem === undefined ? 200 : 422, page };
  });
  form('/evals/delete', async ({ ownerId, context, form: sent }) => {
    await deleteEval(store.evals, ownerId, readText(sent, 'id'));
    return goTo(context, '/evals', { notice: 'deleted' });
  });
}

const EXAMPLE = JSON.stringify(
  { id: 'order-found', name: 'Order found', kind: 'contains', params: { text: 'shipped' } },
  null,
  2,
);

async function loadList(store: EvalStores, ownerId: string, query: URLSearchParams) {
  const all = await store.evals.list(ownerId);
  const asked = readPage(query, EVALS_PER_PAGE);
  const skip = Math.min(asked.skip, Math.max(0, all.length - 1));
  const page = all.slice(skip, skip + EVALS_PER_PAGE);
  const [settings, scenarios, recent] = await Promise.all([
    store.settings.get(ownerId),
    findScenarios(store, ownerId),
    store.evals.countRecentOutcomes(
      ownerId,
      page.map((definition) => ({ ...definition, version: versionOf(definition) })),
      RECENT_OUTCOMES_MAX,
    ),
  ]);
  return {
    skip,
    limit: EVALS_PER_PAGE,
    total: all.length,
    recentMax: RECENT_OUTCOMES_MAX,
    evals: page.map((definition) => ({
      definition,
      isLive: settings.evals.includes(definition.id),
      scenarios: scenarios.get(definition.id)?.length ?? 0,
      recent: recent.get(definition.id) ?? { outcomes: 0, passed: 0, hasOtherVersions: false },
    })),
  };
}

/** Returns the ids of the scenarios that refer to each eval. */
async function findScenarios(store: EvalStores, ownerId: string): Promise<Map<string, string[]>> {
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

/** Reads the entered values of the editor. */
function readDraft(form: FormData): EvalDraft {
  const kindName = readText(form, 'kind');
  const kind = isEvalKind(kindName) ? kindName : undefined;
  const original = readText(form, 'original') || undefined;
  const names =
    kind === undefined
      ? [JSON_FIELD]
      : listFields(kind, original === undefined).map(({ pointer }) => pointer);
  const values = names.flatMap((name): [string, string][] => {
    const value = form.get(name);
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return { original, kind, values: new Map(values) };
}

async function findIdProblem(
  store: EvalStores,
  ownerId: string,
  draft: EvalDraft,
  { id }: EvalDefinition,
): Promise<{ draft: EvalDraft; problems: Problems } | undefined> {
  const evals = await store.evals.list(ownerId);
  const exists = evals.some((each) => each.id === id);
  if (draft.original !== undefined) return exists ? undefined : toNewDraft(draft, id);
  return exists ? { draft, problems: idTakenProblem(draft, id) } : undefined;
}

const readTrial = (form: FormData): Pick<ShownTrial, 'chosen' | 'entered'> => ({
  chosen: readText(form, 'session'),
  entered: readText(form, 'other'),
});

/** Scores the chosen conversation, or says why that is not possible. */
async function tryEval(
  runDry: RunDry,
  ownerId: string,
  {
    definition,
    trial,
  }: { definition: EvalDefinition; trial: Pick<ShownTrial, 'chosen' | 'entered'> },
): Promise<Pick<ShownTrial, 'result' | 'problem'>> {
  const { chosen, entered } = trial;
  // The address of the page of a session contains its id.
  const query = entered.includes('?') ? entered.slice(entered.indexOf('?')) : '';
  const id = new URLSearchParams(query).get('sessionId') ?? (entered || chosen);
  if (id === '') return { problem: 'Choose a conversation, or enter the id of one.' };
  try {
    return { result: await runDry(ownerId, definition, id) };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { problem: error.message };
  }
}

async function renderEditor(
  store: EvalStores,
  { ownerId, context }: Viewer,
  page: Pick<EvalPage, 'draft'> & {
    problems?: Problems | undefined;
    trial?: Partial<ShownTrial>;
  },
): Promise<string> {
  const { draft, problems, trial = {} } = page;
  const { original = '' } = draft;
  const stored = (await store.evals.list(ownerId)).find(({ id }) => id === original);
  const [recent, settings, scenarios, reviews] = await Promise.all([
    listTriable(store, ownerId),
    store.settings.get(ownerId),
    findScenarios(store, ownerId),
    stored && summarizeReviews(store, ownerId, stored),
  ]);
  const shown = {
    reviews,
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
