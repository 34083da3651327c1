import type { Connections, Reader, WriteTransaction } from './connections.ts';
import { randomSeed } from '../../platform/random.ts';
import type { Page } from './records.ts';
import type { ConfiguredKey } from './replicas.ts';
import type { Tables } from './schema/tables.ts';

/** An API key of an owner, without the key. */
export interface StoredKey {
  /** Names the key to callers. Random: it reveals nothing about the key. */
  id: string;
  label: string | undefined;
  /** Undefined if the key is from the configuration, or from an older release. */
  createdAtMs: number | undefined;
  /** Whether it is from the configuration of the service. */
  isConfigured: boolean;
}

/** What is stored with an added key. */
export type NewKey = Partial<Pick<StoredKey, 'label' | 'createdAtMs'>>;

/**
 * Creates the store of owners and their keys. Keys are stored as SHA-256 digests in lower-case
 * hexadecimal, never as they are.
 */
export function createOwnerStore({ directory }: Connections) {
  const findId = async (name: string): Promise<string | undefined> => {
    const query = directory.reader.selectFrom('owners').select('id').where('name', '=', name);
    return (await query.executeTakeFirst())?.id;
  };
  return {
    findId,
    async findName(id: string): Promise<string | undefined> {
      const query = directory.reader.selectFrom('owners').select('name').where('id', '=', id);
      return (await query.executeTakeFirst())?.name;
    },
    /** Returns the ids of all owners. */
    async listIds(): Promise<string[]> {
      const rows = await directory.reader.selectFrom('owners').select('id').orderBy('id').execute();
      return rows.map(({ id }) => id);
    },
    /** Returns the id of the owner with this name, creating the owner if necessary. */
    ensure: async (name: string): Promise<string> =>
      (await findId(name)) ?? (await directory.write((db) => ensureOwner(db, name))),
    /**
     * Adds a key; safe to repeat, which keeps what is stored with it. Returns false, and changes
     * nothing, if another owner has the key.
     */
    addKey: (ownerId: string, keyDigest: string, about?: NewKey): Promise<boolean> =>
      directory.write((db) => addKey(db, { ownerId, keyDigest, configured: 0, ...about })),
    /**
     * Replaces the keys of the previous configuration with these; keys added by `addKey` stay. Only for
     * a store that no other process uses: replicas configure keys when they join.
     * @throws KeyTakenError if one of them belongs to another owner; nothing changes then.
     */
    configureKeys: (keys: readonly ConfiguredKey[]): Promise<void> =>
      directory.write((db) => configureKeys(db, keys)),
    removeKey: (ownerId: string, keyDigest: string): Promise<boolean> =>
      directory.write(async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('keys')
          .where('owner_id', '=', ownerId)
          .where('digest', '=', keyDigest)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),
    /** Lists the keys of an owner: those of the configuration first, then the newest first. */
    listKeys: (ownerId: string, page: Page): Promise<{ keys: StoredKey[]; total: number }> =>
      directory.read((db) => listKeys(db, ownerId, page)),
    /** Finds a key of an owner by its id or its digest. */
    async findKey(
      ownerId: string,
      key: { id: string } | { keyDigest: string },
    ): Promise<(StoredKey & { keyDigest: string }) | undefined> {
      const row = await directory.reader
        .selectFrom('keys')
        .selectAll()
        .where('owner_id', '=', ownerId)
        .where((eb) => ('id' in key ? eb('id', '=', key.id) : eb('digest', '=', key.keyDigest)))
        .executeTakeFirst();
      return row && { ...toStoredKey(row), keyDigest: row.digest };
    },
    /** Returns the owner of a key, and the stored digest for a constant-time comparison. */
    async findByKey(
      keyDigest: string,
    ): Promise<{ ownerId: string; keyDigest: string } | undefined> {
      const row = await directory.reader
        .selectFrom('keys')
        .selectAll()
        .where('digest', '=', keyDigest)
        .executeTakeFirst();
      return row && { ownerId: row.owner_id, keyDigest: row.digest };
    },
  };
}

export type OwnerStore = ReturnType<typeof createOwnerStore>;

async function listKeys(
  db: Reader,
  ownerId: string,
  { skip, limit }: Page,
): Promise<{ keys: StoredKey[]; total: number }> {
  const keys = db.selectFrom('keys').where('owner_id', '=', ownerId);
  const { total } = await keys
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await keys
    .selectAll()
    .orderBy('configured', 'desc')
    .orderBy('created_at_ms', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(skip)
    .execute();
  return { keys: rows.map(toStoredKey), total };
}

/** Returns the id of the owner with this name, inserting the owner if necessary. */
export async function ensureOwner(db: WriteTransaction, name: string): Promise<string> {
  // Owners are never deleted, so the next number is unused.
  const { count } = await db
    .selectFrom('owners')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const row = await db
    .insertInto('owners')
    .values({ id: `o${count + 1}`, name })
    // `returning` returns an existing row only if the conflict updates it.
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ name }))
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/**
 * Adds a key; returns false if another owner has it. A key that was both configured and added
 * becomes permanent.
 */
export async function addKey(
  db: WriteTransaction,
  key: NewKey & { ownerId: string; keyDigest: string; configured: 0 | 1 },
): Promise<boolean> {
  const { ownerId, keyDigest, configured, label = null, createdAtMs = null } = key;
  const about = { id: randomSeed() + randomSeed(), label, created_at_ms: createdAtMs };
  await db
    .insertInto('keys')
    .values({ digest: keyDigest, owner_id: ownerId, configured, ...about })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const stored = await db
    .selectFrom('keys')
    .selectAll()
    .where('digest', '=', keyDigest)
    .executeTakeFirstOrThrow();
  if (stored.owner_id !== ownerId) return false;
  if (stored.configured > configured) {
    await db
      .updateTable('keys')
      .set({ configured, label, created_at_ms: createdAtMs })
      .where('digest', '=', keyDigest)
      .execute();
  }
  return true;
}

function toStoredKey({
  id,
  label,
  created_at_ms: createdAtMs,
  configured,
}: Tables['keys']): StoredKey {
  return {
    id: id ?? '',
    label: label ?? undefined,
    createdAtMs: createdAtMs ?? undefined,
    isConfigured: configured === 1,
  };
}

/** Thrown if a key belongs to another owner. Rolls back the transaction. */
export class KeyTakenError extends Error {
  override name = 'KeyTakenError';
}

async function configureKeys(db: WriteTransaction, keys: readonly ConfiguredKey[]): Promise<void> {
  await db.deleteFrom('keys').where('configured', '=', 1).execute();
  for (const key of keys) {
    if (!(await addKey(db, { ...key, configured: 1 }))) throw new KeyTakenError();
  }
}
