/** Limits and conflicts of the options of `load`, and defaults that depend on several of them. */
import type { LoadOptions, LoadSettings, LoadSize } from '../load/index.ts';
import {
  CALLS,
  CALLS_PER_SECOND,
  HEALTH_RATE,
  loadOptions,
  placesCalls,
  profileNames,
  profiles,
  RATE,
  REQUESTS_MAX,
  sendsRequests,
} from '../load/options.ts';
import type { LoadPlan } from '../src/contract/index.ts';
import { withDefaults, type SpellOption } from '../src/options/table.ts';
import { findProxy, proxyHostOf } from '../src/platform/proxy.ts';
import { systemClock } from '../src/platform/clock.ts';
import {
  formatCount,
  formatDuration,
  formatNumber,
  formatSeconds,
} from '../src/report-kit/format.ts';
import { describeNetwork } from '../src/voice/line-impairment/network-presets.ts';
import { resolveCallTarget } from './call-target.ts';
import type { Load } from './packages.ts';
import type { Reject } from './rejection.ts';
import { findShardConflict, resolveShard } from './load-shard.ts';

const WINDOW_MS = 300_000;
export const SHORT_WINDOW_MS = 60_000;
const STEP_MS = 20_000;
/** A user waits for responses, and so sends a little less than one request per second. */
const USERS_PER_REQUEST = 1.25;
/** The packet records of all calls must fit into memory. */
const CALL_SECONDS_MAX = 60_000;

/** The options that determine the requests of a run. */
export type LoadChoices = Omit<LoadOptions, 'url'>;

export type { LoadSize };

/** The settings, the plan, and the size of a run. */
export interface PreparedLoad {
  settings: LoadSettings;
  plan: LoadPlan;
  /** The size of the run; for a search, an upper bound. */
  size: LoadSize;
}

/** Names the options of a load test. */
type Spell = SpellOption<keyof LoadOptions>;

/** Returns why options can't be combined, as a sentence; undefined if they can. */
export function findLoadConflict(options: LoadChoices, spell: Spell): string | undefined {
  const { profile, rate, findMax: isSearch = false } = options;
  const [rateName, findMaxName] = [spell('rate'), spell('findMax')];
  if (options.users !== undefined && !(profile && profiles[profile].hasSimulatedUsers)) {
    return `${spell('users')} needs ${listProfiles('hasSimulatedUsers', spell)}.`;
  }
  if (options.stepMs !== undefined && !isSearch) return `${spell('stepMs')} needs ${findMaxName}.`;
  if (isSearch && rate !== undefined) {
    return `${findMaxName} and ${rateName} can't be combined: ${findMaxName} chooses the rates.`;
  }
  if (isSearch && profile !== undefined && !profiles[profile].isSearchable) {
    return `${findMaxName} needs ${listProfiles('isSearchable', spell)}, got ${profile}.`;
  }
  if (isSearch && options.thresholds && options.thresholds.length > 0) {
    return `${findMaxName} and ${spell('thresholds')} can't be combined: the search uses the targets of the specification.`;
  }
  return (
    findEngineConflict(options, spell) ??
    findCallConflict(options, spell) ??
    findShardConflict(options, spell, systemClock.nowMs())
  );
}

/** Lists the profiles with a property: "--profile chat or --profile voice". */
const listProfiles = (
  property: 'hasSimulatedUsers' | 'hasCalls' | 'isSearchable',
  spell: Spell,
): string =>
  profileNames
    .filter((name) => profiles[name][property])
    .map((name) => `${spell('profile')} ${name}`)
    .join(' or ');

/** Returns why options can't be combined with the engine, as a sentence; undefined if they can. */
function findEngineConflict(options: LoadChoices, spell: Spell): string | undefined {
  const engine = `${spell('engine')} autocannon`;
  if (options.engine !== 'autocannon') {
    return options.connections === undefined
      ? undefined
      : `${spell('connections')} needs ${engine}.`;
  }
  const { profile = 'chat', arrivals, thresholds = [] } = options;
  if (profile !== 'chat') return `${engine} needs ${spell('profile')} chat, got ${profile}.`;
  const unused = [
    ...(['rate', 'findMax', 'shard'] as const).filter((name) => options[name]),
    ...(arrivals === 'poisson' ? (['arrivals'] as const) : []),
    ...(thresholds.length > 0 ? (['thresholds'] as const) : []),
  ];
  const [name] = unused;
  return (
    name &&
    `${spell(name)} can't be combined with ${engine}, which sends as many requests as the sandbox answers. Use ${spell('engine')} open.`
  );
}

