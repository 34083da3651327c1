import type { LoadPlan, LoadReport, WarmUp } from '../src/contract/index.ts';
import { seededRandom, type Random } from '../src/platform/random.ts';
import { autocannonTransport } from './engines/autocannon.ts';
import { closedLoop, type ClosedLoopFigures } from './engines/closed-loop.ts';
import { openTransport } from './engines/open.ts';
import { findMax, planAt, RATE_MAX } from './find-max/find-max.ts';
import type { LiveFigures, LoadOptions } from './options.ts';
import { pacedRun } from './phases/paced-run.ts';
import { planOf, WARM_UP_CONNECTIONS } from './phases/plan.ts';
import { profileOf, type Profile } from './profiles/profile.ts';
import { reportOf, reportBlocked, reportOfNothing, type ReportedRun } from './report/report.ts';
import { withVoice } from './report/with-voice.ts';
import { GENERATOR_LIMITS } from './self-check/self-check.ts';
import { waitForWindow, runCalls } from './voice/voice-run.ts';
import { withMaxRate } from './report/max-rate.ts';

/**
 * Loads a sandbox and says whether it holds its targets. Rejects only for faults of the kit: whatever
 * a sandbox does is in the report.
 */
export async function load(options: LoadOptions): Promise<LoadReport> {
  const { clock, onTick, signal, seed } = options;
  const startedAtMs = clock.nowMs();
  const plan = planOf(options);
  const totalMs = plan.windowMs + plan.warmUpMs + plan.rampMs;
  onTick(begins('preflight', totalMs));
  const found = await options.preflight(signal);
  if (found.blockedBy) return reportBlocked(options, { plan, startedAtMs }, found.blockedBy);
  const chance = seededRandom(seed);
  if (plan.profile === 'voice') return calledAlone(options, { plan, startedAtMs }, chance);
  onTick(begins('warm-up', totalMs));
  const warmUp = await warmedUp(options, plan, profileFor(options, plan, found.hasUsers, chance));
  const parts = { options, startedAtMs, warmUp, hasUsers: found.hasUsers };
  if (options.findMax) return searched(parts, plan, chance);
  if (plan.calls === undefined)
    return reportOf(options, await runOf(parts, plan, chance.fork('run')));
  return calledBeside(parts, plan, chance);
}

/** Calls and nothing else. */
async function calledAlone(
  options: LoadOptions,
  run: { plan: LoadPlan; startedAtMs: number },
  chance: Random,
): Promise<LoadReport> {
  const { plan } = run;
  const parts = { options, plan, chance: chance.fork('voice') };
  const { voice } = await runCalls(parts, waitForWindow(options, plan.windowMs));
  return withVoice(reportOfNothing(options, run), voice, options);
}

/** Requests while all calls are up: the window of the calls begins with the ramp of the requests. */
async function calledBeside(
  { options, ...parts }: RunParts,
  plan: LoadPlan,
  chance: Random,
): Promise<LoadReport> {
  const { voice, result } = await runCalls(
    { options, plan, chance: chance.fork('voice') },
    (signal) => runOf({ ...parts, options: { ...options, signal } }, plan, chance.fork('run')),
  );
  const { startedAtMs } = parts;
  const report = result
    ? reportOf(options, result)
    : reportOfNothing(options, { plan, startedAtMs });
  return withVoice(report, voice, options);
}

/** What all paced runs of a load share. */
interface RunParts {
  options: LoadOptions;
  startedAtMs: number;
  warmUp: WarmUp | undefined;
  hasUsers: boolean;
}

async function runOf(parts: RunParts, plan: LoadPlan, chance: Random): Promise<ReportedRun> {
  const { options, startedAtMs, warmUp, hasUsers } = parts;
  const { clock, sandbox, ca, judge, onTick, signal } = options;
  const profile = profileFor(options, plan, hasUsers, chance);
  const transport =
    plan.engine === 'open'
      ? openTransport({ target: sandbox, clock, ca })
      : autocannonTransport({ target: sandbox, clock, connections: mostInFlight(profile) });
  try {
    const paced = await pacedRun({
      clock,
      chance,
      transport,
      profile,
      plan,
      judge,
      onTick,
      signal,
    });
    return { plan, startedAtMs, engine: transport.name, profile, warmUp, paced };
  } finally {
    await transport.close();
  }
}

