import type { PoolClient } from 'pg';
import { randomSeed } from '../../../platform/random.ts';
import { KeyTakenError } from '../owners.ts';
import type { ConfiguredKey } from '../replicas.ts';

/** Returns the digests of keys in the form that the row of a replica has. */
export const listDigests = (keys: readonly ConfiguredKey[]): string[] =>
  [...new Set(keys.map(({ keyDigest }) => keyDigest))].sort();

/**
 * Adds the configured keys of a replica. Keys that `/__admin/keys` added don't change.
 * @throws KeyTakenError if a key belongs to another owner.
 */
export async function addConfiguredKeys(
  client: PoolClient,
  keys: readonly ConfiguredKey[],
): Promise<void> {
  for (const { ownerId, keyDigest } of keys) {
    await client.query(
      `insert into keys (digest, owner_id, configured, id) values ($1, $2, 1, $3)
       on conflict do nothing`,
      [keyDigest, ownerId, randomSeed() + randomSeed()],
    );
    const { rowCount } = await client.query(
      'select 1 from keys where digest = $1 and owner_id = $2',
      [keyDigest, ownerId],
    );
    if (rowCount === 0) throw new KeyTakenError();
  }
}

/** Removes the configured keys that no replica was started with. */
export async function removeUnusedKeys(client: PoolClient): Promise<void> {
  await client.query(
    `delete from keys where configured = 1
       and not exists (select 1 from replicas where keys.digest = any (key_digests))`,
  );
}
