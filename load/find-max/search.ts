/** The result of one rate. */
export interface Attempt {
  /** Undefined if the attempt did not complete. */
  holds: boolean | undefined;
  /** Ends the search: the load generator reached its limit, or the caller stopped. */
  last?: boolean;
}

/** The range of a search. */
export interface SearchBounds {
  /** The first rate to try. */
  startPerSecond: number;
  minPerSecond: number;
  maxPerSecond: number;
  /** Rounds what the search tries (default: to three digits). */
  round?: (rate: number) => number;
}

/** The highest sustained rate and the lowest rate that failed; undefined if no rate did. */
export interface Bracket {
  sustains: number | undefined;
  fails: number | undefined;
}

/** The factor between consecutive rates. */
const GROWTH = 1.5;
/** The search ends when the two rates are within 10%. */
const PRECISION = 1.1;
/** A safety limit: 13 steps lead from 10 to 2,000 requests/s, and 5 more reach the precision. */
const STEPS_MAX = 30;

/**
 * Searches for the maximum sustained rate: increases the rate by half until one fails (or decreases it
 * until one is sustained), then bisects until the two rates are within 10%.
 */
export async function searchRate(
  bounds: SearchBounds,
  attempt: (perSecond: number) => Promise<Attempt>,
): Promise<Bracket> {
  let [low, high]: (number | undefined)[] = [undefined, undefined];
  let rate: number | undefined = clamp(bounds.startPerSecond, bounds);
  for (let step = 0; step < STEPS_MAX && rate !== undefined; step++) {
    const { holds, last = false } = await attempt(rate);
    if (holds === true) low = rate;
    if (holds === false) high = rate;
    if (last) break;
    rate = nextRate(low, high, bounds);
  }
  return { sustains: low, fails: high };
}

function nextRate(
  low: number | undefined,
  high: number | undefined,
  bounds: SearchBounds,
): number | undefined {
  if (high === undefined) {
    const up = clamp((low ?? bounds.minPerSecond) * GROWTH, bounds);
    return low !== undefined && up <= low ? undefined : up;
  }
  if (low === undefined) {
    const down = clamp(high / GROWTH / GROWTH, bounds);
    return down >= high ? undefined : down;
  }
  const { round = roundToThreeDigits } = bounds;
  const middle = round(Math.sqrt(low * high));
  const isClose = high / low <= PRECISION || middle <= low || middle >= high;
  return isClose ? undefined : middle;
}

const clamp = (
  rate: number,
  { minPerSecond, maxPerSecond, round = roundToThreeDigits }: SearchBounds,
): number => round(Math.min(maxPerSecond, Math.max(minPerSecond, rate)));

const roundToThreeDigits = (rate: number): number => Number(rate.toPrecision(3));
