import { availableParallelism, cpus } from 'node:os';
import type {
  GeneratorMachine,
  LoadBlocker,
  LoadPlan,
  LoadReport,
  SelfCheck,
  StreamName,
  WarmUp,
} from '../../src/contract/index.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { isoTime } from '../../src/platform/clock.ts';
import type { LoadOptions } from '../options.ts';
import type { PacedRun } from '../phases/paced-run.ts';
import type { Profile } from '../profiles/profile.ts';
import { IN_FLIGHT_STEP_MS } from '../record/in-flight.ts';
import { HEAT_BOUNDS_MS } from '../record/timeline.ts';
import { selfCheck } from '../self-check/self-check.ts';
import { judgeRun, type SeenStream } from '../verdict/judge-run.ts';
import { outagesOf } from '../verdict/outages.ts';
import { notTested, rows } from '../verdict/targets.ts';
import { exitCodeOf, underSelfCheck, wholeVerdict } from '../verdict/whole.ts';
import { curveOf } from './curve.ts';
import { notesOn } from './notes.ts';
import { sentenceOf } from './sentence.ts';

/** A run as its report needs it. */
export interface ReportedRun {
  plan: LoadPlan;
  startedAtMs: number;
  engine: string;
  profile: Profile;
  warmUp: WarmUp | undefined;
  paced: PacedRun;
}

/** Makes the report of a run. */
export function reportOf(options: LoadOptions, run: ReportedRun): LoadReport {
  const { plan, paced, profile } = run;
  const { record, ranMs, stopped } = paced;
  const seen = new Map(profile.streams.map((name) => [name, seenStream(run, name)] as const));
  const { targets, trend } = judgeRun(
    {
      plan,
      ranMs,
      streams: seen,
      inFlight: record.inFlight.until(ranMs),
      stepMs: IN_FLIGHT_STEP_MS,
    },
    seededRandom(`${options.seed}/verdict`),
  );
  const check = checkOf(options, run);
  const judged = underSelfCheck(targets, check);
  const verdict = wholeVerdict(judged, check);
  const main = record.log(profile.main);
  const streams = profile.streams.map((name) => [name, record.log(name).report(ranMs)] as const);
  const outcomes = profile.streams.map((name) => record.log(name).outcomes);
  const head = headOf(options, run);
  const blockedBy = stopped?.kind === 'unauthorized' ? keyRefused(stopped.detail) : undefined;
  return {
    verdict,
    exitCode: exitCodeOf(verdict, options.acceptNotProven),
    sentence: sentenceOf({ verdict, targets: judged, selfCheck: check, blockedBy, plan }),
    ...head,
    ...(blockedBy && { blockedBy }),
    ...(stopped?.kind === 'down' && { aborted: `The sandbox is down: ${stopped.detail}.` }),
    plan,
    targets: judged,
    selfCheck: check,
    ...Object.fromEntries(streams),
    streams: [...profile.streams],
    ...(run.warmUp && { warmUp: run.warmUp }),
    outages: outagesOf(outcomes, ranMs),
    ...(trend && { trend }),
    timeline: record.timeline.rows(),
    heatBoundsMs: [...HEAT_BOUNDS_MS],
    curve: curveOf(main.response, main.service),
    faultSamples: [...record.faultSamples],
    machine: machineOf(run),
    notes: notesOn(plan, Object.fromEntries(streams)),
  };
}

/** The report of a run that stopped before its first request. */
export function reportBlocked(
  options: LoadOptions,
  run: Pick<ReportedRun, 'plan' | 'startedAtMs'>,
  blockedBy: LoadBlocker,
): LoadReport {
  const { plan } = run;
  const selfChecked: SelfCheck = { valid: false, reasons: [blockedBy.message], figures: [] };
  const asked = askedOf(plan);
  const targets = Object.values(rows).map((row) => ({
    ...notTested(row),
    ...(asked.includes(row.id)
      ? { verdict: 'INVALID RUN' as const, reason: blockedBy.message }
      : {}),
  }));
  return {
    verdict: 'INVALID RUN',
    exitCode: 3,
    sentence: `Not judged: ${blockedBy.message}`,
    ...headOf(options, run),
    blockedBy,
    plan,
    targets,
    selfCheck: selfChecked,
    streams: [],
    timeline: [],
    faultSamples: [],
    notes: [],
  };
}

