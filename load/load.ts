import type { LoadBlocker, LoadPlan, LoadReport, WarmUp } from '../src/contract/index.ts';
import { secretsOf, tlsOptionsOf } from '../src/platform/connection.ts';
import { createRedactor } from '../src/platform/redaction.ts';
import { seededRandom, type Random } from '../src/platform/random.ts';
import { AUTOCANNON_NAME } from './engines/autocannon.ts';
import { createOpenTransport } from './engines/open.ts';
import { findMaxRate, planRateStep, SEARCH_RATE_MAX } from './find-max/find-max-rate.ts';
import { findMaxCalls, planCallStep } from './find-max/find-max-calls.ts';
import { completeRun, type LoadInput, type LoadRun } from './load-run.ts';
import { CALLS_MAX } from './options.ts';
import type { LoadProgress } from './progress.ts';
import { runClosed } from './phases/closed-run.ts';
import { runPaced } from './phases/paced-run.ts';
import { planLoad } from './phases/plan.ts';
import type { RequestRunParts } from './phases/request-run.ts';
import { findLateStart, runLoop, runWarmUp, waitForStart } from './phases/warm-up.ts';
import { createProfile, type Profile } from './profiles/profile.ts';
import {
  buildReport,
  buildBlockedReport,
  buildEmptyReport,
  type CompletedRun,
  type PlannedRun,
} from './report/report.ts';
import { withVoice } from './report/voice-report.ts';
import { GENERATOR_LIMITS } from './self-check/self-check.ts';
import { placementMs, waitForWindow, runCalls } from './voice/voice-run.ts';
import { withSearchResult } from './report/search-result.ts';
import { createBreachTests } from './thresholds/stream-thresholds.ts';
import { isClosedLoop } from './closed-loop.ts';

/**
 * Load-tests a sandbox and judges it against its targets. A broken sandbox is part of the report; the
 * promise rejects only because of an error in the kit.
 *
 * @param prepared The plan of `planLoad`, if the caller has made it already.
 */
export async function load(input: LoadInput, prepared?: LoadPlan): Promise<LoadReport> {
  const options = completeRun(input);
  const plan = prepared ?? planLoad(options);
  const { clock, onTick, signal, seed, findMax } = options;
  const planned: PlannedRun = { plan, startedAtMs: clock.nowMs() };
  const afterWarmUpMs = plan.rampMs + plan.windowMs + placementMs(plan);
  const search = findMax && {
    search: plan.profile === 'voice' ? { calls: null } : { perSecond: null },
  };
  onTick({ ...idleProgress('preflight', plan.warmUpMs + afterWarmUpMs), ...search });
  const preflight = await options.preflight(signal);
  if (preflight.blockedBy) return buildBlockedReport(options, planned, preflight.blockedBy);
  const random = seededRandom(seed);
  if (plan.profile === 'voice') {
    return findMax
      ? searchMaxCalls(options, planned, random, findMax)
      : loadCalls(options, planned, random);
  }
  const profile = profileFor(options, plan, preflight.hasUsers, random);
  const warmUpMs = await waitForStart(options, plan, (leftMs) =>
    onTick(idleProgress('preflight', leftMs + plan.warmUpMs + afterWarmUpMs)),
  );
  const warmUp = await runWarmUp(options, { ...plan, warmUpMs }, profile, (leftMs) =>
    onTick({ ...idleProgress('warm-up', leftMs + afterWarmUpMs), ...search }),
  );
  const late = findLateStart(options);
  if (late) return buildBlockedReport(options, planned, late);
  if (isStopped(signal) && !findMax) {
    return buildBlockedReport(options, planned, interruptedDuring('warm-up'));
  }
  const { startedAtMs } = planned;
  const parts = { options, startedAtMs, warmUp, hasUsers: preflight.hasUsers };
  if (findMax) return searchMaxRate(parts, plan, random, findMax);
  if (plan.calls === undefined) {
    const run = await runRequests(parts, plan, random.fork('run'));
    const { earlyEnd, ranMs } = run.requests;
    return earlyEnd?.kind === 'interrupted' && ranMs === 0
      ? buildBlockedReport(options, run, interruptedDuring('ramp-up'))
      : buildReport(options, run);
  }
  return loadRequestsAndCalls(parts, plan, random);
}

/** Places calls and sends no requests. */
async function loadCalls(options: LoadRun, run: PlannedRun, random: Random): Promise<LoadReport> {
  const { plan } = run;
  const parts = { options, plan, random: random.fork('voice') };
  const { voice } = await runCalls(parts, waitForWindow(options, plan.windowMs));
  return withVoice(buildEmptyReport(options, run), voice, options);
}

/** Searches for the most concurrent calls; each step places its own calls. */
async function searchMaxCalls(
  options: LoadRun,
  run: PlannedRun,
  random: Random,
  { stepMs }: { stepMs: number },
): Promise<LoadReport> {
  const { plan } = run;
  let steps = 0;
  const { maxCalls, report } = await findMaxCalls({
    callsMax: plan.calls ?? CALLS_MAX,
    runWith: async (calls, length) => {
      if (isStopped(options.signal)) return undefined;
      const step = planCallStep(plan, calls, length === 'step' ? stepMs : plan.windowMs);
      const onTick: LoadRun['onTick'] = (live) => options.onTick({ ...live, search: { calls } });
      const stepRandom = random.fork(`step ${steps++}`);
      const stepReport = await loadCalls(
        { ...options, onTick },
        { ...run, plan: step },
        stepRandom,
      );
      return { report: stepReport, wasInterrupted: isStopped(options.signal) };
    },
  });
  if (report) return withSearchResult(report, 'findMaxCalls', maxCalls, options);
  return { ...buildBlockedReport(options, run, INTERRUPTED), findMaxCalls: maxCalls };
}

