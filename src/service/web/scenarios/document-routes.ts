import { findDocument, removeDocument } from '../../operations/documents.ts';
import type { KitFunctions } from '../../operations/kit-functions.ts';
import { duplicateDocument, saveText, type TextKind } from '../../operations/scenarios.ts';
import { RequestError } from '../../requests/errors.ts';
import type { Documents, Store } from '../../store/store.ts';
import { findChanged, makeVersion } from '../frame/edits.ts';
import { readLines } from '../frame/forms.ts';
import { goTo, type Pages, type Visit } from '../frame/pages.ts';
import { TEXT_LABEL, type EditedText } from './document-editor.ts';

/** The pages of one kind of documents. */
interface TextPages<Kind extends TextKind> {
  kind: Kind;
  /** Path of the list. */
  path: `/${string}`;
  renderList: (visit: Visit, edited?: EditedText) => Promise<string>;
  renderDocument: (
    visit: Visit,
    document: Documents[Kind],
    edited: EditedText | undefined,
  ) => Promise<string>;
}

/** The documents, and the functions that read and write their text. */
export interface TextOptions {
  store: Pick<Store, 'documents' | 'evals'>;
  kit: KitFunctions | undefined;
}

/** Adds the list of scenarios or personas, and the pages and forms that add, save, duplicate, and delete one. */
export function addTextRoutes<Kind extends TextKind>(
  { app, page, form }: Pages,
  { store, kit }: TextOptions,
  { kind, path, renderList, renderDocument }: TextPages<Kind>,
): void {
  const linkToDocument = (id: string): string => `${path}/${encodeURIComponent(id)}`;
  const save = (ownerId: string, text: string, id?: string) => {
    if (!kit) throw new RequestError('not_found', 'This service was started without an editor.');
    return saveText({ store, kit }, ownerId, kind, text, id);
  };
  page(path, (visit) => renderList(visit));
  page(`${path}/:id`, async (visit) => {
    const { ownerId, context, params } = visit;
    const { id } = params;
    const isForm = app.hasRoute({ method: 'POST', url: `${path}/${id}` });
    if (isForm && !(await store.documents.find(ownerId, kind, id))) return goTo(context, path);
    const document = await findDocument(store, ownerId, kind, id);
    return renderDocument(
      visit,
      document,
      kit && { text: await kit.writeYaml(document), edit: { version: makeVersion(document) } },
    );
  });
  form(path, async (sent) => {
    const text = readLines(sent.form, 'text');
    const result = await save(sent.ownerId, text);
    if ('problem' in result) {
      const { problem } = result;
      return { status: 422, page: await renderList(sent, { text, problem }) };
    }
    return goTo(sent.context, linkToDocument(result.document.id), { notice: 'added' });
  });
  form(`${path}/:id/save`, async (sent) => {
    const { ownerId, context, params } = sent;
    const document = await findDocument(store, ownerId, kind, params.id);
    const text = readLines(sent.form, 'text');
    const version = makeVersion(document);
    const saved = { [TEXT_LABEL]: (await kit?.writeYaml(document)) ?? '' };
    const changed = findChanged(sent.form, version, { saved, entered: { [TEXT_LABEL]: text } });
    if (changed) {
      const edit = { version, changed };
      return { status: 409, page: await renderDocument(sent, document, { text, edit }) };
    }
    const result = await save(ownerId, text, params.id);
    if ('problem' in result) {
      const edited = { text, problem: result.problem, edit: { version } };
      return { status: 422, page: await renderDocument(sent, document, edited) };
    }
    return goTo(context, linkToDocument(params.id), { notice: 'saved' });
  });
  form(`${path}/:id/duplicate`, async ({ ownerId, context, params }) => {
    const { id } = await duplicateDocument(store, ownerId, kind, params.id);
    return goTo(context, linkToDocument(id), { notice: 'added' });
  });
  form(`${path}/:id/delete`, async ({ ownerId, context, params }) => {
    await removeDocument(store, ownerId, kind, params.id);
    return goTo(context, path, { notice: 'deleted' });
  });
}
