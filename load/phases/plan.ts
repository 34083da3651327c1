import type { LoadPlan } from '../../src/contract/index.ts';
import type { LoadOptions } from '../options.ts';
import {
  HEALTH_BESIDE_PER_SECOND,
  THINK_MS,
  USERS_BESIDE_PER_SECOND,
} from '../profiles/profile.ts';
import { countOf, type Stretch } from '../schedule/due-times.ts';

/** What decides how many requests a run sends. */
export type Planned = Pick<
  LoadOptions,
  | 'engine'
  | 'profile'
  | 'arrivals'
  | 'ratePerSecond'
  | 'simulatedUsers'
  | 'windowMs'
  | 'warmUpMs'
  | 'percentile'
  | 'voice'
>;

/** Connections of the closed-loop warm-up. */
export const WARM_UP_CONNECTIONS = 10;
const WARM_UP_MS_MAX = 10_000;
/** The ramp begins at this share of the rate. */
const RAMP_FROM = 0.1;
/** Requests of the preflight, about. */
const PREFLIGHT = { requests: 5, modelCalls: 2 };

/** The plan of a run: fixed before the first request. */
export function planOf(given: Planned): LoadPlan {
  const requests = planOfRequests(given);
  const { voice, windowMs, profile } = given;
  if (!voice) return requests;
  const { calls, callsPerSecond } = voice;
  const talkMs = calls * (requests.rampMs + windowMs + (calls * 1_000) / callsPerSecond / 2);
  // Each call is asked for, and each turn of it reaches a model.
  return {
    ...requests,
    ...(profile === 'voice' ? VOICE_ALONE : {}),
    calls,
    callsPerSecond,
    requests: calls + (profile === 'voice' ? PREFLIGHT.requests : requests.requests),
    modelCalls: Math.ceil(talkMs / TURN_MS) + (profile === 'voice' ? 0 : requests.modelCalls),
  };
}

/** A turn of a call, with its answer, takes about so long. */
const TURN_MS = 5_000;
/** Calls have a ramp of their own, and no rate. */
const VOICE_ALONE = { ratePerSecond: 0, warmUpMs: 0, rampMs: 0, percentile: 95 };

function planOfRequests(given: Planned): LoadPlan {
  const { profile, ratePerSecond: rate, simulatedUsers, windowMs } = given;
  const before = given.warmUpMs ?? Math.min(WARM_UP_MS_MAX, windowMs / 6);
  // Users who wait for answers need no ramp but their own.
  const rampMs = Math.round(before / 2);
  const warmUpMs = Math.round(before) - rampMs;
  const stretches = stretchesOf(rate, rampMs, windowMs);
  const main = stretches.reduce((sum, stretch) => sum + countOf(stretch), 0);
  // autocannon sends what a second allows at the beginning of it.
  const warmUp = Math.ceil(warmUpMs / 1000) * rate;
  const spanS = (rampMs + windowMs) / 1000;
  const besideChat = spanS * (HEALTH_BESIDE_PER_SECOND + 2 * USERS_BESIDE_PER_SECOND);
  const beside = {
    chat: 0,
    conversation: 0,
    health: 0,
    voice: 0,
    mixed: besideChat,
    all: besideChat,
  }[profile];
  const closed = (simulatedUsers * spanS * 1000) / THINK_MS;
  const paced = profile === 'conversation' ? closed : main;
  const models = profile === 'health' ? 0 : paced + warmUp + PREFLIGHT.modelCalls;
  return {
    engine: given.engine,
    profile,
    arrivals: given.arrivals,
    ratePerSecond: rate,
    ...(profile === 'conversation' ? { simulatedUsers } : {}),
    windowMs,
    warmUpMs,
    rampMs,
    percentile: given.percentile,
    requests: Math.ceil(paced + warmUp + beside + PREFLIGHT.requests),
    modelCalls: Math.ceil(models),
  };
}

/** The ramp and the judged window at a rate. */
export function stretchesOf(perSecond: number, rampMs: number, windowMs: number): Stretch[] {
  return [
    { durationMs: rampMs, fromPerSecond: perSecond * RAMP_FROM, toPerSecond: perSecond },
    { durationMs: windowMs, fromPerSecond: perSecond, toPerSecond: perSecond },
  ];
}