function findCallConflict(options: LoadChoices, spell: Spell): string | undefined {
  const { profile, calls = CALLS, durationMs = SHORT_WINDOW_MS } = options;
  if (!placesCalls(profile)) {
    const names = ['calls', 'callsPerSecond', 'network', 'voice'] as const;
    const unused = names.find((name) => options[name] !== undefined);
    return unused && `${spell(unused)} needs ${listProfiles('hasCalls', spell)}.`;
  }
  if (profile && !sendsRequests(profile) && options.rate !== undefined) {
    return `${spell('rate')} can't be combined with ${spell('profile')} ${profile}. Use ${spell('calls')}.`;
  }
  if (options.findMax) {
    return options.calls === undefined
      ? undefined
      : `${spell('findMax')} and ${spell('calls')} can't be combined: ${spell('findMax')} chooses the number of calls.`;
  }
  const callSeconds = (calls * durationMs) / 1_000;
  if (callSeconds <= CALL_SECONDS_MAX) return undefined;
  return `${spell('calls')} times ${spell('durationMs')} must be at most ${CALL_SECONDS_MAX} s, got ${callSeconds} s.`;
}

/** Returns why autocannon can't reach the sandbox, as a sentence; undefined if it can. */
export function findProxyConflict(
  { url, engine, proxies }: Pick<LoadOptions, 'url' | 'engine' | 'proxies'>,
  spell: Spell,
  exceptions: string,
): string | undefined {
  const proxy = engine === 'autocannon' ? findProxy(url, proxies) : undefined;
  return (
    proxy &&
    `${spell('engine')} autocannon can't go through the proxy ${proxyHostOf(proxy)}. Use ${spell('engine')} open, or add ${new URL(url).hostname} to ${exceptions}.`
  );
}

/**
 * Returns the settings of a run with all defaults, and its plan. The options must not conflict. The
 * error of `reject` says which threshold is invalid, or can't be measured by the run.
 */
export function prepareOrReject(
  options: LoadChoices,
  loadPackage: Load,
  { spell, reject }: { spell: Spell; reject: Reject },
): PreparedLoad {
  try {
    return prepareLoad(options, loadPackage);
  } catch (error) {
    if (!(error instanceof loadPackage.ThresholdError)) throw error;
    throw reject(`${spell('thresholds')}: ${error.message}`, error);
  }
}

function prepareLoad(
  options: LoadChoices,
  { planLoad, sizeOfRun, parseThresholds, checkThresholds, CALLS_MAX: callsMax }: Load,
): PreparedLoad {
  const { findMax: isSearch, users, durationMs, ...others } = withDefaults(loadOptions, options);
  const isClosed = others.engine === 'autocannon';
  const profile = options.profile ?? (isSearch || isClosed ? 'chat' : 'mixed');
  const ratePerSecond = options.rate ?? (profiles[profile].main === 'health' ? HEALTH_RATE : RATE);
  const hasCalls = placesCalls(profile);
  const { callsPerSecond = CALLS_PER_SECOND, network } = options;
  const thresholds = parseThresholds(options.thresholds ?? []);
  checkThresholds(thresholds, { profile, ratePerSecond });
  const windowMs = durationMs ?? (isSearch || isClosed || hasCalls ? SHORT_WINDOW_MS : WINDOW_MS);
  const calls = options.calls ?? (isSearch ? countCallsOfSearch(windowMs, callsMax) : CALLS);
  const settings: LoadSettings = {
    ...others,
    thresholds,
    profile,
    ratePerSecond,
    simulatedUsers: users ?? Math.ceil(ratePerSecond * USERS_PER_REQUEST),
    windowMs,
    voice: hasCalls
      ? { calls, callsPerSecond, network, ...resolveCallTarget(options.voice) }
      : undefined,
    shard: options.shard && resolveShard(options.shard),
    findMax: isSearch ? { stepMs: options.stepMs ?? STEP_MS } : undefined,
  };
  const plan = planLoad(settings);
  return { settings, plan, size: sizeOfRun(plan, settings.findMax) };
}

