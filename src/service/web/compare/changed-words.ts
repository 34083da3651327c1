import type { TextRange } from '../../../report-kit/transcript.ts';

/**
 * Returns the parts of a text whose words are not in the longest common sequence of words with another
 * text, with the spaces between them. Takes time in proportion to the product of the numbers of words, so
 * limit the texts.
 */
export function findChangedWords(text: string, other: string): TextRange[] {
  if (text === other) return [];
  const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
    word,
    start: index,
    end: index + word.length,
  }));
  const others = other.match(/\S+/g) ?? [];
  // lengths[i][j]: the longest common sequence of the words from i on and the other words from j on.
  const lengths = [...words, undefined].map(() => new Array<number>(others.length + 1).fill(0));
  const lengthAt = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = words.length - 1; i >= 0; i -= 1) {
    for (let j = others.length - 1; j >= 0; j -= 1) {
      const row = lengths[i];
      if (!row) continue;
      row[j] =
        words[i]?.word === others[j]
          ? lengthAt(i + 1, j + 1) + 1
          : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const ranges: TextRange[] = [];
  let [j, isAfterChange] = [0, false];
  for (const [i, { word, start, end }] of words.entries()) {
    while (j < others.length && word !== others[j] && lengthAt(i, j + 1) === lengthAt(i, j)) j += 1;
    const isCommon = word === others[j] && lengthAt(i, j) === lengthAt(i + 1, j + 1) + 1;
    const last = ranges.at(-1);
    if (isCommon) j += 1;
    else if (last && isAfterChange) last.end = end;
    else ranges.push({ start, end });
    isAfterChange = !isCommon;
  }
  return ranges;
}
