import type { Random } from '../../platform/random.ts';

/** How often to draw a fence that does not occur in the text. One draw is practically enough. */
const DRAWS_MAX = 10;

/** Returns a random line that no text between two of them can contain, and so can't end. */
export function drawFence(lines: readonly string[], random: Random): string {
  for (let draws = 0; draws < DRAWS_MAX; draws += 1) {
    const fence = random.id(24);
    if (!lines.some((line) => line.includes(fence))) return fence;
  }
  throw new Error(`No fence in ${DRAWS_MAX} draws: the random source is broken.`);
}