/** Milliseconds of ramp before each step: what a sandbox has in flight builds up. */
const STEP_RAMP_MS_MAX = 3_000;
const PROBE_CONNECTIONS = 20;
const PROBE_MS_MAX = 5_000;

async function searched(parts: RunParts, plan: LoadPlan, chance: Random): Promise<LoadReport> {
  const { options } = parts;
  const { stepMs = 0 } = options.findMax ?? {};
  const rampMs = Math.min(STEP_RAMP_MS_MAX, stepMs / 4);
  const probe = profileFor(options, plan, parts.hasUsers, chance.fork('probe'));
  const probed = await looped(options, probe, {
    connections: PROBE_CONNECTIONS,
    durationMs: Math.min(PROBE_MS_MAX, stepMs),
    perSecondMax: RATE_MAX,
  });
  let nth = 0;
  const { maxRate, run } = await findMax({
    probePerSecond: probed?.perSecond ?? 0,
    limits: options.generatorLimits ?? GENERATOR_LIMITS,
    runAt: async (perSecond, length) => {
      if (options.signal.aborted) return undefined;
      const windowMs = length === 'step' ? stepMs : plan.windowMs;
      return runOf(parts, planAt(plan, perSecond, windowMs, rampMs), chance.fork(`step ${nth++}`));
    },
  });
  if (run) return withMaxRate(reportOf(options, run), maxRate, options);
  const blockedBy = { message: 'The run was interrupted.', cure: 'Run it again.' };
  return {
    ...reportBlocked(options, { plan, startedAtMs: parts.startedAtMs }, blockedBy),
    findMax: maxRate,
  };
}

function profileFor(
  { profile: name, simulatedUsers, apiKey, lines }: LoadOptions,
  { ratePerSecond }: LoadPlan,
  hasUsers: boolean,
  chance: Random,
): Profile {
  return profileOf({
    name,
    ratePerSecond,
    simulatedUsers,
    apiKey,
    hasUsers,
    lines,
    chance: chance.fork('profile'),
  });
}

/** Longer than any deadline: so many are in flight where nothing is answered. */
const IN_FLIGHT_S = 16;
const CONNECTIONS_MAX = 5_000;

/** Connections that autocannon needs, so that no request ever waits for one. */
function mostInFlight({ open, users }: Profile): number {
  const perSecond = open.reduce((sum, stream) => sum + stream.perSecond, 0);
  const most = Math.ceil(perSecond * IN_FLIGHT_S) + users.length;
  return Math.min(CONNECTIONS_MAX, Math.max(1, most));
}

function begins(phase: LiveFigures['phase'], leftMs: number): LiveFigures {
  return { phase, perSecond: 0, inFlight: 0, p50Ms: null, p99Ms: null, errors: 0, leftMs };
}

/** A closed loop asks a slow sandbox less, and so warms it up gently. */
async function warmedUp(
  options: LoadOptions,
  { warmUpMs, ratePerSecond }: LoadPlan,
  profile: Profile,
): Promise<WarmUp | undefined> {
  const perSecondMax = Math.max(1, Math.floor(ratePerSecond));
  const came = await looped(options, profile, {
    connections: Math.min(WARM_UP_CONNECTIONS, perSecondMax),
    durationMs: warmUpMs,
    perSecondMax,
  });
  return (
    came && {
      connections: came.connections,
      requests: came.answers,
      errors: came.errors,
      p50Ms: came.p50Ms,
    }
  );
}

/** Shorter than this a closed loop shows nothing. */
const LOOP_MS_MIN = 100;

async function looped(
  { sandbox, signal }: LoadOptions,
  { open, users, main }: Profile,
  bounds: { connections: number; durationMs: number; perSecondMax: number },
): Promise<ClosedLoopFigures | undefined> {
  const shot = open.find(({ stream }) => stream === main)?.shot ?? users[0];
  if (!shot || bounds.durationMs < LOOP_MS_MIN || signal.aborted) return undefined;
  return closedLoop({ target: sandbox, ...bounds, next: () => shot().outgoing, signal });
}
