/**
 * Returns the smallest number of words to replace, remove, and add that turns one list of words into
 * another (Levenshtein distance).
 */
export function countWordErrors(expected: readonly string[], heard: readonly string[]): number {
  let previous = Array.from({ length: heard.length + 1 }, (_, nth) => nth);
  for (const [row, word] of expected.entries()) {
    const current = [row + 1];
    for (const [column, other] of heard.entries()) {
      const replaced = (previous[column] ?? 0) + (word === other ? 0 : 1);
      const removed = (previous[column + 1] ?? 0) + 1;
      const added = (current[column] ?? 0) + 1;
      current.push(Math.min(replaced, removed, added));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
