// Comparing a word of megabytes would take minutes.
const WORD_LENGTH_MAX = 256;

/**
 * Returns the known word with the smallest edit distance. Returns undefined if more than a third of
 * the letters differ (at least one letter may differ), or if the text is longer than any word.
 */
export function findClosest(word: string, known: readonly string[]): string | undefined {
  if (word.length > WORD_LENGTH_MAX) return undefined;
  const distanceMax = Math.max(1, Math.floor(word.length / 3));
  const [closest] = known
    .map((candidate) => ({
      candidate,
      distance: editDistance(word.toLowerCase(), candidate.toLowerCase()),
    }))
    .filter(({ distance }) => distance <= distanceMax)
    .sort((a, b) => a.distance - b.distance);
  return closest?.candidate;
}

/** Returns "did you mean X?" with the closest known word between `mark`s, or else `fallback`. */
export function suggestion(
  word: string,
  known: readonly string[],
  fallback: string,
  mark = '',
): string {
  const closest = findClosest(word, known);
  return closest === undefined ? fallback : `did you mean ${mark}${closest}${mark}?`;
}

/** Returns the sentence "Did you mean X?" if a known word is close, or else `fallback`. */
export function didYouMean(word: string, known: readonly string[], fallback: string): string {
  const closest = findClosest(word, known);
  return closest === undefined ? fallback : `Did you mean ${closest}?`;
}

/** Counts the letters to insert, delete, replace, or swap with their neighbor. */
function editDistance(from: string, to: string): number {
  let rowBefore: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let line = 0; line < from.length; line++) {
    const next = [line + 1];
    for (let column = 0; column < to.length; column++) {
      const replaced = (row[column] ?? 0) + (from[line] === to[column] ? 0 : 1);
      const isSwap = from[line] === to[column - 1] && from[line - 1] === to[column];
      const swapped = isSwap ? (rowBefore[column - 1] ?? Infinity) + 1 : Infinity;
      next.push(Math.min(replaced, swapped, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    rowBefore = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
