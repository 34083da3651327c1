/** The result of one value. */
export interface Attempt {
  /** Undefined if the attempt did not complete. */
  holds: boolean | undefined;
  /** Ends the search: the load generator reached its limit, or the caller stopped. */
  last?: boolean;
}

/** The range of a search. */
export interface SearchBounds {
  /** The first value to try. */
  start: number;
  min: number;
  max: number;
  /** Rounds what the search tries (default: to three digits). */
  round?: (value: number) => number;
}

/** The highest sustained value and the lowest one that failed; undefined if none did. */
export interface Bracket {
  sustains: number | undefined;
  fails: number | undefined;
}

/** The factor between consecutive values. */
const GROWTH = 1.5;
/** The search ends when the two values are within 10%. */
const PRECISION = 1.1;
/**
 * A safety limit: 14 increases lead from 10 to 2,000 requests/s, and at most 4 bisections reach the
 * precision.
 */
const STEPS_MAX = 30;

/**
 * Searches for the maximum sustained value: increases it by half until one fails (or decreases it until
 * one is sustained), then bisects until the two values are within 10%.
 */
export async function searchBracket(
  bounds: SearchBounds,
  attempt: (value: number) => Promise<Attempt>,
): Promise<Bracket> {
  let [low, high]: (number | undefined)[] = [undefined, undefined];
  let value: number | undefined = clamp(bounds.start, bounds);
  for (let step = 0; step < STEPS_MAX && value !== undefined; step++) {
    const { holds, last = false } = await attempt(value);
    if (holds === true) low = value;
    if (holds === false) high = value;
    if (last) break;
    value = nextValue(low, high, bounds);
  }
  return { sustains: low, fails: high };
}

function nextValue(
  low: number | undefined,
  high: number | undefined,
  bounds: SearchBounds,
): number | undefined {
  if (high === undefined) {
    const up = clamp((low ?? bounds.min) * GROWTH, bounds);
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

const clamp = (value: number, { min, max, round = roundToThreeDigits }: SearchBounds): number =>
  round(Math.min(max, Math.max(min, value)));

/** Rounds to what a report shows of a rate. */
export const roundToThreeDigits = (value: number): number => Number(value.toPrecision(3));
