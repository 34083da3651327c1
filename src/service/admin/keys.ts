import type { FastifyInstance } from 'fastify';
import type { KeyGrant } from '../../contract/index.ts';
import { randomSeed } from '../../platform/random.ts';
import { RequestError } from '../domain/errors.ts';
import { keyDigestOf } from '../app/authentication.ts';
import type { OwnerStore } from '../store/store.ts';
import { parseMessage } from '../domain/document-checks.ts';
import type { Owners } from './owners.ts';

/** A key that nobody can foresee. */
export function newKey(): string {
  return `sk_${randomSeed()}${randomSeed()}${randomSeed()}`;
}

/** Gives a key to its owner. @throws RequestError `conflict` when another owner has it. */
export async function grantKey(
  owners: OwnerStore,
  grant: { key: string; ownerId: string },
): Promise<void> {
  const keyDigest = keyDigestOf(grant.key);
  const holder = await owners.findByKey(keyDigest);
  if (holder && holder.ownerId !== grant.ownerId) {
    throw new RequestError('conflict', 'this key belongs to another owner');
  }
  await owners.addKey(grant.ownerId, keyDigest);
}

/** `/keys`: keys are given and taken away; they are kept as digests, so that none can be listed. */
export function keyRoutes(
  app: FastifyInstance,
  { owners, store }: { owners: Owners; store: OwnerStore },
): void {
  app.post('/keys', async (request): Promise<Required<KeyGrant>> => {
    const { key = newKey(), owner = owners.nameIn(request) } = parseMessage(
      'KeyGrant',
      request.body ?? {},
    );
    await grantKey(store, { key, ownerId: await owners.ensure(owner) });
    return { key, owner };
  });
  app.delete('/keys', async (request) => {
    const { key, owner = owners.nameIn(request) } = parseMessage('KeyGrant', request.body ?? {});
    if (key === undefined) throw new RequestError('bad_request', 'the body must hold the key');
    const ownerId = await owners.ensure(owner);
    if (!(await store.removeKey(ownerId, keyDigestOf(key)))) {
      throw new RequestError('not_found', 'this owner has no such key');
    }
    return { deleted: true };
  });
}
