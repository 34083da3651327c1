import type { FastifyInstance } from 'fastify';
import { isMessage } from '../../../contract/index.ts';
import { RequestError } from '../../domain/errors.ts';
import { grantKey, revokeAddedKey, type KeyOptions } from '../../operations/keys.ts';
import { readText, redirect } from '../frame/forms.ts';
import { readListFilter } from '../frame/list-filter.ts';
import { sendPage, type PageContext } from '../frame/page-frame.ts';
import { readQuery, type PageOptions } from '../frame/viewer.ts';
import { renderKeysPage, renderNewKeyPage, type KeysPage } from './keys-page.ts';

const KEYS_PER_PAGE = 100;

/** `/keys`: lists, generates, and revokes the API keys of an owner. */
export function addKeyRoutes(
  app: FastifyInstance,
  options: PageOptions & Pick<KeyOptions, 'clock'>,
): void {
  const { store, clock, apiKeyHeader, findViewer, findEditor } = options;
  const keyOptions = { owners: store.owners, clock };
  const render = async (
    { ownerId, context }: { ownerId: string; context: PageContext },
    query: URLSearchParams,
    entered: Pick<KeysPage, 'label' | 'problems'> = {},
  ): Promise<string> => {
    const page = { skip: readListFilter(query, ownerId).filter.skip, limit: KEYS_PER_PAGE };
    const listed = await store.owners.listKeys(ownerId, page);
    return renderKeysPage({ ...page, ...listed, query, ...entered }, context);
  };

  app.get('/keys', async (request, reply) => {
    const viewer = await findViewer(request);
    return sendPage(reply, await render(viewer, readQuery(request)));
  });
  app.post('/keys/generate', async (request, reply) => {
    const editor = await findEditor(request);
    const { ownerId, context, form } = editor;
    const label = readText(form, 'label');
    if (label !== '' && !isMessage('KeyGrant', { label })) {
      const problems = { label: 'The label must have at most 100 characters on one line.' };
      return sendPage(
        reply.code(400),
        await render(editor, readQuery(request), { label, problems }),
      );
    }
    const key = await grantKey(keyOptions, { ownerId, ...(label !== '' && { label }) });
    return sendPage(reply, renderNewKeyPage({ key, label, apiKeyHeader }, context));
  });
  app.post('/keys/revoke', async (request, reply) => {
    const editor = await findEditor(request);
    const { ownerId, context, form } = editor;
    const [id, key] = [readText(form, 'id'), readText(form, 'key')];
    try {
      await revokeAddedKey(keyOptions, ownerId, id === '' ? { key } : { id });
      return await redirect(reply, context, '/keys', { notice: 'revoked' });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const problems = { [id === '' ? 'key' : 'id']: error.message };
      return sendPage(
        reply.code(error.status),
        await render(editor, readQuery(request), { problems }),
      );
    }
  });
}
