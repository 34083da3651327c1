import type { LoadVerdict } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { samplesNeeded, shareAtLeast, shareAtMost } from './binomial.ts';
import { burstyShareAtMost, type Block } from './bootstrap.ts';

/** What is known of a share that must stay below a bound. */
export interface JudgedShare {
  verdict: Extract<LoadVerdict, 'PASS' | 'FAIL' | 'NOT PROVEN'>;
  samples: number;
  hits: number;
  /** One-sided 95 % bounds, 0 to 1. */
  low: number;
  high: number;
  /** Why it is not proven. */
  because?: string;
}

/**
 * Judges a share of bad samples that must be below `allowed`. PASS only where the exact bound and
 * that for bursts are below it; FAIL where the exact bound is above it: what was seen, happened.
 */
export function judgeShare(blocks: readonly Block[], allowed: number, chance: Random): JudgedShare {
  const samples = total(blocks, 'samples');
  const hits = total(blocks, 'hits');
  const low = shareAtLeast(hits, samples);
  const exact = shareAtMost(hits, samples);
  const high = Math.max(exact, burstyShareAtMost(blocks, chance));
  const known = { samples, hits, low, high };
  if (low > allowed) return { verdict: 'FAIL', ...known };
  if (high < allowed) return { verdict: 'PASS', ...known };
  const needed = samplesNeeded(allowed);
  const because =
    samples < needed
      ? `${samples} samples are too few: ${needed} without a miss would show it`
      : exact < allowed
        ? 'the misses came in bursts, of which there may be more'
        : `${hits} of ${samples} is too near to the bound to tell`;
  return { verdict: 'NOT PROVEN', ...known, because };
}

function total(blocks: readonly Block[], key: keyof Block): number {
  return blocks.reduce((sum, block) => sum + block[key], 0);
}
