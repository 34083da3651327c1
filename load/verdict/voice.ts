import type { LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import type { LatencyVerdict } from '../../src/voice/latency/index.ts';
import { formatCount, formatDuration, formatShareAtLeast } from '../../src/report-kit/format.ts';
import { findUpperBound } from './binomial.ts';
import { estimatePercentile, timesOf } from './percentile.ts';
import { judgeShare } from './share.ts';
import { estimate, reportTarget, type Decision, type TargetRow } from './target.ts';

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
export function judgeConnections(
  required: TargetRow,
  { calls, held, errorCounts, ranMs }: CallMeasurements,
): LoadTarget {
  const row = raiseToPlaced(required, calls);
  const share = formatShareAtLeast(1 - findUpperBound(calls - held, calls), 1);
  const errors = errorCounts === '' ? '' : `; errors: ${errorCounts}`;
  const hasEndedEarly = ranMs === 0 && errorCounts === '';
  const summary = hasEndedEarly
    ? 'No call was held, because the run ended before the steady state.'
    : `${held} of ${formatCount(calls, 'concurrent call')} ${held === 1 ? 'was' : 'were'} held for ${formatDuration(ranMs)} with audio in both directions${errors}. With 95% confidence, at least ${share} of further calls would be held.`;
  const decision = decideConnections(row, { calls, held, ranMs });
  return reportTarget(row, estimate(row, held, [held, held]), decision, summary);
}

function decideConnections(
  { target }: TargetRow,
  { calls, held, ranMs }: Pick<CallMeasurements, 'calls' | 'held' | 'ranMs'>,
): Decision {
  if (held < calls) return { verdict: 'FAIL', samples: calls };
  const notProven = { verdict: 'NOT PROVEN', samples: calls } as const;
  if (calls < target) {
    return { ...notProven, reservation: `The run placed only ${formatCount(calls, 'call')}.` };
  }
  if (ranMs < HELD_MS_MIN) {
    const reservation = `A PASS requires that the calls are held for ${HELD_MS_MIN / 1_000} s.`;
    return { ...notProven, reservation };
  }
  return { verdict: 'PASS', samples: calls };
}

/** Returns the target to judge: the number of placed calls if it is above the required one. */
function raiseToPlaced(row: TargetRow, calls: number): TargetRow {
  if (calls <= row.target) return row;
  const statement = `Voice sustains ${calls} concurrent connections (${row.target} required).`;
  return { ...row, target: calls, statement };
}

/**
 * Judges the audio latency at the 95th percentile over calls, at 95% confidence: FAIL if more than 5%
 * of the calls miss the target, PASS if at least 95% meet it. A call with a short network path latency
 * but slow responses may be buffered inside the agent, so it is not proven.
 */
export function judgeVoiceLatency(
  row: TargetRow,
  { latencies }: CallMeasurements,
  random: Random,
): LoadTarget {
  const paths = timesOf(latencies.flatMap(({ pathMs }) => pathMs ?? []));
  const samples = latencies.length;
  const countOf = (counted: LatencyVerdict): number =>
    latencies.filter(({ verdict }) => verdict === counted).length;
  const [met, missed, unknown] = [countOf('met'), countOf('missed'), countOf('not_proven')];
  const allowed = 1 - CALLS_PERCENTILE / 100;
  const failing = judgeShare([{ samples, hits: missed }], allowed, random);
  const passing = judgeShare([{ samples, hits: missed + unknown }], allowed, random);
  const verdict =
    failing.verdict === 'FAIL' ? 'FAIL' : passing.verdict === 'PASS' ? 'PASS' : 'NOT PROVEN';
  const figures = estimatePercentile(row, paths, CALLS_PERCENTILE);
  const reservation =
    verdict === 'NOT PROVEN'
      ? describeReservation(unknown, samples, passing.reservation)
      : undefined;
  return reportTarget(
    row,
    figures,
    { verdict, samples, reservation },
    describeLatency(figures.measured, paths.atRank(paths.count), { met, missed, samples }),
  );
}

function describeLatency(
  measured: number | null,
  slowest: number | null,
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
