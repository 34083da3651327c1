import { availableParallelism, cpus } from 'node:os';
import type {
  CurvePoint,
  GeneratorMachine,
  LatencySummary,
  LoadBlocker,
  LoadPlan,
  LoadReport,
  LoadTarget,
  SelfCheck,
  StreamName,
  StreamReport,
  WarmUp,
} from '../../src/contract/index.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { isoTime } from '../../src/platform/clock.ts';
import { isClosedLoop } from '../closed-loop.ts';
import type { LoadRun } from '../load-run.ts';
import type { RequestRun } from '../phases/request-run.ts';
import type { Traffic } from '../profiles/traffic.ts';
import type { Durations } from '../record/histogram.ts';
import { perSecond } from '../record/stream-log.ts';
import { HEAT_BOUNDS_MS } from '../record/timeline.ts';
import { checkClosedLoop, checkGenerator } from '../self-check/self-check.ts';
import { findOutages } from '../verdict/availability.ts';
import { judgeRequests, listBlockedTargets, listUntestedTargets } from '../verdict/judge-run.ts';
import type { RequestMeasurements } from '../verdict/measurements.ts';
import { applySelfCheck } from '../verdict/run-verdict.ts';
import { notTested } from '../verdict/target.ts';
import { measureInFlightTrend } from '../verdict/throughput.ts';
import { judgeStreamThresholds } from '../thresholds/stream-thresholds.ts';
import { concludeRun } from './conclusion.ts';
import { describeAbort, findLateBlocker, listStopReasons } from './early-end.ts';
import { describeEngine, describeOmittedUsers, describeProxy, streamNotes } from './notes.ts';
import { identifyShard, toShardReport } from './shard-report.ts';

/** A run that may not have measured anything. */
export interface PlannedRun {
  plan: LoadPlan;
  /** The start of the preflight, in Unix milliseconds. */
  startedAtMs: number;
}

/** A completed run of requests. */
export interface CompletedRun extends PlannedRun {
  /** Name and version of the HTTP client. */
  engine: string;
  traffic: Traffic;
  warmUp: WarmUp | undefined;
  requests: RequestRun;
}

/** The measurements of a run, which for a merged report are those of all shards. */
export type MeasuredRun = Pick<RequestRun, 'record' | 'ranMs'> & {
  plan: LoadPlan;
  traffic: Pick<Traffic, 'main' | 'streams'>;
};

/** The fields of a report that follow from measurements. */
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
export type VerdictOptions = Pick<LoadRun, 'seed' | 'thresholds' | 'acceptNotProven'>;

/** Builds the report of a run. */
export function buildReport(options: LoadRun, run: CompletedRun): LoadReport {
  const { plan, requests, traffic } = run;
  const measured = { ...requests, plan, traffic };
  const check = runSelfCheck(options, run);
  const blockedBy = findLateBlocker(requests);
  const aborted = describeAbort(requests, plan);
  const judged = judgeMeasurements(options, measured, check, blockedBy);
  const { verdict, exitCode, sentence } = judged;
  const report: LoadReport = {
    ...{ verdict, exitCode, sentence },
    ...reportHead(options, run),
    ...(blockedBy && { blockedBy }),
    ...(aborted !== undefined && { aborted }),
    plan,
    ...judged,
    ...(run.warmUp && { warmUp: run.warmUp }),
    machine: describeMachine(run.engine, requests.cost.cpuPercent),
    notes: [
      // The merged report has the notes about the requests of all shards.
      ...(options.shard ? [] : judged.notes),
      ...describeEngine(plan),
      ...describeProxy(options),
      ...describeOmittedUsers(plan, traffic),
    ],
  };
  return options.shard ? toShardReport(report, options, options.shard, requests) : report;
}

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
  const main = record.log(traffic.main);
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
    ...(!isClosed && { curve: latencyCurve(main.response, main.service) }),
    faultSamples: [...record.faultSamples],
    ...(!isClosed && record.slowest.length > 0 && { slowest: [...record.slowest] }),
    notes: streams.flatMap(([name, stream]) => streamNotes(name, stream)),
  };
}

/** Times from the intended start; absent without a schedule. */
const NOT_MEASURED: LatencySummary = {
  ...{ p50: null, p90: null, p99: null, p999: null, max: null, mean: null },
};

const withoutSchedule = (stream: StreamReport): StreamReport => ({
  ...stream,
  latencyMs: NOT_MEASURED,
  lagMs: NOT_MEASURED,
});

