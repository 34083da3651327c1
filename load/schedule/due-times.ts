/**
 * When requests are due, from absolute times: no timer adds up its own errors, and what comes late
 * stays late against the plan. Pure but for the chance that is handed in.
 */
import type { Arrivals } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';

/** A stretch of time with a rate that rises or stays. */
export interface Stretch {
  durationMs: number;
  /** Requests a second at its beginning and at its end. */
  fromPerSecond: number;
  toPerSecond: number;
}

/**
 * The due times of some stretches, one after the other, in milliseconds from the beginning of the
 * first. Uniform arrivals keep equal gaps (the first at the very beginning); Poisson arrivals have
 * the same mean and come as they like.
 */
export function* dueTimes(
  stretches: readonly Stretch[],
  arrivals: Arrivals,
  chance: Random,
): Generator<number> {
  let startMs = 0;
  for (const stretch of stretches) {
    const total = countOf(stretch);
    let reached = arrivals === 'uniform' ? 0 : gap(chance);
    // A rounding error must not make one more of the last.
    while (reached < total - 1e-6) {
      yield startMs + momentOf(reached, stretch);
      reached += arrivals === 'uniform' ? 1 : gap(chance);
    }
    startMs += stretch.durationMs;
  }
}

/** How many requests a stretch has on average. */
export function countOf({ durationMs, fromPerSecond, toPerSecond }: Stretch): number {
  return ((fromPerSecond + toPerSecond) / 2) * (durationMs / 1000);
}

/** When the count of requests reaches `reached`, in milliseconds from the stretch's beginning. */
function momentOf(reached: number, { durationMs, fromPerSecond, toPerSecond }: Stretch): number {
  const rise = (toPerSecond - fromPerSecond) / durationMs;
  if (Math.abs(rise) < 1e-12) return (reached / fromPerSecond) * 1000;
  // The integral of the rate is a parabola; this is its inverse.
  const root = Math.sqrt(fromPerSecond ** 2 + 2 * rise * reached * 1000);
  return (root - fromPerSecond) / rise;
}

/** The gap of a Poisson process with one arrival a unit. */
function gap(chance: Random): number {
  return -Math.log(1 - chance.fraction());
}
