import type { Random } from '../../src/platform/random.ts';
import { CONFIDENCE } from './binomial.ts';

/** Samples and hits of a stretch of time. */
export interface Block {
  samples: number;
  hits: number;
}

const RESAMPLES = 500;
const BLOCKS_MAX = 120;
/** Fewer blocks than this say nothing about how hits cluster. */
const BLOCKS_MIN = 4;

/**
 * The upper 95 % bound of the share of hits where hits come in bursts: whole blocks of time are
 * drawn again, so that a burst counts as one thing that may come more often. 0 where there are too
 * few blocks to tell.
 */
export function burstyShareAtMost(blocks: readonly Block[], chance: Random): number {
  const drawn = merged(blocks.filter(({ samples }) => samples > 0));
  if (drawn.length < BLOCKS_MIN || drawn.every(({ hits }) => hits === 0)) return 0;
  const shares = Array.from({ length: RESAMPLES }, () => {
    let [samples, hits] = [0, 0];
    for (let n = 0; n < drawn.length; n++) {
      const block = drawn[chance.integer(0, drawn.length - 1)];
      samples += block?.samples ?? 0;
      hits += block?.hits ?? 0;
    }
    return hits / samples;
  }).sort((one, other) => one - other);
  return shares[Math.ceil(CONFIDENCE * RESAMPLES) - 1] ?? 0;
}

/** Neighbours put together until there are few enough. */
function merged(blocks: readonly Block[]): Block[] {
  const size = Math.ceil(blocks.length / BLOCKS_MAX);
  const groups: Block[] = [];
  for (let start = 0; start < blocks.length; start += size) {
    const group = blocks.slice(start, start + size);
    groups.push({
      samples: sum(group.map(({ samples }) => samples)),
      hits: sum(group.map(({ hits }) => hits)),
    });
  }
  return groups;
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
