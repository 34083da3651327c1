import type {
  CurvePoint,
  LatencySummary,
  LoadBlocker,
  LoadPlan,
  LoadReport,
  SelfCheck,
  StreamName,
  StreamReport,
} from '../../src/contract/index.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { isClosedLoop } from '../closed-loop.ts';
import type { LoadRun } from '../load-run.ts';
import type { RequestRun } from '../phases/request-run.ts';
import type { Traffic } from '../profiles/traffic.ts';
import { perSecond, type StreamLog } from '../record/stream-log.ts';
import { HEAT_BOUNDS_MS } from '../record/timeline.ts';
import { judgeStreamThresholds } from '../thresholds/stream-thresholds.ts';
import { findOutages } from '../verdict/availability.ts';
import type { RequestMeasurements } from '../verdict/measurements.ts';
import { judgeRequests } from '../verdict/run-targets.ts';
import { applySelfCheck } from '../verdict/run-verdict.ts';
import { measureInFlightTrend } from '../verdict/throughput.ts';
import { concludeRun } from './conclusion.ts';
import { streamNotes } from './notes.ts';

/** The measurements of a run, which for a merged report are those of all shards. */
type MeasuredRun = Pick<RequestRun, 'record' | 'ranMs'> & {
  plan: LoadPlan;
  traffic: Pick<Traffic, 'main' | 'streams'>;
};

/** The fields of a report that follow from the measurements of requests. */
type Judgment = Pick<
  LoadReport,
  | 'verdict'
  | 'exitCode'
  | 'sentence'
  | 'targets'
  | 'selfCheck'
  | StreamName
  | 'streams'
  | 'outages'
  | 'trend'
  | 'timeline'
  | 'heatBoundsMs'
  | 'curve'
  | 'faultSamples'
  | 'slowest'
  | 'notes'
>;

/** The options that decide the verdicts on measurements. */
type VerdictOptions = Pick<LoadRun, 'seed' | 'thresholds' | 'acceptNotProven'>;

/** Judges measurements: those of one load generator, or those of all shards. */
export function judgeMeasurements(
  options: VerdictOptions,
  run: MeasuredRun,
  check: SelfCheck,
  blockedBy: LoadBlocker | undefined,
): Judgment {
  const { plan, traffic, record, ranMs } = run;
  const measured = measureRequests(run);
  const targets = applySelfCheck(
    [
      ...judgeRequests(measured, seededRandom(`${options.seed}/verdict`)),
      ...judgeStreamThresholds(options, record, measured),
    ],
    check,
  );
  const { trend } = measured;
  const isClosed = isClosedLoop(plan);
  const streams = traffic.streams.map((name) => {
    const stream = record.log(name).report(ranMs);
    return [name, isClosed ? withoutSchedule(stream) : stream] as const;
  });
  const outcomes = traffic.streams.map((name) => record.log(name).outcomes);
  return {
    ...concludeRun({ targets, selfCheck: check, blockedBy, plan }, options),
    targets,
    selfCheck: check,
    ...Object.fromEntries(streams),
    streams: [...traffic.streams],
    outages: findOutages(outcomes, ranMs),
    ...(trend && !isClosed && { trend }),
    timeline: record.timeline.rows(),
    heatBoundsMs: [...HEAT_BOUNDS_MS],
    ...(!isClosed && { curve: latencyCurve(record.log(traffic.main)) }),
    faultSamples: [...record.faultSamples],
    ...(!isClosed && record.slowest.length > 0 && { slowest: [...record.slowest] }),
    notes: streams.flatMap(([name, stream]) => streamNotes(name, stream)),
  };
}

/** Times from the intended start; absent without a schedule. */
const NOT_MEASURED: LatencySummary = {
  p50: null,
  p90: null,
  p99: null,
  p999: null,
  max: null,
  mean: null,
};

const withoutSchedule = (stream: StreamReport): StreamReport => ({
  ...stream,
  latencyMs: NOT_MEASURED,
  lagMs: NOT_MEASURED,
});

function measureRequests({ plan, traffic, record, ranMs }: MeasuredRun): RequestMeasurements {
  const streams = new Map(traffic.streams.map((name) => [name, record.log(name)] as const));
  const chat = streams.get('chat');
  const trend =
    chat && measureInFlightTrend(record.inFlight.until(ranMs), perSecond(chat.offered, ranMs));
  return { plan, ranMs, streams, trend };
}

/** Percentiles of the latency curve, whose axis gives each additional nine the same width. */
const CURVE_PERCENTILES = [
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 96, 97, 98, 98.5, 99, 99.25, 99.5, 99.75,
  99.9, 99.95, 99.99, 99.999,
];

/** Returns response and service times by percentile, up to the last percentile with a sample. */
function latencyCurve({ response, service }: StreamLog): CurvePoint[] {
  return CURVE_PERCENTILES.filter((percentile) => (1 - percentile / 100) * response.count >= 1).map(
    (percentile) => ({
      percentile,
      responseMs: response.percentile(percentile) ?? 0,
      serviceMs: service.percentile(percentile) ?? 0,
    }),
  );
}
