import type { LoadTarget, StreamName } from '../../src/contract/index.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { waitsForResponses } from '../closed-loop.ts';
import type { LoadRun } from '../load-run.ts';
import type { Recorder, RecorderOptions } from '../record/recorder.ts';
import { perSecond } from '../record/stream-log.ts';
import type { RequestMeasurements } from '../verdict/measurements.ts';
import { isMiss, notTested } from '../verdict/target.ts';
import { judgeThreshold } from './judge-threshold.ts';
import type { Threshold } from './threshold.ts';

const isTimeOf = (stream: StreamName, { metric }: Threshold): boolean =>
  metric.source === stream && metric.measure.kind === 'time';

/** Returns the tests of a stream for its thresholds on times, in order. */
export const createBreachTests =
  (thresholds: readonly Threshold[]): NonNullable<RecorderOptions['breachTests']> =>
  (stream) =>
    thresholds
      .filter((threshold) => isTimeOf(stream, threshold))
      .map((threshold) => (ms) => isMiss(threshold, ms));

/** Judges the thresholds on requests. Thresholds on calls are judged after the calls. */
export function judgeStreamThresholds(
  { thresholds = [], seed }: Pick<LoadRun, 'thresholds' | 'seed'>,
  record: Recorder,
  { plan, ranMs, streams, trend }: RequestMeasurements,
): LoadTarget[] {
  return thresholds.map((threshold): LoadTarget => {
    const { source } = threshold.metric;
    const { row } = threshold;
    if (source === 'voice') return notTested(row, 'No call was placed.');
    const stream = streams.get(source);
    if (!stream) {
      const reason = `The sandbox has no ${source} endpoint, so the run sent no requests to it.`;
      return { ...notTested(row, reason), verdict: 'NOT PROVEN' };
    }
    const nth = thresholds.filter((each) => isTimeOf(source, each)).indexOf(threshold);
    return judgeThreshold(
      threshold,
      {
        ...stream,
        breaches: record.log(source).breaches[nth] ?? [],
        offeredPerSecond: perSecond(stream.offered, ranMs),
        trend: source === 'chat' && !waitsForResponses(plan) ? trend : undefined,
      },
      seededRandom(`${seed}/threshold/${row.id}`),
    );
  });
}
