import type { LoadReport } from '../../contract/index.ts';
import type { planOf } from '../../../load/index.ts';
import type { LoadFlags } from '../flags/load-flags.ts';
import { voicePlanOf } from './load-voice-plan.ts';
import { UsageError } from '../flags/usage-error.ts';

type Plan = LoadReport['plan'];
type Planned = Parameters<typeof planOf>[0];

const WINDOW_MS = 300_000;
const QUICK_WINDOW_MS = 60_000;
const RATE = 100;
const HEALTH_RATE = 10;
/** Users who wait for answers ask a little less often than once a second. */
const USERS_A_REQUEST = 1.25;
/** Off this machine, more requests than these that reach a model are sent only with --yes. */
const MODEL_CALLS_UNASKED = 1_000;
const REQUESTS_MAX = 5_000_000;
const STEP_MS = 20_000;
/** From 10 requests a second by half to 2000, then five times between: the sum of the rates. */
const RATES_OF_A_SEARCH = 12_000;

/** What the flags plan, with what they leave out. */
export function plannedOf(given: LoadFlags): Planned & { findMax?: { stepMs: number } } {
  refuseContradictions(given);
  const { users, duration, engine, arrivals, percentile } = given;
  const search = given['find-max'];
  const profile = given.profile ?? (search ? 'chat' : 'mixed');
  const ratePerSecond = given.rate ?? (profile === 'health' ? HEALTH_RATE : RATE);
  const voice = voicePlanOf(given);
  const short = given.quick || search || voice !== undefined;
  return {
    engine,
    profile,
    arrivals,
    ratePerSecond,
    simulatedUsers: users ?? Math.ceil(ratePerSecond * USERS_A_REQUEST),
    windowMs: duration ?? (short ? QUICK_WINDOW_MS : WINDOW_MS),
    warmUpMs: given['warm-up'],
    percentile,
    ...(voice ? { voice } : {}),
    ...(search ? { findMax: { stepMs: given.step ?? STEP_MS } } : {}),
  };
}

function refuseContradictions(given: LoadFlags): void {
  const search = given['find-max'];
  const wrong = (flag: string, why: string): never => {
    throw new UsageError(`--${flag}: expected ${why}`);
  };
  if (given.quick && given.duration !== undefined) {
    wrong('quick', 'without --duration, which says the same');
  }
  if (given.users !== undefined && given.profile !== 'conversation') {
    wrong('users', 'only together with --profile conversation');
  }
  if (given.step !== undefined && !search) wrong('step', 'only together with --find-max');
  if (search && given.rate !== undefined) {
    throw new UsageError('--find-max looks for the rate itself: leave --rate out');
  }
  if (search && given.profile !== undefined && given.profile !== 'chat') {
    wrong('profile', 'chat together with --find-max');
  }
}

/** What a run sends at most. */
export interface Size {
  requests: number;
  modelCalls: number;
}

/** How many requests a run sends, about; a search at most. */
export function sizeOf(plan: Plan, findMax: { stepMs: number } | undefined): Size {
  if (!findMax) return plan;
  const requests = Math.ceil((RATES_OF_A_SEARCH * (findMax.stepMs + plan.windowMs / 6)) / 1000);
  return { requests, modelCalls: requests };
}

/**
 * Refuses a run that is larger than anybody means, or that costs somebody money unasked.
 *
 * @throws {UsageError} that says how many requests it would be.
 */
export function refuseTooMuch({ yes, url }: LoadFlags, size: Size, onLoopback: boolean): void {
  const { requests, modelCalls } = size;
  if (requests > REQUESTS_MAX) {
    throw new UsageError(
      `--duration: expected a run of at most ${REQUESTS_MAX} requests, got one of ${requests}`,
    );
  }
  if (yes || onLoopback || modelCalls <= MODEL_CALLS_UNASKED) return;
  throw new UsageError(
    `This would send up to ${requests} requests to ${new URL(url).host}, ${modelCalls} of which reach a model and may cost money: say --yes to send them`,
  );
}

/** What a run is going to send, in one sentence. */
export function planSentence(
  plan: Plan,
  size: Size,
  findMax: { stepMs: number } | undefined,
): string {
  const { profile, engine, ratePerSecond, windowMs, warmUpMs, rampMs, simulatedUsers } = plan;
  const { calls, callsPerSecond } = plan;
  if (findMax) {
    return `Looks for the rate that is held, by steps of ${findMax.stepMs / 1000} s and ${windowMs / 1000} s to confirm it: ${size.requests} requests at most, all of which reach a model (engine ${engine}).`;
  }
  if (profile === 'voice') {
    return `Places ${calls} calls, ${callsPerSecond} a second, and holds them for ${windowMs / 1000} s: about ${size.modelCalls} turns, all of which reach a model (profile voice).`;
  }
  const beside = calls === undefined ? '' : `, beside ${calls} calls`;
  const what =
    simulatedUsers === undefined
      ? `${ratePerSecond} requests a second`
      : `${simulatedUsers} users who talk`;
  const before = ((warmUpMs + rampMs) / 1000).toFixed(1);
  return `Sends about ${size.requests} requests, ${size.modelCalls} of which reach a model: ${what}${beside} for ${windowMs / 1000} s after ${before} s of warm-up and ramp (profile ${profile}, engine ${engine}).`;
}
