import { isHeard, listEntities, type Entity } from './entities.ts';
import { joinNumbers, listSpokenWords } from './spoken-words.ts';
import { countWordErrors } from './word-errors.ts';

/** How what was heard differs from a text. */
export interface HeardComparison {
  /** Words of the text, and how many of them were heard differently, missed, or added. */
  words: number;
  errors: number;
  /** What the text contains, but was not heard. */
  missed: Entity[];
}

/** Compares what was heard with what was told. How either is written does not matter. */
export function compareHeard(told: string, heard: string): HeardComparison {
  const [toldWords, heardWords] = [listSpokenWords(told), listSpokenWords(heard)];
  const [expected, actual] = [joinNumbers(toldWords), joinNumbers(heardWords)];
  return {
    words: expected.length,
    errors: countWordErrors(expected, actual),
    missed: listEntities(told).filter((entity) => !isHeard(entity, heardWords)),
  };
}
