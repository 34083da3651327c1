import type { LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { findPercentile } from '../../src/platform/percentile.ts';
import type { LatencyVerdict } from '../../src/voice/latency/index.ts';
import { formatCount, formatDuration, formatShareAtLeast } from '../../src/report-kit/format.ts';
import { findPercentileRange, findUpperBound } from './binomial.ts';
import { judgeShare } from './share.ts';
import { targetRows, withReservation, type TargetRow } from './targets.ts';

/** Measurements of the calls of a run. */
export interface CallMeasurements {
  calls: number;
  /** Calls that were connected for the whole window, with audio in both directions. */
  held: number;
  /** Why the other calls were not held: "3 no_path, 1 dropped"; empty if there are none. */
  errorCounts: string;
  ranMs: number;
  /** One entry per call that was held. */
  latencies: readonly { pathMs: number | undefined; verdict: LatencyVerdict }[];
}

/** The percentile over calls that is judged. */
export const CALLS_PERCENTILE = 95;
/** The minimum time to hold calls for a PASS. */
const HELD_MS_MIN = 60_000;

/**
 * Judges whether all calls were held concurrently. The count is observed, not estimated, so it has no
 * bounds; the reason states what it implies for further calls.
 */
export function judgeConnections({
  calls,
  held,
  errorCounts,
  ranMs,
}: CallMeasurements): LoadTarget {
  const row = rowFor(calls);
  const lost = calls - held;
  const decision: Pick<LoadTarget, 'verdict'> & { reservation?: string } =
    lost > 0
      ? { verdict: 'FAIL' }
      : calls < row.target
        ? {
            verdict: 'NOT PROVEN',
            reservation: `The run placed only ${formatCount(calls, 'call')}.`,
          }
        : ranMs < HELD_MS_MIN
          ? {
              verdict: 'NOT PROVEN',
              reservation: `A PASS requires that the calls are held for ${HELD_MS_MIN / 1_000} s.`,
            }
          : { verdict: 'PASS' };
  const share = formatShareAtLeast(1 - findUpperBound(lost, calls), 1);
  const errors = errorCounts === '' ? '' : `; errors: ${errorCounts}`;
  const hasEndedEarly = ranMs === 0 && errorCounts === '';
  const summary = hasEndedEarly
    ? 'No call was held, because the run ended before the steady state.'
    : `${held} of ${formatCount(calls, 'concurrent call')} ${held === 1 ? 'was' : 'were'} held for ${formatDuration(ranMs)} with audio in both directions${errors}. With 95% confidence, at least ${share} of further calls would be held.`;
  return {
    ...row,
    measured: held,
    bound95: held,
    range95: [held, held],
    samples: calls,
    verdict: decision.verdict,
    reason: withReservation(summary, decision.reservation),
  };
}

/** Returns the target to judge: the number of placed calls if it is above the required one. */
function rowFor(calls: number): TargetRow {
  const row = targetRows.voiceConnections;
  if (calls <= row.target) return row;
  const statement = `Voice sustains ${calls} concurrent connections (${row.target} required).`;
  return { ...row, target: calls, statement };
}

/**
 * Judges the audio latency at the 95th percentile over calls, at 95% confidence: FAIL if more than 5%
 * of the calls miss the target, PASS if at least 95% meet it. A call with a short network path latency
 * but slow responses may be buffered inside the agent, so it is not proven.
 */
export function judgeVoiceLatency({ latencies }: CallMeasurements, random: Random): LoadTarget {
  const row = targetRows.voiceLatency;
  const paths = latencies.flatMap(({ pathMs }) => pathMs ?? []).sort((left, right) => left - right);
  const samples = latencies.length;
  const countOf = (counted: LatencyVerdict): number =>
    latencies.filter(({ verdict }) => verdict === counted).length;
  const [met, missed, unknown] = [countOf('met'), countOf('missed'), countOf('not_proven')];
  const allowed = 1 - CALLS_PERCENTILE / 100;
  const failing = judgeShare([{ samples, hits: missed }], allowed, random);
  const passing = judgeShare([{ samples, hits: missed + unknown }], allowed, random);
  const verdict =
    failing.verdict === 'FAIL' ? 'FAIL' : passing.verdict === 'PASS' ? 'PASS' : 'NOT PROVEN';
  const atRank = (rank: number): number | null => paths[rank - 1] ?? null;
  const range = findPercentileRange(CALLS_PERCENTILE, paths.length, atRank);
  const measured = findPercentile(paths, CALLS_PERCENTILE) ?? null;
  return {
    ...row,
    measured,
    bound95: range[1],
    range95: range,
    samples,
    verdict,
    reason: withReservation(
      describeLatency(measured, paths.at(-1), { met, missed, samples }),
      verdict === 'NOT PROVEN'
        ? describeReservation(unknown, samples, passing.reservation)
        : undefined,
    ),
  };
}

function describeLatency(
  measured: number | null,
  slowest: number | undefined,
  { met, missed, samples }: { met: number; missed: number; samples: number },
): string {
  if (samples === 0) return 'No latency could be measured, because no call was held.';
  const p95 =
    measured === null
      ? 'The network path latency could not be measured'
      : `Network path latency: p${CALLS_PERCENTILE} ${formatDuration(measured)} over calls, max ${formatDuration(slowest ?? 0)}`;
  const strict = missed === 0 ? '' : `; ${missed} of ${samples} calls missed the target`;
  return `${p95}${strict}. In ${met} of ${formatCount(samples, 'call')}, the median response latency also met the target.`;
}

function describeReservation(
  unknown: number,
  samples: number,
  reservation: string | undefined,
): string | undefined {
  // The summary already says that no call was held.
  if (samples === 0) return undefined;
  if (unknown * 2 > samples) return 'Buffering inside the agent cannot be ruled out.';
  return reservation ?? 'The result is too close to the limit.';
}
