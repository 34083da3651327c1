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
import { backgroundLoads, profiles } from './profiles.ts';
import { createUserRequest } from './user-requests.ts';

/** Returns the additional headers of a request by its name. `traceparent` is one of them. */
export type CreateHeaders = (name: string) => Readonly<Record<string, string>>;

/** The requests of a load test: streams at a fixed rate, simulated users, or both. */
export interface Traffic {
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

/** What the traffic of a run depends on. */
export interface TrafficOptions {
  profile: LoadProfileName;
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

/** Creates the traffic of a run that sends requests. */
export function createTraffic(options: TrafficOptions): Traffic {
  const { profile, ratePerSecond, simulatedUsers, apiKey, hasUsers, random, lines } = options;
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
  const nextRequests: Record<StreamName, () => PlannedRequest> = {
    chat() {
      const index = nextConversation();
      return chatRequest(index, [openingMessage(index, content)], content);
    },
    health: () => healthRequest(nextHealth()),
    users: () => createUserRequest(`sim_user_${markers.session(nextUser()).slice(3)}`, headers),
  };
  const { main, background = [], hasSimulatedUsers } = profiles[profile];
  if (!main) throw new Error(`The profile ${profile} sends no requests.`);
  const paced = [
    { stream: main, perSecond: ratePerSecond },
    ...background
      .filter((stream) => stream !== 'users' || hasUsers)
      .map((stream) => ({ stream, perSecond: backgroundLoads[stream].perSecond })),
  ].map((each) => ({ ...each, nextRequest: nextRequests[each.stream] }));
  const users = Array.from({ length: hasSimulatedUsers ? simulatedUsers : 0 }, (_, index) => {
    const userRandom = random.fork(`user ${index}`);
    return () => conversationRequest(content, userRandom, nextConversation);
  });
  const traceSeed = random.fork('traces').id(16);
  return {
    main,
    streams: paced.map(({ stream }) => stream),
    // Simulated users send the main stream.
    open: hasSimulatedUsers ? paced.slice(1) : paced,
    users,
    markers,
    createHeaders: (name) => ({
      ...options.headers,
      [TRACEPARENT]: createTraceparent(traceSeed, name),
    }),
  };
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
