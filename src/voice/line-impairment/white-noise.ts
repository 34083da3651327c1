import type { Random } from '../../platform/random.ts';

/** Returns the next sample; the mean square of the samples is known to who uses it. */
export type SampleSource = () => number;

/** An even distribution over this range on both sides of zero has a mean square of 1. */
const RANGE = Math.sqrt(3);

const UINT32_RANGE = 2 ** 32;

/**
 * Creates white noise with a mean square of 1. It draws only its start from `random`, because
 * thousands of samples are needed for each frame (the generator is mulberry32).
 */
export function createWhiteNoise(random: Random): SampleSource {
  let state = random.integer(0, UINT32_RANGE - 1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) / UINT32_RANGE) * 2 * RANGE - RANGE;
  };
}
