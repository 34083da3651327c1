import type { InFlightTrend, LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { trimmed } from './amounts.ts';
import type { Block } from './bootstrap.ts';
import { judgeShare } from './share.ts';
import { rows, type Row } from './targets.ts';
import { trendOf } from './trend.ts';

/** What the verdict on the rate rests on. */
export interface Throughput {
  /** Requests a second that were meant to be sent. */
  plannedPerSecond: number;
  /** Requests a second that were due in the window, counted. */
  offeredPerSecond: number;
  /** Requests, and those that failed, by stretches of time. */
  failures: readonly Block[];
  /** How many were in flight, in steps of `stepMs`. */
  inFlight: readonly number[];
  stepMs: number;
  /** Users wait for answers: what was offered depends on the sandbox, and nothing can pile up. */
  closed: boolean;
}

/** So much of what is offered must be answered, and no more than the rest may pile up. */
const DONE_SHARE_MIN = 0.99;
/** While growth up to this can't be ruled out, it is not known whether the rate is held. */
const GROWTH_SHARE_UNKNOWN = 0.05;

/** The trend of requests in flight over the last two thirds: the beginning may still fill up. */
export function inFlightTrend(
  inFlight: readonly number[],
  stepMs: number,
  offeredPerSecond: number,
): InFlightTrend {
  const late = inFlight.slice(Math.floor(inFlight.length / 3));
  const { slope, low, high } = trendOf(late);
  const perSecond = 1000 / stepMs;
  const few = Math.max(1, Math.floor(inFlight.length / 20));
  const known = Number.isFinite(low) && Number.isFinite(high);
  const bound = (value: number): number => rounded(known ? value * perSecond : 0);
  return {
    perSecond: rounded(slope * perSecond),
    range95: known ? [bound(low), bound(high)] : [-offeredPerSecond, offeredPerSecond],
    atStart: rounded(mean(inFlight.slice(0, few))),
    atEnd: rounded(mean(inFlight.slice(-few))),
    rising: low > 0 && slope * perSecond > (1 - DONE_SHARE_MIN) * offeredPerSecond,
  };
}

/** Judges whether a rate is held: what is offered is answered, and no requests pile up. */
export function judgeThroughput(
  given: Throughput,
  trend: InFlightTrend,
  chance: Random,
): LoadTarget {
  const { offeredPerSecond, plannedPerSecond, closed } = given;
  const row = rowFor(closed ? 0 : plannedPerSecond);
  const wanted = row.target;
  const share = judgeShare(given.failures, 1 - DONE_SHARE_MIN, chance);
  const growth = trend.rising && !closed ? trend.perSecond : 0;
  const rate = (failed: number): number =>
    rounded(Math.max(0, offeredPerSecond * (1 - failed) - growth));
  const known = share.samples > 0;
  const { verdict, because } = verdictOf(given, trend, share, wanted);
  const done = known ? rate(share.hits / share.samples) : null;
  const said = known
    ? `${trimmed(done ?? 0, 2)} of ${trimmed(offeredPerSecond, 2)} requests/s offered were answered. ${inFlightSentence(trend, closed)}`
    : 'No request came to an end.';
  return {
    ...row,
    measured: done,
    bound95: known ? rate(share.high) : null,
    range95: known ? [rate(share.high), rate(share.low)] : [null, null],
    samples: share.samples,
    verdict,
    reason: because === undefined ? said : `${said} Not proven: ${because}.`,
  };
}

/** What is offered must be taken: at a rate above the target, the row is about that rate. */
function rowFor(plannedPerSecond: number): Row {
  const row = rows.chatThroughput;
  if (plannedPerSecond <= row.target) return row;
  const rate = trimmed(plannedPerSecond, 2);
  const statement = `Chat takes ${rate} requests a second (${row.target} are asked for).`;
  return { ...row, target: plannedPerSecond, statement };
}

type Word = Pick<LoadTarget, 'verdict'> & { because?: string };

function verdictOf(
  { offeredPerSecond, plannedPerSecond, closed }: Throughput,
  trend: InFlightTrend,
  share: ReturnType<typeof judgeShare>,
  wanted: number,
): Word {
  if (share.verdict === 'FAIL' || (trend.rising && !closed)) return { verdict: 'FAIL' };
  const notProven = (because: string): Word => ({ verdict: 'NOT PROVEN', because });
  if (!closed && plannedPerSecond < wanted) {
    return notProven(`only ${trimmed(plannedPerSecond, 2)} requests/s were offered`);
  }
  if (closed && offeredPerSecond < wanted * DONE_SHARE_MIN) {
    const offered = trimmed(offeredPerSecond, 1);
    return notProven(`users who wait for answers asked only ${offered} times a second`);
  }
  if (share.because !== undefined) return notProven(share.because);
  if (!closed && trend.range95[1] > GROWTH_SHARE_UNKNOWN * offeredPerSecond) {
    return notProven('the window is too short to tell whether requests pile up');
  }
  return { verdict: 'PASS' };
}

function inFlightSentence(
  { rising, perSecond, atStart, atEnd }: InFlightTrend,
  closed: boolean,
): string {
  const span = `${Math.round(atStart)} at first, ${Math.round(atEnd)} at the end`;
  return rising && !closed
    ? `Requests pile up: in flight rose by ${trimmed(perSecond, 1)} a second, ${span}.`
    : `In flight: ${span}.`;
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

const rounded = (value: number): number => Math.round(value * 1000) / 1000;