/** The report of a run that sends no requests: nothing but what it was to be. */
export function reportOfNothing(
  options: LoadOptions,
  run: Pick<ReportedRun, 'plan' | 'startedAtMs'>,
): LoadReport {
  return {
    verdict: 'NOT TESTED',
    exitCode: 3,
    sentence: 'Nothing was tested.',
    ...headOf(options, run),
    plan: run.plan,
    targets: Object.values(rows).map((row) => notTested(row)),
    selfCheck: { valid: true, reasons: [], figures: [] },
    streams: [],
    timeline: [],
    faultSamples: [],
    notes: [],
  };
}

function askedOf({ profile }: LoadPlan): string[] {
  const voice = ['voice-latency', 'voice-connections'];
  if (profile === 'voice') return voice;
  const chat = ['chat-latency', 'chat-throughput', 'chat-sessions', 'availability'];
  if (profile === 'health') return ['health-latency', 'availability'];
  if (profile === 'all') return [...chat, 'health-latency', ...voice];
  return profile === 'mixed' ? [...chat, 'health-latency'] : chat;
}

function headOf(
  { kitVersion, sandbox, seed, clock }: LoadOptions,
  { startedAtMs }: Pick<ReportedRun, 'startedAtMs'>,
): Pick<LoadReport, 'kitVersion' | 'sandbox' | 'seed' | 'startedAt' | 'endedAt'> {
  const [startedAt, endedAt] = [isoTime(startedAtMs), isoTime(clock.nowMs())];
  return { kitVersion, sandbox, seed, startedAt, endedAt };
}

function seenStream({ paced: { record } }: ReportedRun, name: StreamName): SeenStream {
  const log = record.log(name);
  const { response, misses, failures, errors, offered, echoed } = log;
  return {
    count: response.count,
    atRank: (rank) => response.atRank(rank),
    percentile: (percentile) => response.percentile(percentile),
    misses,
    failures,
    errors,
    offered,
    echoed,
  };
}

function checkOf({ generatorLimits }: LoadOptions, run: ReportedRun): SelfCheck {
  const { paced, profile, plan } = run;
  const { record, missed, held, cost, stopped } = paced;
  const lag = record.log(profile.main).lag.summary();
  const localFaults = profile.streams
    .map((name) => record.log(name).errors['local'] ?? 0)
    .reduce((sum, times) => sum + times, 0);
  const ranS = Math.floor(paced.ranMs / 1000);
  const reasons = {
    interrupted: [`The run was interrupted after ${ranS} of ${plan.windowMs / 1000} s.`],
    unauthorized: [keyRefused(stopped?.detail ?? '').message],
    down: [],
  };
  return selfCheck(
    { lagP99Ms: lag.p99, lagMaxMs: lag.max, missed, held, localFaults, cost },
    generatorLimits,
    stopped ? reasons[stopped.kind] : [],
  );
}

const keyRefused = (detail: string): LoadBlocker => ({
  message: `The sandbox refused the key in the middle of the run (${detail}).`,
  cure: 'Give a key that stays valid, and look for what revokes it under load.',
});

/** This machine, and what the generator took of it. */
export function machineOf({
  paced,
  engine,
}: {
  paced: { cost: { cpuPercent: number } };
  engine: string;
}): GeneratorMachine {
  return {
    node: process.version,
    cpus: availableParallelism(),
    cpuModel: cpus()[0]?.model ?? 'unknown',
    cpuPercent: paced.cost.cpuPercent,
    engineVersion: engine,
  };
}
