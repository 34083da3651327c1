/**
 * What to say of a word that is not among the known ones: the one it was meant to be where one is
 * near, else where all of them are listed. The near one stands in `mark`.
 */
export function suggestion(
  word: string,
  known: readonly string[],
  otherwise: string,
  mark = '',
): string {
  const near = nearest(word, known);
  return near === undefined ? otherwise : `did you mean ${mark}${near}${mark}?`;
}

/**
 * The known word that differs in the fewest letters. Undefined where more than a third differ, or
 * more than one of a short word: of two words of four letters half the letters are soon alike.
 */
function nearest(word: string, known: readonly string[]): string | undefined {
  const allowed = Math.max(1, Math.floor(word.length / 3));
  const [best] = known
    .map((one) => ({ one, distance: distance(word.toLowerCase(), one.toLowerCase()) }))
    .filter((candidate) => candidate.distance <= allowed)
    .sort((one, other) => one.distance - other.distance);
  return best?.one;
}

/** Letters to put in, to leave out, to change, or to swap with their neighbour. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let line = 0; line < from.length; line++) {
    const next = [line + 1];
    for (let column = 0; column < to.length; column++) {
      const changed = (row[column] ?? 0) + (from[line] === to[column] ? 0 : 1);
      const isSwap = from[line] === to[column - 1] && from[line - 1] === to[column];
      const swapped = isSwap ? (before[column - 1] ?? Infinity) + 1 : Infinity;
      next.push(Math.min(changed, swapped, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
