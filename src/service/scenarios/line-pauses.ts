/** Where a speaker can hesitate within a line. */

/** A place between two words, with the index of the second one. */
interface Place {
  at: number;
  /** Whether a sentence ends before it. */
  endsSentence: boolean;
}

/**
 * Splits a line into `count` + 1 parts of similar length, with the pauses between them: not at the end of
 * a sentence, unless there is no other place. Returns fewer parts if the line has too few words.
 */
export function splitAtPauses(line: string, count: number): string[] {
  const places = findPlaces(line);
  const within = places.filter(({ endsSentence }) => !endsSentence);
  const candidates = (within.length > 0 ? within : places).map(({ at }) => at);
  const cuts = new Set<number>();
  for (let nth = 1; nth <= count; nth += 1) {
    const target = (line.length * nth) / (count + 1);
    const left = candidates.filter((at) => !cuts.has(at));
    const [nearest] = left.toSorted((a, b) => Math.abs(a - target) - Math.abs(b - target));
    if (nearest !== undefined) cuts.add(nearest);
  }
  const bounds = [0, ...[...cuts].toSorted((a, b) => a - b), line.length];
  return bounds.slice(1).map((end, nth) => line.slice(bounds[nth], end).trim());
}

/** Returns whether a line has a place for a pause. */
export const canPause = (line: string): boolean => findPlaces(line).length > 0;

/** Returns how many words a line has. */
export const countWords = (line: string): number => line.match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;

/** Returns the places between two parts of a line that both have a letter or a digit. */
function findPlaces(line: string): Place[] {
  return [...line.matchAll(/\s+|[、，；。！？]/gu)].flatMap((match) => {
    const at = match.index + match[0].length;
    const before = line.slice(0, at);
    const hasWords = [before, line.slice(at)].every((part) => /[\p{L}\p{N}]/u.test(part));
    return hasWords ? [{ at, endsSentence: /[.!?。！？]["')\]]*\s*$/u.test(before) }] : [];
  });
}
