import type { LoadBlocker, LoadPlan, LoadReport, WarmUp } from '../src/contract/index.ts';
import { secretsOf, tlsOptionsOf } from '../src/platform/connection.ts';
import { createRedactor } from '../src/platform/redaction.ts';
import { seededRandom, type Random } from '../src/platform/random.ts';
import { AUTOCANNON_NAME } from './engines/autocannon.ts';
import { createOpenTransport } from './engines/open.ts';
import { findMaxRate, SEARCH_RATE_MAX } from './find-max/find-max-rate.ts';
import { findMaxCalls, type StepRun } from './find-max/find-max-calls.ts';
import { completeRun, type LoadInput, type LoadRun } from './load-run.ts';
import { CALLS_MAX } from './options.ts';
import type { LoadProgress } from './progress.ts';
import { runClosed } from './phases/closed-run.ts';
import { runPaced } from './phases/paced-run.ts';
import { planLoad } from './phases/plan.ts';
import type { RequestRunParts } from './phases/request-run.ts';
import { findLateStart, runLoop, runWarmUp, waitForStart } from './phases/warm-up.ts';
import { createTraffic, type Traffic } from './profiles/traffic.ts';
import { sendsRequests } from './profiles/profiles.ts';
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

/** What all runs of a load test share. */
interface LoadTest extends PlannedRun {
  options: LoadRun;
  random: Random;
}

/** A load test that sends requests. */
interface RequestTest extends LoadTest {
  hasUsers: boolean;
  warmUp: WarmUp | undefined;
}

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
  const startedAtMs = clock.nowMs();
  const afterWarmUpMs = plan.rampMs + plan.windowMs + placementMs(plan);
  const search = findMax && {
    search: sendsRequests(plan.profile) ? { perSecond: null } : { calls: null },
  };
  onTick({ ...idleProgress('preflight', plan.warmUpMs + afterWarmUpMs), ...search });
  const { blockedBy, hasUsers, agentVersion } = await options.preflight(signal);
  const test = { options, plan, startedAtMs, agentVersion, random: seededRandom(seed) };
  if (blockedBy) return buildBlockedReport(options, test, blockedBy);
  if (!sendsRequests(plan.profile)) {
    return findMax ? searchMaxCalls(test, findMax) : (await loadCalls(test)).report;
  }
  const traffic = trafficOf({ ...test, hasUsers });
  const warmUpMs = await waitForStart(options, plan, (leftMs) =>
    onTick(idleProgress('preflight', leftMs + plan.warmUpMs + afterWarmUpMs)),
  );
  const warmUp = await runWarmUp(options, { ...plan, warmUpMs }, traffic, (leftMs) =>
    onTick({ ...idleProgress('warm-up', leftMs + afterWarmUpMs), ...search }),
  );
  const late = findLateStart(options);
  if (late) return buildBlockedReport(options, test, late);
  if (isStopped(signal) && !findMax) {
    return buildBlockedReport(options, test, interruptedDuring('warm-up'));
  }
  const requestTest = { ...test, hasUsers, warmUp };
  if (findMax) return searchMaxRate(requestTest, findMax);
  return plan.calls === undefined ? loadRequests(requestTest) : loadRequestsAndCalls(requestTest);
}

/** Sends requests and places no calls. */
async function loadRequests(test: RequestTest): Promise<LoadReport> {
  const { options, random } = test;
  const run = await runRequests({ ...test, random: random.fork('run') });
  const { earlyEnd, ranMs } = run.requests;
  return earlyEnd?.kind === 'interrupted' && ranMs === 0
    ? buildBlockedReport(options, run, interruptedDuring('ramp-up'))
    : buildReport(options, run);
}

/** Places calls and sends no requests. Also returns how many calls the sandbox has not closed. */
async function loadCalls(test: LoadTest): Promise<Omit<StepRun, 'wasInterrupted'>> {
  const { options, plan, random } = test;
  const { voice } = await runCalls(
    { options, plan, random: random.fork('voice') },
    waitForWindow(options, plan.windowMs),
  );
  return {
    report: withVoice(buildEmptyReport(options, test), voice, options),
    unclosedCalls: voice.calls.filter(({ isClosed }) => !isClosed).length,
  };
}

/**
 * Sends requests while all calls are connected. The steady state of the calls begins with the ramp-up
 * of the requests.
 */
