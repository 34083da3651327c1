import type { LoadProfileName, StreamName } from '../../src/contract/index.ts';

/** A part of the traffic: a stream of requests, or the calls. */
export type Source = StreamName | 'voice';

/** The traffic of each profile. A run leaves `users` out if the sandbox has no `/users`. */
export const sourcesOf: Readonly<Record<LoadProfileName, readonly Source[]>> = {
  chat: ['chat'],
  conversation: ['chat'],
  health: ['health'],
  mixed: ['chat', 'health', 'users'],
  voice: ['voice'],
  all: ['chat', 'health', 'users', 'voice'],
};
