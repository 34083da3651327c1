import { availableParallelism, cpus } from 'node:os';
import type {
  GeneratorMachine,
  LoadBlocker,
  LoadPlan,
  LoadReport,
  LoadTarget,
  SelfCheck,
  WarmUp,
} from '../../src/contract/index.ts';
import { isoTime } from '../../src/platform/clock.ts';
import { isClosedLoop } from '../closed-loop.ts';
import type { LoadRun } from '../load-run.ts';
import type { RequestRun } from '../phases/request-run.ts';
import type { Traffic } from '../profiles/traffic.ts';
import { checkClosedLoop, checkGenerator } from '../self-check/self-check.ts';
import { listBlockedTargets, listUntestedTargets } from '../verdict/run-targets.ts';
import { notTested } from '../verdict/target.ts';
import { describeAbort, findLateBlocker, listStopReasons } from './early-end.ts';
import { judgeMeasurements } from './judgment.ts';
import { describeEngine, describeOmittedUsers, describeProxy } from './notes.ts';
import { identifyShard, toShardReport } from './shard-report.ts';

/** A run that may not have measured anything. */
export interface PlannedRun {
  plan: LoadPlan;
  /** The start of the preflight, in Unix milliseconds. */
  startedAtMs: number;
  /** The version of the agent, if the preflight found one. */
  agentVersion?: string | undefined;
}

/** A completed run of requests. */
export interface CompletedRun extends PlannedRun {
  /** Name and version of the HTTP client. */
  engine: string;
  traffic: Traffic;
  warmUp: WarmUp | undefined;
  requests: RequestRun;
}

/** Builds the report of a run. */
export function buildReport(options: LoadRun, run: CompletedRun): LoadReport {
  const { plan, requests, traffic } = run;
  const check = runSelfCheck(options, run);
  const blockedBy = findLateBlocker(requests);
  const aborted = describeAbort(requests, plan);
  const judged = judgeMeasurements(options, { ...requests, plan, traffic }, check, blockedBy);
  const { verdict, exitCode, sentence } = judged;
  const report: LoadReport = {
    // The verdict stands first in a report, and the rest of the judgment behind the plan.
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
  { startedAtMs, agentVersion }: PlannedRun,
): Pick<LoadReport, 'kitVersion' | 'sandbox' | 'seed' | 'startedAt' | 'endedAt' | 'agentVersion'> {
  const [startedAt, endedAt] = [isoTime(startedAtMs), isoTime(clock.nowMs())];
  const version = agentVersion === undefined ? {} : { agentVersion };
  return { kitVersion, sandbox, seed, startedAt, endedAt, ...version };
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
