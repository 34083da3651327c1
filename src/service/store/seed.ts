import { yieldPeriodically } from '../../platform/event-loop.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Connections, WriteTransaction } from './connect.ts';
import { putDocument } from './documents.ts';
import { putEval, putSettings } from './evals.ts';
import { addKey, ensureOwner, KeyTakenError } from './owners.ts';
import { addSession, deleteSimulation } from './sessions.ts';
import type { SeedData } from './setup.ts';
import type { NewSession } from './store.ts';

const sessionsAtOnce = 50;

/** How long the planting goes on before everything else has its turn. */
const plantMsMax = 5;

/** Keeps all that a seed brings, or nothing; the place of a key that is another owner's. */
export async function insertSeedData(
  write: Connections['write'],
  planting: SeedData,
): Promise<number | undefined> {
  let keysTried = 0;
  try {
    await write(async (db) => {
      if (planting.replaceAll) await deleteOwnerData(db, planting.ownerId);
      for (const { keyDigest, ownerName } of planting.keys) {
        const ownerId =
          ownerName === undefined ? planting.ownerId : await ensureOwner(db, ownerName);
        const isKept =
          keyDigest === undefined || (await addKey(db, { ownerId, keyDigest, configured: 0 }));
        if (!isKept) throw new KeyTakenError();
        keysTried += 1;
      }
      await insertSeedRows(db, planting);
    });
    return undefined;
  } catch (error) {
    if (error instanceof KeyTakenError) return keysTried;
    throw error;
  }
}

async function insertSeedRows(db: WriteTransaction, planting: SeedData): Promise<void> {
  const { ownerId, evals, settings, documents, sessions, deletedSimulations } = planting;
  for (const definition of evals) await putEval(db, ownerId, definition);
  await putSettings(db, ownerId, settings);
  for (const added of documents) await putDocument(db, ownerId, added);
  const breathe = yieldPeriodically(systemClock, plantMsMax);
  for (let from = 0; from < sessions.length; from += sessionsAtOnce) {
    const some = sessions.slice(from, from + sessionsAtOnce);
    const digests = await digestsOf(db, ownerId, some);
    for (const session of some) {
      const { id, seedDigest = null } = session;
      const known = digests.get(id);
      if (seedDigest === null || seedDigest !== known) {
        await addSession(db, session, { dueAtMs: 0, isNew: known === undefined });
        digests.set(id, seedDigest);
      }
      await breathe();
    }
    planting.onProgress?.(Math.min(from + sessionsAtOnce, sessions.length), sessions.length);
  }
  for (const id of deletedSimulations) await deleteSimulation(db, ownerId, id);
}

/** Of those sessions that are there, what the seed said of them; null where no seed did. */
async function digestsOf(
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

/** Forgets everything of an owner but the owner and its keys. */
export async function deleteOwnerData(db: WriteTransaction, ownerId: string): Promise<void> {
  // Spans, tags, turns, outcomes and jobs go with what they belong to.
  for (const table of tablesOfOwner) {
    await db.deleteFrom(table).where('owner_id', '=', ownerId).execute();
  }
}

const tablesOfOwner = [
  'traces',
  'conversations',
  'sessions',
  'runs',
  'agents',
  'simulations',
  'eval_names',
  'evals',
  'documents',
  'settings',
  'ingest_log',
] as const;
