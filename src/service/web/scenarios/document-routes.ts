import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from '../../domain/errors.ts';
import { findDocument, removeDocument } from '../../operations/documents.ts';
import { duplicateDocument, saveText, type TextKind } from '../../operations/scenarios.ts';
import type { Documents } from '../../store/store.ts';
import { redirect } from '../frame/forms.ts';
import { sendPage } from '../frame/page-frame.ts';
import { readQuery, type PageOptions, type Viewer } from '../frame/viewer.ts';
import type { EditedText } from './document-editor.ts';

type WithId = { Params: { id: string } };

/** The pages of one kind of documents. */
interface TextPages<Kind extends TextKind> {
  kind: Kind;
  /** Path of the list. */
  path: string;
  sendList: (
    request: FastifyRequest,
    reply: FastifyReply,
    viewer: Viewer,
    edited: EditedText,
  ) => Promise<FastifyReply>;
  renderDocument: (
    viewer: Viewer,
    document: Documents[Kind],
    edited: EditedText | undefined,
    query: URLSearchParams,
  ) => Promise<string>;
}

/** Adds the page of a scenario or persona, and the forms that add, save, duplicate, and delete one. */
export function addTextRoutes<Kind extends TextKind>(
  app: FastifyInstance,
  options: PageOptions,
  { kind, path, sendList, renderDocument }: TextPages<Kind>,
): void {
  const { store, kit, findViewer, findEditor } = options;
  const linkToDocument = (id: string): string => `${path}/${encodeURIComponent(id)}`;
  const save = (ownerId: string, text: string, id?: string) => {
    if (!kit) throw new RequestError('not_found', 'This service was started without an editor.');
    return saveText({ store, kit }, ownerId, kind, text, id);
  };
  app.get<WithId>(`${path}/:id`, async (request, reply) => {
    const viewer = await findViewer(request);
    const { id } = request.params;
    const isForm = app.hasRoute({ method: 'POST', url: `${path}/${id}` });
    if (isForm && !(await store.documents.find(viewer.ownerId, kind, id))) {
      return redirect(reply, viewer.context, path);
    }
    const document = await findDocument(store, viewer.ownerId, kind, id);
    const edited = kit && { text: await kit.writeYaml(document) };
    const page = await renderDocument(viewer, document, edited, readQuery(request));
    return sendPage(reply, page);
  });
  app.post(path, async (request, reply) => {
    const editor = await findEditor(request);
    const text = readDocumentText(editor.form);
    const result = await save(editor.ownerId, text);
    if ('problem' in result) {
      const { problem } = result;
      return sendList(request, reply.code(422), editor, { text, problem });
    }
    const { id } = result.document;
    return redirect(reply, editor.context, linkToDocument(id), { notice: 'added' });
  });
  app.post<WithId>(`${path}/:id/save`, async (request, reply) => {
    const editor = await findEditor(request);
    const { ownerId, context } = editor;
    const { id } = request.params;
    const document = await findDocument(store, ownerId, kind, id);
    const text = readDocumentText(editor.form);
    const result = await save(ownerId, text, id);
    if ('problem' in result) {
      const { problem } = result;
      const typed = { text, problem };
      const page = await renderDocument(editor, document, typed, readQuery(request));
      return sendPage(reply.code(422), page);
    }
    return redirect(reply, context, linkToDocument(id), { notice: 'saved' });
  });
  app.post<WithId>(`${path}/:id/duplicate`, async (request, reply) => {
    const { ownerId, context } = await findEditor(request);
    const { id } = await duplicateDocument(store, ownerId, kind, request.params.id);
    return redirect(reply, context, linkToDocument(id), { notice: 'added' });
  });
  app.post<WithId>(`${path}/:id/delete`, async (request, reply) => {
    const { ownerId, context } = await findEditor(request);
    await removeDocument(store, ownerId, kind, request.params.id);
    return redirect(reply, context, path, { notice: 'deleted' });
  });
}

/** Returns the typed text of a document with its line breaks as in files. */
function readDocumentText(form: FormData): string {
  const text = form.get('text');
  return typeof text === 'string' ? text.replaceAll('\r\n', '\n') : '';
}