/** The options that a report repeats. */
export type ReportOptions = Pick<LoadRun, 'kitVersion' | 'sandbox' | 'seed' | 'thresholds'> & {
  clock: Pick<LoadRun['clock'], 'nowMs'>;
  shard?: LoadRun['shard'];
  lines?: LoadRun['lines'];
};

/** Builds the report of a run that stopped before its first request. */
export function buildBlockedReport(
  options: ReportOptions,
  run: PlannedRun,
  blockedBy: LoadBlocker,
): LoadReport {
  const { plan } = run;
  const failedCheck: SelfCheck = { valid: false, reasons: [blockedBy.message], figures: [] };
  const thresholds = (options.thresholds ?? []).map(({ row }): LoadTarget => ({
    ...notTested(row, blockedBy.message),
    verdict: 'INVALID RUN',
  }));
  return {
    verdict: 'INVALID RUN',
    exitCode: 3,
    sentence: `Not judged: ${blockedBy.message}`,
    ...reportHead(options, run),
    blockedBy,
    plan,
    ...(options.shard && { shard: identifyShard(options, options.shard) }),
    targets: [...listBlockedTargets(plan.profile, blockedBy.message), ...thresholds],
    selfCheck: failedCheck,
    streams: [],
    timeline: [],
    faultSamples: [],
    notes: [],
  };
}

/** Builds the report of a run without requests; the results of calls are added to it. */
export function buildEmptyReport(options: LoadRun, run: PlannedRun): LoadReport {
  return {
    verdict: 'NOT TESTED',
    exitCode: 3,
    sentence: 'The run tested no target.',
    ...reportHead(options, run),
    plan: run.plan,
    targets: [
      ...listUntestedTargets(),
      ...(options.thresholds ?? []).map(({ row }) => notTested(row, 'The run did not start.')),
    ],
    selfCheck: { valid: true, reasons: [], figures: [] },
    streams: [],
    timeline: [],
    faultSamples: [],
    notes: describeProxy(options),
  };
}

/** Returns the fields of a report that say what ran and when. */
export function reportHead(
  { kitVersion, sandbox, seed, clock }: ReportOptions,
  { startedAtMs }: PlannedRun,
): Pick<LoadReport, 'kitVersion' | 'sandbox' | 'seed' | 'startedAt' | 'endedAt'> {
  const [startedAt, endedAt] = [isoTime(startedAtMs), isoTime(clock.nowMs())];
  return { kitVersion, sandbox, seed, startedAt, endedAt };
}

function measureRequests({ plan, traffic, record, ranMs }: MeasuredRun): RequestMeasurements {
  const streams = new Map(traffic.streams.map((name) => [name, record.log(name)] as const));
  const chat = streams.get('chat');
  const trend =
    chat && measureInFlightTrend(record.inFlight.until(ranMs), perSecond(chat.offered, ranMs));
  return { plan, ranMs, streams, trend };
}

function runSelfCheck({ generatorLimits }: LoadRun, run: CompletedRun): SelfCheck {
  const { requests, traffic, plan } = run;
  const { record, missed, cost } = requests;
  const lag = record.log(traffic.main).lag.summary();
  const localFaults = traffic.streams
    .map((name) => record.log(name).errors['local'] ?? 0)
    .reduce((sum, times) => sum + times, 0);
  const stopReasons = listStopReasons(requests, plan);
  return isClosedLoop(plan)
    ? checkClosedLoop({ localFaults, cost }, generatorLimits, stopReasons)
    : checkGenerator(
        { lagP99Ms: lag.p99, lagMaxMs: lag.max, missed, localFaults, cost },
        generatorLimits,
        stopReasons,
      );
}

/** Describes this machine and the processor time that the load generator used. */
export function describeMachine(engineVersion: string, cpuPercent: number): GeneratorMachine {
  return {
    node: process.version,
    cpus: availableParallelism(),
    cpuModel: cpus()[0]?.model ?? 'unknown',
    cpuPercent,
    engineVersion,
  };
}

/** Percentiles of the latency curve, whose axis gives each additional nine the same width. */
const CURVE_PERCENTILES = [
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 96, 97, 98, 98.5, 99, 99.25, 99.5, 99.75,
  99.9, 99.95, 99.99, 99.999,
];

/** Returns response and service times by percentile, up to the last percentile with a sample. */
function latencyCurve(response: Durations, service: Durations): CurvePoint[] {
  return CURVE_PERCENTILES.filter((percentile) => (1 - percentile / 100) * response.count >= 1).map(
    (percentile) => ({
      percentile,
      responseMs: response.percentile(percentile) ?? 0,
      serviceMs: service.percentile(percentile) ?? 0,
    }),
  );
}
