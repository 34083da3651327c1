import type { EvalDefinition } from '../../../contract/index.ts';
import { RequestError } from '../../requests/errors.ts';
import type { RunDry } from '../../operations/dry-run.ts';
import { deleteEval, findEval, saveEval } from '../../operations/evals.ts';
import { findChanged, makeVersion, type LabeledValues } from '../frame/edits.ts';
import { readText } from '../frame/forms.ts';
import { goTo, type Pages, type SentForm } from '../frame/pages.ts';
import type { ShownTrial } from './dry-run.ts';
import {
  draftOf,
  idTakenProblem,
  labelValues,
  toNewDraft,
  JSON_FIELD,
  readEval,
  type EvalDraft,
  type Problems,
} from './eval-form.ts';
import { addReviewExport } from './eval-reviews.ts';
import { isEvalKind, listFields } from './eval-fields.ts';
import { renderEvalsPage, renderKindsPage } from './evals-page.ts';
import { loadEvalList, renderEditor, type EvalStores } from './load-eval-pages.ts';

/** The data and operations of the pages of evals. */
export interface EvalPageOptions {
  store: EvalStores;
  runDry: RunDry;
}

/** `/evals`: lists evals, edits them, and tries them on stored conversations. */
export function addEvalRoutes(pages: Pages, options: EvalPageOptions): void {
  const { store } = options;
  const { page } = pages;
  page('/evals', async ({ ownerId, context, query }) =>
    renderEvalsPage({ ...(await loadEvalList(store, ownerId, query)), query }, context),
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
    const changed = await findChangedEval(store, sent, draft);
    if (changed) {
      const editor = { draft, changed, trial: readTrial(sent.form) };
      return { status: 409, page: await renderEditor(store, sent, editor) };
    }
    await saveEval(store.evals, ownerId, read.definition);
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
    const tried = await tryEval(runDry, sent.ownerId, read.definition, trial);
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

/** Returns what the form would overwrite although its sender has not seen it. */
async function findChangedEval(
  store: EvalStores,
  { ownerId, form }: SentForm,
  draft: EvalDraft,
): Promise<LabeledValues | undefined> {
  if (draft.original === undefined) return undefined;
  const stored = await findEval(store.evals, ownerId, draft.original);
  const saved = draftOf(stored, { asJson: draft.kind !== stored.kind });
  return findChanged(form, makeVersion(stored), {
    saved: labelValues(saved),
    entered: labelValues(draft),
  });
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

/** The conversation that the form scores with the eval. */
type ChosenTrial = Pick<ShownTrial, 'chosen' | 'entered'>;

const readTrial = (form: FormData): ChosenTrial => ({
  chosen: readText(form, 'session'),
  entered: readText(form, 'other'),
});

/** Scores the chosen conversation, or says why that is not possible. */
async function tryEval(
  runDry: RunDry,
  ownerId: string,
  definition: EvalDefinition,
  { chosen, entered }: ChosenTrial,
): Promise<Pick<ShownTrial, 'result' | 'problem'>> {
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
