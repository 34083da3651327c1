import { yieldPeriodically } from '../../platform/event-loop.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Connections, WriteTransaction } from './connect.ts';
import { putDocument } from './documents.ts';
import { putEval, updateSettings } from './evals.ts';
import { addKey, ensureOwner, KeyTakenError } from './owners.ts';
import { addSession, deleteSimulation } from './sessions.ts';
import type { NewSession, SeedData } from './store.ts';

const SESSIONS_PER_QUERY = 50;

/** How long inserting may block the event loop before it yields. */
const BLOCK_MS_MAX = 5;

/**
 * Inserts seed data in one transaction. If a key belongs to another owner, changes nothing and returns
 * the index of that key.
 */
export async function insertSeedData(
  write: Connections['write'],
  seedData: SeedData,
): Promise<number | undefined> {
  let keysAdded = 0;
  try {
    await write(async (db) => {
      if (seedData.replaceAll) await deleteOwnerData(db, seedData.ownerId);
      for (const { keyDigest, ownerName, ...about } of seedData.keys) {
        const ownerId =
          ownerName === undefined ? seedData.ownerId : await ensureOwner(db, ownerName);
        const isAdded =
          keyDigest === undefined ||
          (await addKey(db, { ownerId, keyDigest, configured: 0, ...about }));
        if (!isAdded) throw new KeyTakenError();
        keysAdded += 1;
      }
      await insertSeedRows(db, seedData);
    });
    return undefined;
  } catch (error) {
    if (error instanceof KeyTakenError) return keysAdded;
    throw error;
  }
}

async function insertSeedRows(db: WriteTransaction, seedData: SeedData): Promise<void> {
  const { ownerId, evals, settings, documents, sessions, deletedSimulations } = seedData;
  for (const definition of evals) await putEval(db, ownerId, definition);
  await updateSettings(db, ownerId, settings);
  for (const document of documents) await putDocument(db, ownerId, document);
  const yieldIfDue = yieldPeriodically(systemClock, BLOCK_MS_MAX);
  for (let from = 0; from < sessions.length; from += SESSIONS_PER_QUERY) {
    const chunk = sessions.slice(from, from + SESSIONS_PER_QUERY);
    const digests = await findSeedDigests(db, ownerId, chunk);
    for (const session of chunk) {
      const { id, seedDigest = null } = session;
      const storedDigest = digests.get(id);
      if (seedDigest === null || seedDigest !== storedDigest) {
        await addSession(db, session, { dueAtMs: 0, isNew: storedDigest === undefined });
        digests.set(id, seedDigest);
      }
      await yieldIfDue();
    }
    seedData.onProgress?.(Math.min(from + SESSIONS_PER_QUERY, sessions.length), sessions.length);
  }
  for (const id of deletedSimulations) await deleteSimulation(db, ownerId, id);
}

/** Returns the seed digests of the sessions that exist; null for sessions that were not seeded. */
async function findSeedDigests(
  db: WriteTransaction,
  ownerId: string,
  sessions: readonly NewSession[],
): Promise<Map<string, string | null>> {
  const ids = sessions.map(({ id }) => id);
  const rows = await db
    .selectFrom('sessions')
    .select(['id', 'seed_digest'])
    .where('owner_id', '=', ownerId)
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.id, row.seed_digest]));
}

/** Deletes all data of an owner except the owner itself and its keys. */
export async function deleteOwnerData(db: WriteTransaction, ownerId: string): Promise<void> {
  // Spans, tags, turns, outcomes and jobs are deleted by cascades.
  for (const table of ownerTables) {
    await db.deleteFrom(table).where('owner_id', '=', ownerId).execute();
  }
}

const ownerTables = [
  'traces',
  'span_links',
  'conversations',
  'sessions',
  'runs',
  'agents',
  'simulations',
  'eval_names',
  'evals',
  'documents',
  'agent_reports',
  'settings',
  'ingest_log',
] as const;
