import { isHeard, listEntities, type Entity } from './entities.ts';
import { joinNumbers, listSpokenWords } from './spoken-words.ts';
import { countWordErrors } from './word-errors.ts';

/** How transcribed speech differs from a text. */
export interface HeardComparison {
  /** Words of the text, and how many of them were heard differently, missed, or added. */
  words: number;
  errors: number;
  /** What the text contains, but was not heard. */
  missed: Entity[];
}

/** Compares the words that were heard with the agent's own text. Spelling and number format don't count. */
export function compareHeard(text: string, heard: string): HeardComparison {
  const [textWords, heardWords] = [listSpokenWords(text), listSpokenWords(heard)];
  const [expected, actual] = [joinNumbers(textWords), joinNumbers(heardWords)];
  return {
    words: expected.length,
    errors: countWordErrors(expected, actual),
    missed: listEntities(text).filter((entity) => !isHeard(entity, heardWords)),
  };
}
