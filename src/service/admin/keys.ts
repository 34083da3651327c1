import type { FastifyInstance } from 'fastify';
import type { KeyGrant } from '../../contract/index.ts';
import { randomSeed } from '../../platform/random.ts';
import { RequestError } from '../domain/errors.ts';
import { digestKey } from '../../http-kit/local-access.ts';
import type { OwnerStore } from '../store/store.ts';
import { parseMessage } from '../domain/document-checks.ts';
import type { Owners } from './owners.ts';

/** Returns a random API key. */
function createKey(): string {
  return `sk_${randomSeed()}${randomSeed()}${randomSeed()}`;
}

/** Assigns a key to an owner. @throws RequestError `conflict` when it belongs to another owner. */
async function grantKey(
  owners: OwnerStore,
  grant: { key: string; ownerId: string },
): Promise<void> {
  const keyDigest = digestKey(grant.key);
  const holder = await owners.findByKey(keyDigest);
  if (holder && holder.ownerId !== grant.ownerId) {
    throw new RequestError('conflict', 'The key belongs to another owner.');
  }
  await owners.addKey(grant.ownerId, keyDigest);
}

/** `/keys`: grants and revokes keys. Only their digests are stored, so they can't be listed. */
export function addKeyRoutes(
  app: FastifyInstance,
  { owners, store }: { owners: Owners; store: OwnerStore },
): void {
  app.post('/keys', async (request): Promise<Required<KeyGrant>> => {
    const { key = createKey(), owner = owners.readName(request) } = parseMessage(
      'KeyGrant',
      request.body ?? {},
    );
    await grantKey(store, { key, ownerId: await owners.ensure(owner) });
    return { key, owner };
  });
  app.delete('/keys', async (request) => {
    const { key, owner = owners.readName(request) } = parseMessage('KeyGrant', request.body ?? {});
    if (key === undefined) throw new RequestError('bad_request', 'The body must contain the key.');
    const ownerId = await owners.ensure(owner);
    if (!(await store.removeKey(ownerId, digestKey(key)))) {
      throw new RequestError('not_found', 'The owner has no such key.');
    }
    return { deleted: true };
  });
}
