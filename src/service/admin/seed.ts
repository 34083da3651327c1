import type { FastifyInstance } from 'fastify';
import type { SeedDocument } from '../../contract/index.ts';
import type { FindSettingsWarnings } from '../operations/settings.ts';
import type { TranscriptOptions } from '../operations/transcripts.ts';
import { parseMessage } from '../requests/document-checks.ts';
import { RequestError } from '../requests/errors.ts';
import type { OnSeedProgress } from '../store/store.ts';
import { readSeed, type SeedInput } from './read-seed.ts';
import type { RequestOwners } from './request-owners.ts';

/** Loads seed data, and restores the last seed data of each owner. */
export interface Seeder {
  /** Checks a whole document, and stores it unless a part is refused. @throws RequestError. */
  load(ownerId: string, document: SeedDocument, onProgress?: OnSeedProgress): Promise<SeedCounts>;
  /**
   * Replaces an owner's data, except its keys, with its last seed data, or with nothing.
   * @throws RequestError when the seed data depends on data that is not part of it. Nothing is
   * deleted then.
   */
  resetToSeed(ownerId: string): Promise<void>;
}

/** How many items of each kind seed data contains. */
export type SeedCounts = Record<(typeof COUNTED_KINDS)[number], number>;

const COUNTED_KINDS = [
  'keys',
  'agents',
  'evals',
  'personas',
  'scenarios',
  'transcripts',
  'simulations',
  'runs',
] as const;

/** Creates a seeder without seed data. */
export function createSeeder(options: TranscriptOptions): Seeder {
  const documentByOwner = new Map<string, SeedDocument>();
  const store = async (input: SeedInput, onProgress?: OnSeedProgress): Promise<void> => {
    const seedData = await readSeed(options, input);
    const conflictingKey = await options.store.insertSeedData({ ...seedData, onProgress });
    if (conflictingKey !== undefined) {
      const message = `/keys/${conflictingKey}/key belongs to another owner.`;
      throw new RequestError('conflict', message);
    }
    if (seedData.sessions.some(({ evals }) => evals.length > 0)) options.wake();
  };
  return {
    async load(ownerId, document, onProgress) {
      await store({ ownerId, document, replaceAll: false }, onProgress);
      const { replicas } = options.store;
      if (replicas) await replicas.putSeed(ownerId, JSON.stringify(document));
      else documentByOwner.set(ownerId, document);
      return countItems(document);
    },
    async resetToSeed(ownerId) {
      const { replicas } = options.store;
      const shared = await replicas?.findSeed(ownerId);
      const document =
        shared === undefined
          ? (documentByOwner.get(ownerId) ?? {})
          : (JSON.parse(shared) as SeedDocument);
      await store({ ownerId, document, replaceAll: true });
    },
  };
}

/** `POST /seed`: loads seed data. */
export function addSeedRoutes(
  app: FastifyInstance,
  options: { owners: RequestOwners; seeder: Seeder; findWarnings: FindSettingsWarnings },
): void {
  const { owners, seeder, findWarnings } = options;
  app.post('/seed', async (request) => {
    const document = parseMessage('SeedDocument', request.body);
    const ownerId = await owners.findOrCreate(request);
    const seeded = await seeder.load(ownerId, document);
    const warnings = await findWarnings(ownerId);
    return { seeded, ...(warnings.length > 0 && { warnings }) };
  });
}

function countItems(document: SeedDocument): SeedCounts {
  const counts = COUNTED_KINDS.map((kind) => [kind, document[kind]?.length ?? 0] as const);
  return Object.fromEntries(counts) as SeedCounts;
}
