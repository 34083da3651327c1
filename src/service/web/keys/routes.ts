import { findAddedKey, grantKey, revokeAddedKey, type KeyOptions } from '../../operations/keys.ts';
import { findFieldProblems, isFlawless } from '../frame/field-problems.ts';
import { readText } from '../frame/forms.ts';
import { readPage } from '../frame/list-filter.ts';
import { goTo, type Pages, type Visit } from '../frame/pages.ts';
import {
  renderKeysPage,
  renderNewKeyPage,
  renderRevocationPage,
  REVOKE_PATH,
  type KeysPage,
} from './keys-page.ts';

const KEYS_PER_PAGE = 50;
const PROBLEMS = { label: 'The label must have at most 100 characters on one line.' };

/** `/keys`: lists, generates, and revokes the API keys of an owner. */
export function addKeyRoutes(
  { page, form }: Pages,
  { apiKeyHeader, ...keys }: KeyOptions & { apiKeyHeader: string },
): void {
  const render = async (
    { ownerId, context, query }: Visit,
    entered: Pick<KeysPage, 'label' | 'problems'> = {},
  ): Promise<string> => {
    const shown = readPage(query, KEYS_PER_PAGE);
    const listed = await keys.owners.listKeys(ownerId, shown);
    return renderKeysPage({ ...shown, ...listed, query, ...entered }, context);
  };
  page('/keys', (visit) => render(visit));
  form('/keys/generate', async (sent) => {
    const { ownerId, context } = sent;
    const label = readText(sent.form, 'label');
    const grant = label === '' ? {} : { label };
    const problems = findFieldProblems('KeyGrant', grant, PROBLEMS);
    if (!isFlawless(problems)) {
      return { status: 400, page: await render(sent, { label, problems }) };
    }
    const key = await grantKey(keys, { ownerId, ...grant });
    return renderNewKeyPage({ key, label, apiKeyHeader }, context);
  });
  form(
    REVOKE_PATH,
    async ({ ownerId, context, form: sent }) => {
      const id = readText(sent, 'id');
      if (id === '') {
        const found = await findAddedKey(keys, ownerId, { key: readText(sent, 'key') });
        return renderRevocationPage(found, context);
      }
      await revokeAddedKey(keys, ownerId, id);
      return goTo(context, '/keys', { notice: 'revoked' });
    },
    async ({ status, message }, sent) => {
      const field = readText(sent.form, 'id') === '' ? 'key' : 'id';
      return { status, page: await render(sent, { problems: { [field]: message } }) };
    },
  );
}
