import type { EvalDefinition, LiveSettings } from '../../contract/index.ts';
import { addSessions, type OnSeedProgress } from './add-sessions.ts';
import type { Connections, WriteTransaction } from './connections.ts';
import { putDocument, type NewDocument } from './documents.ts';
import { putEval } from './evals.ts';
import { addKey, ensureOwner, KeyTakenError, type NewKey } from './owners.ts';
import type { NewSession } from './records.ts';
import { sumColumns } from './schema/session-counts.ts';
import { listIn, type Dialect, type Table } from './schema/table.ts';
import { tables } from './schema/tables.ts';
import { updateSettings } from './settings.ts';
import { removeSimulation } from './simulations.ts';

/** Seed data of one owner. */
export interface SeedData {
  ownerId: string;
  /** Whether to delete all existing data of the owner, except its keys, first. */
  replaceAll: boolean;
  /**
   * Keys and the owners they belong to; without an owner name, the key is for `ownerId`. An entry
   * without a key only creates the owner.
   */
  keys: readonly (NewKey & {
    keyDigest: string | undefined;
    ownerName: string | undefined;
  })[];
  evals: readonly EvalDefinition[];
  /** Settings to change; the others keep their values. */
  settings: LiveSettings;
  documents: readonly NewDocument[];
  /** A stored session with the same digest is kept unchanged, with its outcomes. */
  sessions: readonly NewSession[];
  /** When their evals are due. */
  dueAtMs: number;
  /** Ids of simulations to mark as deleted; their sessions stay. */
  deletedSimulations: readonly string[];
  onProgress?: OnSeedProgress | undefined;
}

/**
 * Inserts the keys in one transaction, and then the other seed data in another. If a key belongs to
 * another owner, changes nothing and returns the index of that key.
 */
export async function insertSeedData(
  { dialect, directory, writeAlone }: Connections,
  seedData: SeedData,
): Promise<number | undefined> {
  const { ownerId } = seedData;
  let keysAdded = 0;
  try {
    await directory.write(async (db) => {
      keysAdded = 0;
      for (const { keyDigest, ownerName, ...about } of seedData.keys) {
        const keyOwnerId = ownerName === undefined ? ownerId : await ensureOwner(db, ownerName);
        const isAdded =
          keyDigest === undefined ||
          (await addKey(db, { ownerId: keyOwnerId, keyDigest, configured: 0, ...about }));
        if (!isAdded) throw new KeyTakenError();
        keysAdded += 1;
      }
    });
  } catch (error) {
    if (error instanceof KeyTakenError) return keysAdded;
    throw error;
  }
  await writeAlone(ownerId, async (db) => {
    if (seedData.replaceAll) await deleteOwnerData(db, ownerId, dialect);
    await insertSeedRows(db, seedData);
  });
  return undefined;
}

async function insertSeedRows(db: WriteTransaction, seedData: SeedData): Promise<void> {
  const { ownerId, evals, settings, documents, sessions, deletedSimulations } = seedData;
  for (const definition of evals) await putEval(db, ownerId, definition);
  await updateSettings(db, ownerId, settings);
  for (const document of documents) await putDocument(db, ownerId, document);
  await addSessions(db, sessions, seedData);
  for (const id of deletedSimulations) await removeSimulation(db, ownerId, id);
}

/** Deletes all data of an owner except the owner itself and its keys. */
export async function deleteOwnerData(
  db: WriteTransaction,
  ownerId: string,
  dialect: Dialect,
): Promise<void> {
  // Spans (in SQLite), tags, turns, outcomes and jobs are deleted by cascades.
  for (const table of ownerTables) {
    await db.deleteFrom(table).where('owner_id', '=', ownerId).execute();
  }
  // Others are those of sessions that were added in the meantime, or add up to 0 with them.
  await db
    .deleteFrom('session_counts')
    .where('owner_id', '=', ownerId)
    .where((eb) => eb.and(sumColumns.map((sum) => eb(sum, '=', 0))))
    .execute();
  if (dialect === 'postgres') {
    await deleteSpansWithoutConversation(db, 'spans');
    await deleteSpansWithoutConversation(db, 'span_ids');
  }
}

/** Keeps the spans of conversations that were received in the meantime. */
async function deleteSpansWithoutConversation(
  db: WriteTransaction,
  table: 'spans' | 'span_ids',
): Promise<void> {
  await db
    .deleteFrom(table)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('conversations')
            .select('key')
            .whereRef('conversations.key', '=', `${table}.conversation_key`),
        ),
      ),
    )
    .execute();
}

/** The tables whose rows are not deleted with those of another table. */
const ownerTables = listIn<Table>(tables, 'sqlite')
  .filter(([, { columns, isShared, isDerived }]) => {
    const references = Object.values(columns).flatMap((column) => column.references ?? []);
    return !isShared && !isDerived && references.every(({ table }) => table === 'owners');
  })
  // Each of them has the column of the owner.
  .map(([name]) => name as 'conversations');