/**
 * Sends requests while all calls are connected. The steady state of the calls begins with the ramp-up
 * of the requests.
 */
async function loadRequestsAndCalls(
  { options, ...parts }: RunParts,
  plan: LoadPlan,
  random: Random,
): Promise<LoadReport> {
  const { voice, result } = await runCalls(
    { options, plan, random: random.fork('voice') },
    (signal) =>
      runRequests({ ...parts, options: { ...options, signal } }, plan, random.fork('run')),
  );
  const { startedAtMs } = parts;
  const report = result
    ? buildReport(options, result)
    : buildEmptyReport(options, { plan, startedAtMs });
  return withVoice(report, voice, options);
}

/** What all runs of a load test share. */
interface RunParts {
  options: LoadRun;
  startedAtMs: number;
  warmUp: WarmUp | undefined;
  hasUsers: boolean;
}

async function runRequests(parts: RunParts, plan: LoadPlan, random: Random): Promise<CompletedRun> {
  const { options, startedAtMs, warmUp, hasUsers } = parts;
  const { clock, sandbox, ca, connection, validateResponse, onTick, signal } = options;
  const profile = profileFor(options, plan, hasUsers, random);
  const completed = { plan, startedAtMs, profile, warmUp };
  const redact = createRedactor(secretsOf(connection, options.apiKey));
  const run: RequestRunParts = { clock, profile, plan, validateResponse, redact, onTick, signal };
  if (isClosedLoop(plan)) {
    const { connections } = plan;
    const tls = tlsOptionsOf(ca, connection);
    const requests = await runClosed({ ...run, target: sandbox, tls, connections });
    return { ...completed, engine: AUTOCANNON_NAME, requests };
  }
  const transport = createOpenTransport({ target: sandbox, clock, ca, connection });
  try {
    const requests = await runPaced({
      ...run,
      random,
      transport,
      shard: options.shard,
      breachTests: createBreachTests(options.thresholds ?? []),
    });
    return { ...completed, engine: transport.name, requests };
  } finally {
    await transport.close();
  }
}

/** Maximum ramp-up before each step, while requests in flight reach their level. */
const STEP_RAMP_MS_MAX = 3_000;
const PROBE_CONNECTIONS = 20;
const PROBE_MS_MAX = 5_000;

/** Searches for the highest rate, from a closed loop that shows how fast the sandbox can be. */
async function searchMaxRate(
  parts: RunParts,
  plan: LoadPlan,
  random: Random,
  { stepMs }: { stepMs: number },
): Promise<LoadReport> {
  const { options } = parts;
  const rampMs = Math.min(STEP_RAMP_MS_MAX, stepMs / 4);
  const probe = profileFor(options, plan, parts.hasUsers, random.fork('probe'));
  const probeResult = await runLoop(options, probe, {
    connections: PROBE_CONNECTIONS,
    durationMs: Math.min(PROBE_MS_MAX, stepMs),
    perSecondMax: SEARCH_RATE_MAX,
  });
  let steps = 0;
  const { maxRate, run } = await findMaxRate({
    probePerSecond: probeResult?.perSecond ?? 0,
    limits: options.generatorLimits ?? GENERATOR_LIMITS,
    runAt: async (perSecond, length) => {
      if (options.signal.aborted) return undefined;
      const windowMs = length === 'step' ? stepMs : plan.windowMs;
      const onTick: LoadRun['onTick'] = (live) =>
        options.onTick({ ...live, search: { perSecond } });
      return runRequests(
        { ...parts, options: { ...options, onTick } },
        planRateStep(plan, perSecond, windowMs, rampMs),
        random.fork(`step ${steps++}`),
      );
    },
  });
  if (run) return withSearchResult(buildReport(options, run), 'findMax', maxRate, options);
  const { startedAtMs } = parts;
  return {
    ...buildBlockedReport(options, { plan, startedAtMs }, INTERRUPTED),
    findMax: maxRate,
  };
}

/** A function, because the compiler assumes that the state of a signal does not change. */
const isStopped = (signal: AbortSignal): boolean => signal.aborted;

/** Why a run that was interrupted has no measurements. */
const INTERRUPTED = { message: 'The run was interrupted.', cure: 'Run it again.' };

const interruptedDuring = (phase: 'warm-up' | 'ramp-up'): LoadBlocker => ({
  ...INTERRUPTED,
  message: `The run was interrupted during the ${phase}, before anything was measured.`,
});

function profileFor(
  { profile: name, simulatedUsers, apiKey, connection, lines, shard }: LoadRun,
  { ratePerSecond }: LoadPlan,
  hasUsers: boolean,
  random: Random,
): Profile {
  return createProfile({
    name,
    ratePerSecond,
    simulatedUsers,
    apiKey,
    headers: connection?.headers,
    hasUsers,
    lines,
    shard,
    random: random.fork('profile'),
  });
}

/** Returns the progress of a phase that measures nothing. */
function idleProgress(phase: LoadProgress['phase'], leftMs: number): LoadProgress {
  return { phase, perSecond: 0, inFlight: 0, p50Ms: null, p99Ms: null, errors: 0, leftMs };
}
