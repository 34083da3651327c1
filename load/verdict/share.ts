import type { LoadVerdict } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { roundTo } from '../../src/platform/round.ts';
import { formatCount, formatNumber } from '../../src/report-kit/format.ts';
import { sumBlocks, type Block } from '../record/blocks.ts';
import { CONFIDENCE, countSamplesNeeded, findLowerBound, findUpperBound } from './binomial.ts';

/** The maximum share of requests that fail at a rate that is sustained; a backlog may grow by it. */
export const FAILED_SHARE_MAX = 0.01;
/** The minimum share of offered requests that succeed. */
export const SUCCESS_SHARE_MIN = 1 - FAILED_SHARE_MAX;

/** Converts a share, 0 to 1, to percent with four decimals. */
export const toPercent = (share: number): number => roundTo(share * 100, 4);

/** The verdict on a share that must stay below a limit, with its bounds. */
export interface JudgedShare {
  verdict: Extract<LoadVerdict, 'PASS' | 'FAIL' | 'NOT PROVEN'>;
  samples: number;
  hits: number;
  /** One-sided 95% bounds, 0 to 1. */
  low: number;
  high: number;
  /** A sentence that explains a NOT PROVEN verdict. */
  reservation?: string;
  /** The number of samples without a miss that gives PASS; present if there are fewer. */
  samplesNeeded?: number;
}

/**
 * Judges a share of bad samples that must be below `allowed`. PASS requires both the exact bound and
 * the bound for bursts to be below it. FAIL requires only the exact lower bound to be above it.
 */
export function judgeShare(blocks: readonly Block[], allowed: number, random: Random): JudgedShare {
  const samples = sumBlocks(blocks, 'samples');
  const hits = sumBlocks(blocks, 'hits');
  const low = findLowerBound(hits, samples);
  const exact = findUpperBound(hits, samples);
  const high = Math.max(exact, findUpperBoundWithBursts(blocks, random));
  const figures = { samples, hits, low, high };
  if (low > allowed) return { verdict: 'FAIL', ...figures };
  if (high < allowed) return { verdict: 'PASS', ...figures };
  const samplesNeeded = countSamplesNeeded(allowed);
  if (samples < samplesNeeded) {
    const are = samples === 1 ? 'is' : 'are';
    const reservation = `${formatCount(samples, 'sample')} ${are} too few to prove it; at least ${formatNumber(samplesNeeded)} without a miss are needed.`;
    return { verdict: 'NOT PROVEN', ...figures, reservation, samplesNeeded };
  }
  const reservation =
    exact < allowed
      ? 'The misses came in bursts, so another burst could exceed the limit.'
      : `${formatNumber(hits)} of ${formatNumber(samples)} is too close to the limit.`;
  return { verdict: 'NOT PROVEN', ...figures, reservation };
}

const RESAMPLES = 500;
const BLOCKS_MAX = 120;
/** Fewer blocks do not show how hits cluster. */
const BLOCKS_MIN = 4;

/**
 * Returns the upper 95% bound of a share of hits that come in bursts, by a block bootstrap: whole
 * blocks of time are resampled, so that a burst counts as one event. Returns 0 when there are too few
 * blocks.
 */
export function findUpperBoundWithBursts(blocks: readonly Block[], random: Random): number {
  const drawn = mergeNeighbors(blocks.filter(({ samples }) => samples > 0));
  if (drawn.length < BLOCKS_MIN || drawn.every(({ hits }) => hits === 0)) return 0;
  const shares = Array.from({ length: RESAMPLES }, () => {
    let [samples, hits] = [0, 0];
    for (let draw = 0; draw < drawn.length; draw++) {
      const block = drawn[random.integer(0, drawn.length - 1)];
      samples += block?.samples ?? 0;
      hits += block?.hits ?? 0;
    }
    return hits / samples;
  }).sort((left, right) => left - right);
  return shares[Math.ceil(CONFIDENCE * RESAMPLES) - 1] ?? 0;
}

/** Merges neighboring blocks until there are few enough. */
function mergeNeighbors(blocks: readonly Block[]): Block[] {
  const size = Math.ceil(blocks.length / BLOCKS_MAX);
  const groups: Block[] = [];
  for (let start = 0; start < blocks.length; start += size) {
    const group = blocks.slice(start, start + size);
    groups.push({ samples: sumBlocks(group, 'samples'), hits: sumBlocks(group, 'hits') });
  }
  return groups;
}
