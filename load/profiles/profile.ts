import {
  HEALTH_TIMEOUT_MS,
  type LoadProfileName,
  type StreamName,
} from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { createTraceparent, TRACEPARENT } from '../../src/platform/trace-context.ts';
import { createPositions, WHOLE_RUN, type Shard } from '../schedule/shard.ts';
import { chatRequest, openingMessage, type ChatContent } from './chat-request.ts';
import { conversationRequest } from './conversation.ts';
import { createMarkers, type Markers } from './markers.ts';
import type { PlannedRequest } from './planned-request.ts';
import { createUserRequest } from './user-requests.ts';

/** Returns the additional headers of a request by its name. `traceparent` is one of them. */
export type CreateHeaders = (name: string) => Readonly<Record<string, string>>;

/** The traffic of a load test: streams at a fixed rate, simulated users, or both. */
export interface Profile {
  /** The stream that the charts show. */
  main: StreamName;
  streams: readonly StreamName[];
  /** Streams that keep their rate even if the sandbox is slow. */
  open: readonly { stream: StreamName; perSecond: number; nextRequest: () => PlannedRequest }[];
  /** The first request of each simulated user of the whole run; the others follow it. */
  users: readonly (() => PlannedRequest)[];
  markers: Markers;
  createHeaders: CreateHeaders;
}

/** Options of a profile. */
export interface ProfileOptions {
  name: LoadProfileName;
  ratePerSecond: number;
  /** For the profile `conversation`. */
  simulatedUsers: number;
  apiKey: string | undefined;
  /** Additional headers of every request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Whether the sandbox has `/users`. */
  hasUsers: boolean;
  random: Random;
  /** Requests get the numbers, and so the ids, that they have in the whole run (default: all). */
  shard?: Shard | undefined;
  /** The messages of simulated users instead of the built-in ones. */
  lines?: ChatContent['lines'];
}

/** Health requests per second in addition to chat: in 60 s, enough responses to prove the target. */
export const BACKGROUND_HEALTH_PER_SECOND = 5;
/** Users created and deleted per second in addition to chat. */
export const BACKGROUND_USERS_PER_SECOND = 1;

/** Creates a profile. */
export function createProfile(options: ProfileOptions): Profile {
  const { name, ratePerSecond, simulatedUsers, apiKey, hasUsers, random, lines } = options;
  const { shard = WHOLE_RUN } = options;
  const markers = createMarkers(random.fork('tag').id(4));
  const headers: Record<string, string> =
    apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const content: ChatContent = { markers, headers, lines };
  const [nextConversation, nextUser, nextHealth] = [
    createPositions(shard),
    createPositions(shard),
    createPositions(shard),
  ];
  const chat = {
    stream: 'chat' as const,
    perSecond: ratePerSecond,
    nextRequest: () => {
      const index = nextConversation();
      return chatRequest(index, [openingMessage(index, content)], content);
    },
  };
  const health = {
    stream: 'health' as const,
    perSecond: ratePerSecond,
    nextRequest: () => healthRequest(nextHealth()),
  };
  const userLifecycle = {
    stream: 'users' as const,
    perSecond: BACKGROUND_USERS_PER_SECOND,
    nextRequest: () =>
      createUserRequest(`sim_user_${markers.session(nextUser()).slice(3)}`, headers),
  };
  const traceSeed = random.fork('traces').id(16);
  const createHeaders: CreateHeaders = (name) => ({
    ...options.headers,
    [TRACEPARENT]: createTraceparent(traceSeed, name),
  });
  const base = { markers, users: [], createHeaders };
  switch (name) {
    case 'chat':
      return { ...base, main: 'chat', streams: ['chat'], open: [chat] };
    case 'health':
      return { ...base, main: 'health', streams: ['health'], open: [health] };
    case 'voice':
      return { ...base, main: 'chat', streams: [], open: [] };
    case 'all':
    case 'mixed': {
      const background = { ...health, perSecond: BACKGROUND_HEALTH_PER_SECOND };
      const open = hasUsers ? [chat, background, userLifecycle] : [chat, background];
      return { ...base, main: 'chat', streams: open.map(({ stream }) => stream), open };
    }
    case 'conversation': {
      const users = Array.from({ length: simulatedUsers }, (_, index) => {
        const userRandom = random.fork(`user ${index}`);
        return () => conversationRequest(content, userRandom, nextConversation);
      });
      return { ...base, main: 'chat', streams: ['chat'], open: [], users };
    }
  }
}

/** Builds a health request as the service sends it before each simulation: without a key. */
function healthRequest(index: number): PlannedRequest {
  return {
    stream: 'health',
    endpoint: 'health',
    name: `health ${index}`,
    outgoing: { method: 'GET', path: '/health', headers: { accept: 'application/json' } },
    deadlineMs: HEALTH_TIMEOUT_MS,
    markers: [],
  };
}
