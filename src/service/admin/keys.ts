import type { FastifyInstance } from 'fastify';
import type { KeyGrant } from '../../contract/index.ts';
import { isoTime, type Clock } from '../../platform/clock.ts';
import { grantKey, revokeAddedKey, revokeKey } from '../operations/keys.ts';
import { parseMessage } from '../requests/document-checks.ts';
import { RequestError } from '../requests/errors.ts';
import type { Store, StoredKey } from '../store/store.ts';
import type { RequestOwners } from './request-owners.ts';

const KEYS_MAX = 1000;

/** `/keys`: grants, lists, and revokes keys. A list contains no key, because only digests are stored. */
export function addKeyRoutes(
  app: FastifyInstance,
  { owners, store, clock }: { owners: RequestOwners; store: Pick<Store, 'owners'>; clock: Clock },
): void {
  const keys = { owners: store.owners, clock };
  app.post('/keys', async (request): Promise<KeyGrant> => {
    const grant = parseMessage('KeyGrant', request.body ?? {});
    const { owner = owners.readName(request), label } = grant;
    const key = await grantKey(keys, { ...grant, ownerId: await owners.ensure(owner) });
    return { key, owner, ...(label !== undefined && { label }) };
  });
  app.get('/keys', async (request) => {
    const listed = await keys.owners.listKeys(await owners.find(request), {
      skip: 0,
      limit: KEYS_MAX,
    });
    return { keys: listed.keys.map(formatKey) };
  });
  app.delete('/keys', async (request) => {
    const { key, owner = owners.readName(request) } = parseMessage('KeyGrant', request.body ?? {});
    if (key === undefined) throw new RequestError('bad_request', 'The body must contain the key.');
    await revokeKey(keys, { key, ownerId: await owners.ensure(owner) });
    return { deleted: true };
  });
  app.delete<{ Params: { id: string } }>('/keys/:id', async (request) => {
    const { id } = request.params;
    await revokeAddedKey(keys, await owners.find(request), id);
    return { deleted: true };
  });
}

function formatKey({ id, label, createdAtMs, isConfigured }: StoredKey): object {
  return {
    id,
    ...(label !== undefined && { label }),
    ...(createdAtMs !== undefined && { created_at: isoTime(createdAtMs) }),
    configured: isConfigured,
  };
}
