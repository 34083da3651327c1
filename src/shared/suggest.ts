/**
 * What to say of a word that is not among the known ones: the one it was meant to be where one is
 * near, else where all of them are listed.
 */
export function suggestion(word: string, known: readonly string[], otherwise: string): string {
  const near = nearest(word, known);
  return near === undefined ? otherwise : `did you mean ${near}?`;
}

/**
 * The known word that differs in the fewest letters. Undefined where more than a third differ; two
 * may, since two letters are often swapped.
 */
function nearest(word: string, known: readonly string[]): string | undefined {
  const allowed = Math.max(word.length < 4 ? 1 : 2, Math.floor(word.length / 3));
  const [best] = known
    .map((one) => ({ one, distance: distance(word.toLowerCase(), one.toLowerCase()) }))
    .filter((candidate) => candidate.distance <= allowed)
    .sort((one, other) => one.distance - other.distance);
  return best?.one;
}

/** Levenshtein's: letters to put in, to leave out or to change. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let line = 0; line < from.length; line++) {
    const next = [line + 1];
    for (let column = 0; column < to.length; column++) {
      const changed = (row[column] ?? 0) + (from[line] === to[column] ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
