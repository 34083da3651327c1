import { seededRandom } from '../../platform/random.ts';

/**
 * Makes an id from what it is the id of. The same seed and the same parts give the same id, in
 * whatever order requests arrive.
 */
export type MakeId = (prefix: string, parts: readonly string[]) => string;

// 20 of 36 characters: no two of them meet by accident.
const idLength = 20;

/** Ids that follow from the seed of chance. */
export function createIdMaker(seed: string): MakeId {
  const chance = seededRandom(seed).fork('ids');
  return (prefix, parts) =>
    `${prefix}_${chance.fork(JSON.stringify([prefix, ...parts])).id(idLength)}`;
}

/**
 * Ids of what is handed in as a document, be it a seed or a transcript. They follow from the owner
 * and from what names the thing, so that the same document means the same things after a restart.
 */
export const makeDocumentId: MakeId = createIdMaker('document');
