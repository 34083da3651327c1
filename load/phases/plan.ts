import type { LoadPlan } from '../../src/contract/index.ts';
import type { LoadSettings } from '../load-run.ts';
import { CONNECTIONS, REQUESTS_MAX } from '../options.ts';
import { THINK_MS } from '../profiles/conversation.ts';
import { backgroundLoads, profiles } from '../profiles/profiles.ts';
import { requestsIn, type Stretch } from '../schedule/due-times.ts';
import { CALLS_PERCENTILE } from '../verdict/voice.ts';

const WARM_UP_MS_MAX = 10_000;
/** The ramp-up starts at this share of the rate. */
const RAMP_FROM = 0.1;
/** Approximate number of requests in the preflight. */
const PREFLIGHT = { requests: 5, modelCalls: 2 };
/** The approximate duration of a turn of a call with its response. */
export const TURN_MS = 5_000;

/** Plans a run before its first request. */
export function planLoad(options: LoadSettings): LoadPlan {
  if (options.engine === 'autocannon') return planClosedLoop(options);
  const requests = planRequests(options);
  const { voice, windowMs } = options;
  if (!voice) return requests;
  const { calls, callsPerSecond, network } = voice;
  const talkMs = calls * (requests.rampMs + windowMs + (calls * 1_000) / callsPerSecond / 2);
  // Each call counts as a request, and each of its turns reaches a model.
  return {
    ...requests,
    calls,
    callsPerSecond,
    ...(network && { network }),
    requests: calls + requests.requests,
    modelCalls: Math.ceil(talkMs / TURN_MS) + requests.modelCalls,
  };
}

function planRequests(options: LoadSettings): LoadPlan {
  const { profile, simulatedUsers, windowMs } = options;
  const { main, background = [], hasSimulatedUsers } = profiles[profile];
  // Calls have their own ramp-up and no request rate.
  const rate = main ? options.ratePerSecond : 0;
  const leadMs = main ? leadMsOf(options) : 0;
  const rampMs = Math.round(leadMs / 2);
  const warmUpMs = Math.round(leadMs) - rampMs;
  const stretches = stretchesOf(rate, rampMs, windowMs);
  const scheduled = stretches.reduce((sum, stretch) => sum + requestsIn(stretch), 0);
  const warmUp = Math.ceil((warmUpMs / 1000) * rate);
  const spanS = (rampMs + windowMs) / 1000;
  const backgroundPerSecond = background
    .map((stream) => backgroundLoads[stream])
    .reduce((sum, { perSecond, requestsEach }) => sum + perSecond * requestsEach, 0);
  const sent = hasSimulatedUsers ? (simulatedUsers * spanS * 1000) / THINK_MS : scheduled;
  const modelCalls = main === 'chat' ? sent + warmUp + PREFLIGHT.modelCalls : 0;
  return {
    engine: options.engine,
    profile,
    arrivals: options.arrivals,
    ratePerSecond: rate,
    ...(hasSimulatedUsers && { simulatedUsers }),
    windowMs,
    warmUpMs,
    rampMs,
    percentile: main ? options.percentile : CALLS_PERCENTILE,
    requests: Math.ceil(sent + warmUp + spanS * backgroundPerSecond + PREFLIGHT.requests),
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
    engine,
    profile,
    arrivals,
    connections,
    ratePerSecond: 0,
    windowMs,
    warmUpMs: Math.round(leadMsOf(options)),
    rampMs: 0,
    percentile,
    requests: REQUESTS_MAX,
    modelCalls: REQUESTS_MAX,
  };
}

/** Returns the ramp-up and the steady state at a rate. */
export function stretchesOf(perSecond: number, rampMs: number, windowMs: number): Stretch[] {
  return [
    { durationMs: rampMs, fromPerSecond: perSecond * RAMP_FROM, toPerSecond: perSecond },
    { durationMs: windowMs, fromPerSecond: perSecond, toPerSecond: perSecond },
  ];
}
