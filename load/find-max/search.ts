/** What came of one rate. */
export interface Tried {
  /** Undefined where it was not tried to its end, which says nothing. */
  holds: boolean | undefined;
  /** No rate above it is to be tried, whatever came of it: the generator, or the caller, says so. */
  last?: boolean;
}

/** Where a search looks. */
export interface SearchBounds {
  /** The rate to begin with. */
  startPerSecond: number;
  minPerSecond: number;
  maxPerSecond: number;
}

/** The highest rate that held and the lowest that did not; undefined where there is none. */
export interface Bracket {
  sustains: number | undefined;
  fails: number | undefined;
}

/** Each rate is so many times the one before. */
const GROWTH = 1.5;
/** Near enough: within 10 %. */
const NEAR = 1.1;
/** Whatever the answers: it takes 13 steps from 10 to 2000, and 5 to halve a gap down to 10 %. */
const STEPS_MAX = 30;

/**
 * Searches for the rate that is held: up by half again until one fails (or down until one holds),
 * then between the two until they are within 10 %.
 */
export async function searchRate(
  bounds: SearchBounds,
  attempt: (perSecond: number) => Promise<Tried>,
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
  return high / low <= NEAR ? undefined : rounded(Math.sqrt(low * high));
}

const clamp = (rate: number, { minPerSecond, maxPerSecond }: SearchBounds): number =>
  rounded(Math.min(maxPerSecond, Math.max(minPerSecond, rate)));

/** Three digits: people read it. */
const rounded = (rate: number): number => Number(rate.toPrecision(3));
