/** Absolute due times of requests, so that timer errors never add up and a late request counts as late. */
import type { Arrivals } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';

/** A stretch of time with a constant or linearly changing rate. */
export interface Stretch {
  durationMs: number;
  /** Requests per second at its start and at its end. */
  fromPerSecond: number;
  toPerSecond: number;
}

/**
 * Generates the due times of consecutive stretches, in milliseconds from the start of the first. Uniform
 * arrivals have equal intervals, the first at time 0; Poisson arrivals have the same mean rate.
 */
export function* dueTimes(
  stretches: readonly Stretch[],
  arrivals: Arrivals,
  random: Random,
): Generator<number> {
  let startMs = 0;
  for (const stretch of stretches) {
    const total = requestsIn(stretch);
    let reached = arrivals === 'uniform' ? 0 : drawInterval(random);
    // The tolerance keeps a rounding error from adding one more request.
    while (reached < total - 1e-6) {
      yield startMs + timeOf(reached, stretch);
      reached += arrivals === 'uniform' ? 1 : drawInterval(random);
    }
    startMs += stretch.durationMs;
  }
}

/** Returns the average number of requests in a stretch. */
export function requestsIn({ durationMs, fromPerSecond, toPerSecond }: Stretch): number {
  return ((fromPerSecond + toPerSecond) / 2) * (durationMs / 1000);
}

/** Returns when the number of requests reaches `reached`, in milliseconds from the start of the stretch. */
function timeOf(reached: number, { durationMs, fromPerSecond, toPerSecond }: Stretch): number {
  const rise = (toPerSecond - fromPerSecond) / durationMs;
  if (Math.abs(rise) < 1e-12) return (reached / fromPerSecond) * 1000;
  // Inverts the integral of the rate, which is a parabola.
  const root = Math.sqrt(fromPerSecond ** 2 + 2 * rise * reached * 1000);
  return (root - fromPerSecond) / rise;
}

/** Draws an interval of a Poisson process with one arrival per unit. */
function drawInterval(random: Random): number {
  return -Math.log(1 - random.fraction());
}
