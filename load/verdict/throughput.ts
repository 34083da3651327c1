import type { InFlightTrend, LoadPlan, LoadTarget } from '../../src/contract/index.ts';
import { mean } from '../../src/platform/mean.ts';
import type { Random } from '../../src/platform/random.ts';
import { roundTo } from '../../src/platform/round.ts';
import { formatCount, formatNumber } from '../../src/report-kit/format.ts';
import { waitsForResponses } from '../closed-loop.ts';
import { perSecond } from '../record/stream-log.ts';
import { IN_FLIGHT_STEP_MS } from '../record/timeline.ts';
import type { RequestMeasurements } from './measurements.ts';
import { FAILED_SHARE_MAX, judgeShare, SUCCESS_SHARE_MIN, type JudgedShare } from './share.ts';
import { estimate, reportTarget, type Decision, type TargetRow } from './target.ts';
import { estimateTrend } from './trend.ts';

/** What the verdict on the throughput is based on, in addition to the share of failed requests. */
interface Throughput {
  plan: LoadPlan;
  /** Requests per second that were due in the steady state. */
  offeredPerSecond: number;
  trend: InFlightTrend;
  /** By how many requests per second a backlog grows; 0 if none does. */
  growthPerSecond: number;
}

/** If growth of more than this share of the rate is possible, the verdict is NOT PROVEN. */
const GROWTH_SHARE_MAX = 0.05;

/** Measures the trend of requests in flight over the last two thirds, after the initial rise. */
export function measureInFlightTrend(
  inFlight: readonly number[],
  offeredPerSecond: number,
): InFlightTrend {
  const late = inFlight.slice(Math.floor(inFlight.length / 3));
  const { slope, low, high } = estimateTrend(late);
  const stepsPerSecond = 1000 / IN_FLIGHT_STEP_MS;
  const edge = Math.max(1, Math.floor(inFlight.length / 20));
  const isBounded = Number.isFinite(low) && Number.isFinite(high);
  const bound = (value: number): number => roundTo(isBounded ? value * stepsPerSecond : 0, 3);
  return {
    perSecond: roundTo(slope * stepsPerSecond, 3),
    range95: isBounded ? [bound(low), bound(high)] : [-offeredPerSecond, offeredPerSecond],
    atStart: roundTo(mean(inFlight.slice(0, edge)), 3),
    atEnd: roundTo(mean(inFlight.slice(-edge)), 3),
    rising: low > 0 && slope * stepsPerSecond > FAILED_SHARE_MAX * offeredPerSecond,
  };
}

/** Judges whether a rate is sustained: requests succeed, and no backlog grows. */
export function judgeThroughput(
  required: TargetRow,
  { plan, ranMs, streams, trend }: RequestMeasurements,
  random: Random,
): LoadTarget | undefined {
  const chat = streams.get('chat');
  if (!chat || !trend) return undefined;
  const row = waitsForResponses(plan) ? required : raiseToPlan(required, plan);
  const offeredPerSecond = perSecond(chat.offered, ranMs);
  const growthPerSecond = trend.rising && !waitsForResponses(plan) ? trend.perSecond : 0;
  const throughput = { plan, offeredPerSecond, trend, growthPerSecond };
  const share = judgeShare(chat.failures, FAILED_SHARE_MAX, random);
  const { samples, hits, low, high } = share;
  const decision = { ...decide(throughput, share, row.target), samples };
  if (samples === 0) {
    return reportTarget(row, estimate(row, null, [null, null]), decision, 'No request completed.');
  }
  const rate = (failedShare: number): number =>
    roundTo(Math.max(0, offeredPerSecond * (1 - failedShare) - growthPerSecond), 3);
  const succeeded = rate(hits / samples);
  return reportTarget(
    row,
    estimate(row, succeeded, [rate(high), rate(low)]),
    decision,
    describeRates(throughput, succeeded),
  );
}

/** Returns the target to judge: the planned rate if it is above the required one. */
function raiseToPlan(row: TargetRow, { ratePerSecond }: LoadPlan): TargetRow {
  if (ratePerSecond <= row.target) return row;
  const rate = formatNumber(ratePerSecond, 2);
  const statement = `Chat sustains ${rate} requests/s (${row.target} required).`;
  return { ...row, target: ratePerSecond, statement };
}

function decide(
  { plan, offeredPerSecond, trend, growthPerSecond }: Throughput,
  share: JudgedShare,
  requiredPerSecond: number,
): Omit<Decision, 'samples'> {
  if (share.verdict === 'FAIL' || growthPerSecond > 0) return { verdict: 'FAIL' };
  const waits = waitsForResponses(plan);
  const notProven = (reservation: string): Omit<Decision, 'samples'> => ({
    verdict: 'NOT PROVEN',
    reservation,
  });
  if (!waits && plan.ratePerSecond < requiredPerSecond) {
    const rate = formatNumber(plan.ratePerSecond, 2);
    return notProven(`The offered rate was only ${rate} requests/s.`);
  }
  if (waits && offeredPerSecond < requiredPerSecond * SUCCESS_SHARE_MIN) {
    const offered = formatNumber(offeredPerSecond, 1);
    return notProven(
      plan.connections === undefined
        ? `Simulated users wait for responses and sent only ${offered} requests/s.`
        : 'More connections may reach a higher rate.',
    );
  }
  if (share.verdict === 'NOT PROVEN') return share;
  if (!waits && trend.range95[1] > GROWTH_SHARE_MAX * offeredPerSecond) {
    return notProven('The steady state is too short to rule out a growing backlog; run longer.');
  }
  return { verdict: 'PASS' };
}

function describeRates(
  { plan, offeredPerSecond, trend, growthPerSecond }: Throughput,
  succeededPerSecond: number,
): string {
  const [sent, succeeded] = [offeredPerSecond, succeededPerSecond].map(
    (rate) => `${formatNumber(rate, 2)} requests/s`,
  );
  return plan.connections === undefined
    ? `Offered rate: ${sent}; ${succeeded} succeeded. ${describeInFlight(trend, growthPerSecond)}`
    : `A closed loop with ${formatCount(plan.connections, 'connection')} sent ${sent}; ${succeeded} succeeded.`;
}

function describeInFlight({ atStart, atEnd }: InFlightTrend, growthPerSecond: number): string {
  const span = `${formatNumber(atStart)} at the start, ${formatNumber(atEnd)} at the end`;
  return growthPerSecond > 0
    ? `A backlog grows: requests in flight rose by ${formatNumber(growthPerSecond, 1)} per second (${span}).`
    : `Requests in flight: ${span}.`;
}
