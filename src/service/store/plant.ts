import { systemClock } from '../../shared/clock.ts';
import type { Connections, Writing } from './connect.ts';
import { putDocument } from './documents.ts';
import { putEval, putSettings } from './evals.ts';
import { addKey, ensureOwner, KeyTaken } from './owners.ts';
import { addSession, deleteSimulation } from './sessions.ts';
import type { Planting } from './setup.ts';
import type { NewSession } from './store.ts';

const sessionsAtOnce = 50;

/** Keeps all that a seed brings, or nothing; the place of a key that is another owner's. */
export async function plant(
  write: Connections['write'],
  planting: Planting,
): Promise<number | undefined> {
  let keysTried = 0;
  try {
    await write(async (db) => {
      if (planting.afresh) await emptyOwner(db, planting.ownerId);
      for (const { keyDigest, ownerName } of planting.keys) {
        const ownerId =
          ownerName === undefined ? planting.ownerId : await ensureOwner(db, ownerName);
        const isKept =
          keyDigest === undefined || (await addKey(db, { ownerId, keyDigest, configured: 0 }));
        if (!isKept) throw new KeyTaken();
        keysTried += 1;
      }
      await plantRest(db, planting);
    });
    return undefined;
  } catch (error) {
    if (error instanceof KeyTaken) return keysTried;
    throw error;
  }
}

async function plantRest(db: Writing, planting: Planting): Promise<void> {
  const { ownerId, evals, settings, documents, sessions, deletedSimulations } = planting;
  for (const definition of evals) await putEval(db, ownerId, definition);
  await putSettings(db, ownerId, settings);
  for (const added of documents) await putDocument(db, ownerId, added);
  for (let from = 0; from < sessions.length; from += sessionsAtOnce) {
    // SQLite answers at once, so that nothing else would be answered until all are kept.
    await systemClock.sleep(0);
    const some = sessions.slice(from, from + sessionsAtOnce);
    for (const session of await notPlanted(db, ownerId, some)) await addSession(db, session, 0);
  }
  for (const id of deletedSimulations) await deleteSimulation(db, ownerId, id);
}

/** Those that are not there as the seed has them. */
async function notPlanted(
  db: Writing,
  ownerId: string,
  sessions: readonly NewSession[],
): Promise<NewSession[]> {
  const ids = sessions.map(({ id }) => id);
  const rows = await db
    .selectFrom('sessions')
    .select(['id', 'seed_digest'])
    .where('owner_id', '=', ownerId)
    .where('id', 'in', ids)
    .execute();
  const digests = new Map(rows.map((row) => [row.id, row.seed_digest]));
  return sessions.filter(({ id, seedDigest = null }) => {
    return seedDigest === null || digests.get(id) !== seedDigest;
  });
}

/** Forgets everything of an owner but the owner and its keys. */
export async function emptyOwner(db: Writing, ownerId: string): Promise<void> {
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