async function loadRequestsAndCalls(test: RequestTest): Promise<LoadReport> {
  const { options, plan, random } = test;
  const { voice, result } = await runCalls(
    { options, plan, random: random.fork('voice') },
    (signal) =>
      runRequests({ ...test, options: { ...options, signal }, random: random.fork('run') }),
  );
  const report = result ? buildReport(options, result) : buildEmptyReport(options, test);
  return withVoice(report, voice, options);
}

async function runRequests(test: RequestTest): Promise<CompletedRun> {
  const { options, plan, startedAtMs, agentVersion, random, warmUp } = test;
  const { clock, sandbox, ca, connection, validateResponse, onTick, signal } = options;
  const traffic = trafficOf(test);
  const completed = { plan, startedAtMs, agentVersion, traffic, warmUp };
  const redact = createRedactor(secretsOf(connection, options.apiKey));
  const parts: RequestRunParts = { clock, traffic, plan, validateResponse, redact, onTick, signal };
  if (isClosedLoop(plan)) {
    const { connections } = plan;
    const tls = tlsOptionsOf(ca, connection);
    const requests = await runClosed({ ...parts, target: sandbox, tls, connections });
    return { ...completed, engine: AUTOCANNON_NAME, requests };
  }
  const transport = createOpenTransport({ target: sandbox, clock, ca, connection });
  try {
    const requests = await runPaced({
      ...parts,
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

/** Searches for the most concurrent calls; each step places its own calls. */
async function searchMaxCalls(test: LoadTest, { stepMs }: { stepMs: number }): Promise<LoadReport> {
  const { options, plan, random } = test;
  let steps = 0;
  const { maxCalls, report, unknownReason } = await findMaxCalls({
    callsMax: plan.calls ?? CALLS_MAX,
    runWith: async (calls, length) => {
      if (isStopped(options.signal)) return undefined;
      const onTick: LoadRun['onTick'] = (live) => options.onTick({ ...live, search: { calls } });
      const step = await loadCalls({
        ...test,
        options: { ...options, onTick },
        plan: { ...plan, calls, windowMs: length === 'step' ? stepMs : plan.windowMs },
        random: random.fork(`step ${steps++}`),
      });
      return { ...step, wasInterrupted: isStopped(options.signal) };
    },
  });
  if (report) return withSearchResult(report, 'findMaxCalls', maxCalls, options, unknownReason);
  return { ...buildBlockedReport(options, test, INTERRUPTED), findMaxCalls: maxCalls };
}

/** Maximum ramp-up before each step, in which requests in flight reach their level. */
const STEP_RAMP_MS_MAX = 3_000;
const PROBE_CONNECTIONS = 20;
const PROBE_MS_MAX = 5_000;

/** Searches for the highest rate, from a closed loop that shows how fast the sandbox can be. */
async function searchMaxRate(
  test: RequestTest,
  { stepMs }: { stepMs: number },
): Promise<LoadReport> {
  const { options, plan, random } = test;
  const rampMs = Math.min(STEP_RAMP_MS_MAX, stepMs / 4);
  const probe = trafficOf({ ...test, random: random.fork('probe') });
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
      return runRequests({
        ...test,
        options: { ...options, onTick },
        plan: { ...plan, ratePerSecond: perSecond, windowMs, rampMs, warmUpMs: 0 },
        random: random.fork(`step ${steps++}`),
      });
    },
  });
  if (run) return withSearchResult(buildReport(options, run), 'findMax', maxRate, options);
  return { ...buildBlockedReport(options, test, INTERRUPTED), findMax: maxRate };
}

/** A function, because the compiler assumes that the state of a signal does not change. */
const isStopped = (signal: AbortSignal): boolean => signal.aborted;

/** Why a run that was interrupted has no measurements. */
const INTERRUPTED = { message: 'The run was interrupted.', cure: 'Run it again.' };

const interruptedDuring = (phase: 'warm-up' | 'ramp-up'): LoadBlocker => ({
  ...INTERRUPTED,
  message: `The run was interrupted during the ${phase}, before anything was measured.`,
});

function trafficOf({
  options,
  plan: { ratePerSecond },
  hasUsers,
  random,
}: Omit<RequestTest, 'warmUp'>): Traffic {
  const { profile, simulatedUsers, apiKey, connection, lines, shard } = options;
  return createTraffic({
    profile,
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