/** Returns the most calls that a search tries: their packet records must fit into memory. */
const countCallsOfSearch = (windowMs: number, callsMax: number): number =>
  Math.max(1, Math.min(callsMax, Math.floor((CALL_SECONDS_MAX * 1_000) / windowMs)));

/** Returns why a run is too large, as a sentence; undefined if it is not. */
export function findSizeProblem({ requests }: LoadSize, spell: Spell): string | undefined {
  if (requests <= REQUESTS_MAX) return undefined;
  return `A run can send at most ${REQUESTS_MAX} requests, but this one would send ${requests}. Reduce ${spell('rate')} or ${spell('durationMs')}.`;
}

/** Returns what a run will send, in one sentence. */
export function describeLoadPlan(prepared: PreparedLoad): string {
  const { plan, settings } = prepared;
  if (settings.findMax) return describeSearch(prepared, settings.findMax);
  if (plan.connections !== undefined) return describeClosedLoop(plan, plan.connections);
  if (!sendsRequests(plan.profile)) return describeCalls(prepared);
  return describeRequests(prepared);
}

function describeSearch(
  { plan, size }: PreparedLoad,
  { stepMs }: NonNullable<LoadSettings['findMax']>,
): string {
  const steps = `in steps of ${formatDuration(stepMs)}`;
  const window = formatDuration(plan.windowMs);
  if (!sendsRequests(plan.profile)) {
    return `Searches for the most concurrent calls ${steps}, and confirms them for ${window}: at most ${formatCount(plan.calls ?? 0, 'call')}. All calls reach a model.${describeCallNetwork(plan)}`;
  }
  return `Searches for the highest rate ${steps}, and confirms it for ${window}: at most ${formatCount(size.requests, 'request')}. All requests reach a model (engine ${plan.engine}).`;
}

function describeClosedLoop(plan: LoadPlan, connections: number): string {
  const { profile, engine, windowMs, warmUpMs } = plan;
  return `Sends as many requests as ${formatCount(connections, 'connection')} can in ${formatDuration(windowMs)}, each after the response to the one before, after ${formatSeconds(warmUpMs, 1)} of warm-up. All requests reach a model (profile ${profile}, engine ${engine}).`;
}

function describeCalls({ plan, size }: PreparedLoad): string {
  const calls = formatCount(plan.calls ?? 0, 'call');
  return `Holds ${calls} for ${formatDuration(plan.windowMs)}, placed at ${plan.callsPerSecond} per second: about ${formatCount(size.modelCalls, 'turn')}. All turns reach a model (profile ${plan.profile}).${describeCallNetwork(plan)}`;
}

function describeRequests({ plan, size, settings: { shard } }: PreparedLoad): string {
  const { profile, engine, ratePerSecond, simulatedUsers, calls } = plan;
  const traffic =
    simulatedUsers === undefined
      ? `${ratePerSecond} ${ratePerSecond === 1 ? 'request' : 'requests'} per second`
      : formatCount(simulatedUsers, 'simulated user');
  const withCalls = calls === undefined ? '' : ` and ${formatCount(calls, 'call')}`;
  const before = formatSeconds(plan.warmUpMs + plan.rampMs, 1);
  const part = shard ? `shard ${shard.index}/${shard.count} of ` : '';
  const reach = size.modelCalls === 1 ? 'reaches' : 'reach';
  return `Sends ${part}about ${formatCount(size.requests, 'request')}, ${formatNumber(size.modelCalls)} of which ${reach} a model: ${traffic}${withCalls} for ${formatDuration(plan.windowMs)}, after ${before} of warm-up and ramp-up (profile ${profile}, engine ${engine}).`;
}

const describeCallNetwork = ({ network }: LoadPlan): string =>
  network === undefined ? '' : ` The calls go over the network ${describeNetwork(network)}.`;
