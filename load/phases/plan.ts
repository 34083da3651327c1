import type { LoadPlan } from '../../src/contract/index.ts';
import type { LoadSettings } from '../load-run.ts';
import { CONNECTIONS, REQUESTS_MAX } from '../options.ts';
import { THINK_MS } from '../profiles/conversation.ts';
import { BACKGROUND_HEALTH_PER_SECOND, BACKGROUND_USERS_PER_SECOND } from '../profiles/profile.ts';
import { sourcesOf } from '../profiles/sources.ts';
import { requestsIn, type Stretch } from '../schedule/due-times.ts';
import { CALLS_PERCENTILE } from '../verdict/voice.ts';

const WARM_UP_MS_MAX = 10_000;
/** The ramp-up starts at this share of the rate. */
const RAMP_FROM = 0.1;
/** Approximate number of requests in the preflight. */
const PREFLIGHT = { requests: 5, modelCalls: 2 };

/** Plans a run before its first request. */
export function planLoad(options: LoadSettings): LoadPlan {
  if (options.engine === 'autocannon') return planClosedLoop(options);
  const requests = planRequests(options);
  const { voice, windowMs, profile } = options;
  if (!voice) return requests;
  const { calls, callsPerSecond, network } = voice;
  const talkMs = calls * (requests.rampMs + windowMs + (calls * 1_000) / callsPerSecond / 2);
  // Each call counts as a request, and each of its turns reaches a model.
  return {
    ...requests,
    ...(profile === 'voice' ? VOICE_ONLY : {}),
    calls,
    callsPerSecond,
    ...(network && { network }),
    requests: calls + (profile === 'voice' ? PREFLIGHT.requests : requests.requests),
    modelCalls: Math.ceil(talkMs / TURN_MS) + (profile === 'voice' ? 0 : requests.modelCalls),
  };
}

/** The approximate duration of a turn of a call with its response. */
export const TURN_MS = 5_000;
/** Calls have their own ramp-up and no request rate. */
const VOICE_ONLY = { ratePerSecond: 0, warmUpMs: 0, rampMs: 0, percentile: CALLS_PERCENTILE };

function planRequests(options: LoadSettings): LoadPlan {
  const { profile, ratePerSecond: rate, simulatedUsers, windowMs } = options;
  const leadMs = leadMsOf(options);
  const rampMs = Math.round(leadMs / 2);
  const warmUpMs = Math.round(leadMs) - rampMs;
  const stretches = stretchesOf(rate, rampMs, windowMs);
  const main = stretches.reduce((sum, stretch) => sum + requestsIn(stretch), 0);
  const warmUp = Math.ceil((warmUpMs / 1000) * rate);
  const spanS = (rampMs + windowMs) / 1000;
  // A profile with users has health requests in the background, too; users are also deleted.
  const background = sourcesOf[profile].includes('users')
    ? spanS * (BACKGROUND_HEALTH_PER_SECOND + 2 * BACKGROUND_USERS_PER_SECOND)
    : 0;
  const closed = (simulatedUsers * spanS * 1000) / THINK_MS;
  const paced = profile === 'conversation' ? closed : main;
  const modelCalls = profile === 'health' ? 0 : paced + warmUp + PREFLIGHT.modelCalls;
  return {
    engine: options.engine,
    profile,
    arrivals: options.arrivals,
    ratePerSecond: rate,
    ...(profile === 'conversation' ? { simulatedUsers } : {}),
    windowMs,
    warmUpMs,
    rampMs,
    percentile: options.percentile,
    requests: Math.ceil(paced + warmUp + background + PREFLIGHT.requests),
    modelCalls: Math.ceil(modelCalls),
  };
}

/** Returns the duration of warm-up and ramp-up together. */
const leadMsOf = ({ warmUpMs, windowMs }: LoadSettings): number =>
  warmUpMs ?? Math.min(WARM_UP_MS_MAX, windowMs / 6);

/** Plans a closed loop: the sandbox decides how many requests it sends, up to the most of a run. */
function planClosedLoop(options: LoadSettings): LoadPlan {
  const { engine, profile, arrivals, windowMs, percentile } = options;
  const { connections = CONNECTIONS } = options;
  return {
    ...{ engine, profile, arrivals, connections, ratePerSecond: 0, windowMs },
    ...{ warmUpMs: Math.round(leadMsOf(options)), rampMs: 0, percentile },
    ...{ requests: REQUESTS_MAX, modelCalls: REQUESTS_MAX },
  };
}

/** Returns the ramp-up and the steady state at a rate. */
export function stretchesOf(perSecond: number, rampMs: number, windowMs: number): Stretch[] {
  return [
    { durationMs: rampMs, fromPerSecond: perSecond * RAMP_FROM, toPerSecond: perSecond },
    { durationMs: windowMs, fromPerSecond: perSecond, toPerSecond: perSecond },
  ];
}
