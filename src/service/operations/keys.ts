import { digestKey } from '../../http-kit/local-access.ts';
import type { Clock } from '../../platform/clock.ts';
import { randomSeed } from '../../platform/random.ts';
import { RequestError } from '../requests/errors.ts';
import type { OwnerStore, StoredKey } from '../store/store.ts';

export interface KeyOptions {
  owners: OwnerStore;
  clock: Clock;
}

/** A key to add. */
interface KeyToGrant {
  ownerId: string;
  /** Default: generated. */
  key?: string | undefined;
  label?: string | undefined;
}

/**
 * Assigns a key to an owner, and returns the key: the only time when it is known, because only
 * its digest is stored. @throws RequestError `conflict` when it belongs to another owner.
 */
export async function grantKey(
  { owners, clock }: KeyOptions,
  { ownerId, key = createKey(), label }: KeyToGrant,
): Promise<string> {
  const about = { createdAtMs: clock.nowMs(), ...(label !== undefined && { label }) };
  if (await owners.addKey(ownerId, digestKey(key), about)) return key;
  throw new RequestError('conflict', 'The key belongs to another owner.');
}

/** Returns a random API key. */
function createKey(): string {
  return `sk_${randomSeed()}${randomSeed()}${randomSeed()}`;
}

/** Revokes a key of an owner until the next start, if it is configured. @throws RequestError `not_found`. */
export async function revokeKey(
  { owners }: Pick<KeyOptions, 'owners'>,
  { ownerId, key }: { ownerId: string; key: string },
): Promise<void> {
  if (!(await owners.removeKey(ownerId, digestKey(key)))) throw unknownKey();
}

/**
 * Finds a key that was added to an owner, by the key itself or by its id.
 * @throws RequestError `not_found`, or `conflict` for a key of the configuration.
 */
export async function findAddedKey(
  { owners }: Pick<KeyOptions, 'owners'>,
  ownerId: string,
  named: { key: string } | { id: string },
): Promise<StoredKey & { keyDigest: string }> {
  const found = await owners.findKey(
    ownerId,
    'key' in named ? { keyDigest: digestKey(named.key) } : named,
  );
  if (!found) throw unknownKey();
  if (found.isConfigured) {
    const message =
      'The key is from the configuration of the service. Remove it there, and restart the service.';
    throw new RequestError('conflict', message);
  }
  return found;
}

/** Revokes a key that was added to an owner. @throws RequestError as `findAddedKey` does. */
export async function revokeAddedKey(
  { owners }: Pick<KeyOptions, 'owners'>,
  ownerId: string,
  id: string,
): Promise<void> {
  const { keyDigest } = await findAddedKey({ owners }, ownerId, { id });
  await owners.removeKey(ownerId, keyDigest);
}

const unknownKey = (): RequestError => new RequestError('not_found', 'The owner has no such key.');
