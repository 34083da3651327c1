import type { InFlightTrend, LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { formatCount, formatNumber } from '../../src/report-kit/format.ts';
import type { Block } from '../record/blocks.ts';
import { FAILED_SHARE_MAX, judgeShare, SUCCESS_SHARE_MIN, type JudgedShare } from './share.ts';
import { targetRows, withReservation, type TargetRow } from './targets.ts';
import { mean } from '../../src/platform/mean.ts';
import { estimateTrend } from './trend.ts';
import { roundTo } from '../../src/platform/round.ts';

/** What the throughput verdict is based on. */
export interface Throughput {
  /** Planned requests per second. */
  plannedPerSecond: number;
  /** Requests per second that were due in the window. */
  offeredPerSecond: number;
  /** Requests, and those that failed, by stretches of time. */
  failures: readonly Block[];
  /** Simulated users or connections wait for responses: the rate depends on the sandbox, and no backlog can grow. */
  waitsForResponses: boolean;
  /** The connections of a closed loop without simulated users. */
  connections?: number | undefined;
}

/** If growth of more than this share of the rate is possible, the verdict is NOT PROVEN. */
const GROWTH_SHARE_MAX = 0.05;

/** Measures the trend of requests in flight over the last two thirds, after the initial rise. */
export function measureInFlightTrend(
  inFlight: readonly number[],
  stepMs: number,
  offeredPerSecond: number,
): InFlightTrend {
  const late = inFlight.slice(Math.floor(inFlight.length / 3));
  const { slope, low, high } = estimateTrend(late);
  const perSecond = 1000 / stepMs;
  const edge = Math.max(1, Math.floor(inFlight.length / 20));
  const isBounded = Number.isFinite(low) && Number.isFinite(high);
  const bound = (value: number): number => roundTo(isBounded ? value * perSecond : 0, 3);
  return {
    perSecond: roundTo(slope * perSecond, 3),
    range95: isBounded ? [bound(low), bound(high)] : [-offeredPerSecond, offeredPerSecond],
    atStart: roundTo(mean(inFlight.slice(0, edge)), 3),
    atEnd: roundTo(mean(inFlight.slice(-edge)), 3),
    rising: low > 0 && slope * perSecond > FAILED_SHARE_MAX * offeredPerSecond,
  };
}

/** Judges whether a rate is sustained: requests succeed, and no backlog grows. */
export function judgeThroughput(
  throughput: Throughput,
  trend: InFlightTrend,
  random: Random,
): LoadTarget {
  const { offeredPerSecond, plannedPerSecond, waitsForResponses } = throughput;
  const row = rowFor(waitsForResponses ? 0 : plannedPerSecond);
  const share = judgeShare(throughput.failures, FAILED_SHARE_MAX, random);
  const growth = trend.rising && !waitsForResponses ? trend.perSecond : 0;
  const rate = (failed: number): number =>
    roundTo(Math.max(0, offeredPerSecond * (1 - failed) - growth), 3);
  const hasSamples = share.samples > 0;
  const { verdict, reservation, samplesNeeded } = verdictOf(throughput, trend, share, row.target);
  const succeeded = hasSamples ? rate(share.hits / share.samples) : null;
  const summary = hasSamples
    ? describeRates(throughput, trend, succeeded ?? 0)
    : 'No request completed.';
  return {
    ...row,
    measured: succeeded,
    bound95: hasSamples ? rate(share.high) : null,
    range95: hasSamples ? [rate(share.high), rate(share.low)] : [null, null],
    samples: share.samples,
    ...(samplesNeeded !== undefined && { samplesNeeded }),
    verdict,
    reason: withReservation(summary, reservation),
  };
}

/** Returns the target to judge: the planned rate if it is above the required one. */
function rowFor(plannedPerSecond: number): TargetRow {
  const row = targetRows.chatThroughput;
  if (plannedPerSecond <= row.target) return row;
  const rate = formatNumber(plannedPerSecond, 2);
  const statement = `Chat sustains ${rate} requests/s (${row.target} required).`;
  return { ...row, target: plannedPerSecond, statement };
}

type Decision = Pick<JudgedShare, 'verdict' | 'reservation' | 'samplesNeeded'>;

function verdictOf(
  { offeredPerSecond, plannedPerSecond, waitsForResponses, connections }: Throughput,
  trend: InFlightTrend,
  share: JudgedShare,
  requiredPerSecond: number,
): Decision {
  if (share.verdict === 'FAIL' || (trend.rising && !waitsForResponses)) return { verdict: 'FAIL' };
  const notProven = (reservation: string): Decision => ({ verdict: 'NOT PROVEN', reservation });
  if (!waitsForResponses && plannedPerSecond < requiredPerSecond) {
    return notProven(`The offered rate was only ${formatNumber(plannedPerSecond, 2)} requests/s.`);
  }
  if (waitsForResponses && offeredPerSecond < requiredPerSecond * SUCCESS_SHARE_MIN) {
    const offered = formatNumber(offeredPerSecond, 1);
    return notProven(
      connections === undefined
        ? `Simulated users wait for responses and sent only ${offered} requests/s.`
        : 'More connections may reach a higher rate.',
    );
  }
  if (share.verdict === 'NOT PROVEN') return share;
  if (!waitsForResponses && trend.range95[1] > GROWTH_SHARE_MAX * offeredPerSecond) {
    return notProven('The steady state is too short to rule out a growing backlog; run longer.');
  }
  return { verdict: 'PASS' };
}

function describeRates(
  { offeredPerSecond, waitsForResponses, connections }: Throughput,
  trend: InFlightTrend,
  succeededPerSecond: number,
): string {
  const [sent, succeeded] = [offeredPerSecond, succeededPerSecond].map(
    (rate) => `${formatNumber(rate, 2)} requests/s`,
  );
  return connections === undefined
    ? `Offered rate: ${sent}; ${succeeded} succeeded. ${inFlightSentence(trend, waitsForResponses)}`
    : `A closed loop with ${formatCount(connections, 'connection')} sent ${sent}; ${succeeded} succeeded.`;
}

function inFlightSentence(
  { rising, perSecond, atStart, atEnd }: InFlightTrend,
  waitsForResponses: boolean,
): string {
  const span = `${formatNumber(atStart)} at the start, ${formatNumber(atEnd)} at the end`;
  return rising && !waitsForResponses
    ? `A backlog grows: requests in flight rose by ${formatNumber(perSecond, 1)} per second (${span}).`
    : `Requests in flight: ${span}.`;
}
