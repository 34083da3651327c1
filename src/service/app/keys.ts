import { StartError } from '../../http-kit/errors.ts';
import { digestKey } from '../../http-kit/local-access.ts';
import { KeyTakenError } from '../store/owners.ts';
import type { ConfiguredKey, OwnerStore, Store } from '../store/store.ts';
import type { ServiceKey } from '../options.ts';
import { joinReplicas, type Replica, type ReplicaOptions } from './replicas.ts';

/** The owner of keys that name none. */
export const OWNER_NAME_DEFAULT = 'development';

/** The keys that a process was started with. */
export interface StartKeys {
  keys: ConfiguredKey[];
  /** The first key, which also opens `/__admin`. */
  apiKey: string;
  /** The name of its owner, which is the owner of the service itself. */
  ownerName: string;
}

/** Returns the given API keys with their owners, or the development key without any. */
export async function resolveKeys(
  owners: Pick<OwnerStore, 'ensure'>,
  configured: readonly ServiceKey[],
  loadDevelopmentKey: () => Promise<string>,
): Promise<StartKeys> {
  const [first = { key: await loadDevelopmentKey() }, ...others]: readonly ServiceKey[] =
    configured;
  const keys = [];
  for (const { key, owner = OWNER_NAME_DEFAULT } of [first, ...others]) {
    keys.push({ ownerId: await owners.ensure(owner), keyDigest: digestKey(key) });
  }
  return { keys, apiKey: first.key, ownerName: first.owner ?? OWNER_NAME_DEFAULT };
}

/**
 * Configures the keys of this process, and joins the other replicas; returns undefined if the store is a
 * file, which has none. Keys of a configuration that is not in use anymore stop working; keys created by
 * `/__admin/keys` keep working.
 */
export async function configureKeys({
  store: { owners, replicas },
  ...options
}: Omit<ReplicaOptions, 'replicas'> & {
  store: Pick<Store, 'owners' | 'replicas'>;
}): Promise<Replica | undefined> {
  try {
    if (replicas) return await joinReplicas({ ...options, replicas });
    await owners.configureKeys(options.keys);
    return undefined;
  } catch (error) {
    if (!(error instanceof KeyTakenError)) throw error;
    throw new StartError(
      'A configured key belongs to another owner. Revoke it first, or configure another key.',
    );
  }
}
