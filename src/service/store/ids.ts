import { seededRandom } from '../../platform/random.ts';

/**
 * Makes an id from the parts that identify a thing. The same seed and parts always give the same id,
 * regardless of the order in which requests arrive.
 */
export type MakeId = (prefix: string, parts: readonly string[]) => string;

// With 20 characters from an alphabet of 36, collisions are practically impossible.
const ID_LENGTH = 20;

/** Creates a function that derives ids from a random seed. */
export function createIdMaker(seed: string): MakeId {
  const random = seededRandom(seed).fork('ids');
  return (prefix, parts) =>
    `${prefix}_${random.fork(JSON.stringify([prefix, ...parts])).id(ID_LENGTH)}`;
}

/**
 * Makes the id of something imported from a document, such as seed data or a transcript. It depends
 * only on the owner and the name in the document, so importing the document again after a restart
 * gives the same ids.
 */
export const makeDocumentId: MakeId = createIdMaker('document');
