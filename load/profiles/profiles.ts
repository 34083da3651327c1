/** The profiles of a load test. Everything that depends on a profile follows from its row. */
import type { LoadProfileName, StreamName } from '../../src/contract/index.ts';

/** A part of the traffic: a stream of requests, or the calls. */
export type Source = StreamName | 'voice';

/** A stream that a profile sends in addition to its main one. */
export type BackgroundStream = Exclude<StreamName, 'chat'>;

/** What a profile sends. */
export interface ProfileRow {
  /** The traffic, for the help; absent if the name says it. */
  about?: string;
  /** The stream that has the planned rate and that the charts show; without one, no requests are sent. */
  main?: StreamName;
  /** A run leaves `users` out if the sandbox has no `/users`. */
  background?: readonly BackgroundStream[];
  /** Simulated users send the main stream: each waits for a response before the next request. */
  hasSimulatedUsers?: true;
  hasCalls?: true;
  /** A search can find the highest rate or, if there are no requests, the most calls. */
  isSearchable?: true;
}

/** The profiles, in the order of the help and of messages. */
export const profiles: Readonly<Record<LoadProfileName, ProfileRow>> = {
  chat: { main: 'chat', isSearchable: true },
  conversation: { main: 'chat', hasSimulatedUsers: true },
  health: { main: 'health' },
  mixed: { about: 'chat, health, and users', main: 'chat', background: ['health', 'users'] },
  voice: { hasCalls: true, isSearchable: true },
  all: { about: 'mixed and voice', main: 'chat', background: ['health', 'users'], hasCalls: true },
};

/** The names of the profiles, in the same order. */
export const profileNames = Object.keys(profiles) as [LoadProfileName, ...LoadProfileName[]];

/**
 * The load of each background stream: how often per second, and the requests each time. In 60 s,
 * health has enough responses to prove its target. A user is created and deleted.
 */
export const backgroundLoads: Readonly<
  Record<BackgroundStream, { perSecond: number; requestsEach: number }>
> = {
  health: { perSecond: 5, requestsEach: 1 },
  users: { perSecond: 1, requestsEach: 2 },
};

/** Returns whether runs with a profile send requests. */
export const sendsRequests = (profile: LoadProfileName): boolean =>
  profiles[profile].main !== undefined;

/** Returns whether runs with a profile place calls. */
export const placesCalls = (profile: LoadProfileName | undefined): boolean =>
  profile !== undefined && profiles[profile].hasCalls === true;

/** Returns the traffic of a profile, the main stream first. */
export function sourcesOf(profile: LoadProfileName): Source[] {
  const { main, background = [], hasCalls } = profiles[profile];
  return [...(main ? [main] : []), ...background, ...(hasCalls ? ['voice' as const] : [])];
}
