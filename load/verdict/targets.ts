import {
  AVAILABILITY_PERCENT_TARGET,
  CHAT_REQUESTS_PER_SECOND_TARGET,
  CHAT_RESPONSE_MS_TARGET,
  HEALTH_RESPONSE_MS_TARGET,
  VOICE_AUDIO_LATENCY_MS_TARGET,
  VOICE_CONNECTIONS_TARGET,
  type LoadTarget,
  type StreamName,
} from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { judgeAvailability, judgeSessions } from './availability.ts';
import { judgeLatency } from './latency.ts';
import type { RequestMeasurements } from './measurements.ts';
import type { Limit, TargetRow } from './target.ts';
import { judgeThroughput } from './throughput.ts';
import { judgeConnections, judgeVoiceLatency, type CallMeasurements } from './voice.ts';

/** Judges a target by measurements. Returns undefined if they do not include its traffic. */
type JudgedBy<Measurements> = (
  row: TargetRow,
  measurements: Measurements,
  random: Random,
) => LoadTarget | undefined;

/** A target for requests. */
export interface RequestTarget extends Limit {
  /** The traffic that it is about; `requests` for all requests. */
  source: StreamName | 'requests';
  /** A closed loop can't measure it. */
  needsSchedule?: true;
  judge: JudgedBy<RequestMeasurements>;
}

/** A target for calls. */
export interface CallTarget extends Limit {
  source: 'voice';
  judge: JudgedBy<CallMeasurements>;
}

/** A target of the specification. */
export type Target = RequestTarget | CallTarget;

const judgeTimesOf =
  (stream: StreamName): RequestTarget['judge'] =>
  (row, { plan, streams }, random) => {
    const times = streams.get(stream);
    return times && judgeLatency(row, times, plan.percentile, random);
  };

/**
 * The targets of the specification for a sandbox (spec 8), and one that the kit adds (spec 2.8), in
 * the order of reports. Everything that depends on a target follows from its entry.
 */
export const targetTable = {
  chatLatency: {
    row: {
      id: 'chat-latency',
      statement: 'Chat responds in under 5 s.',
      section: '8',
      target: CHAT_RESPONSE_MS_TARGET,
      unit: 'ms',
    },
    source: 'chat',
    excludesLimit: true,
    needsSchedule: true,
    judge: judgeTimesOf('chat'),
  },
  chatThroughput: {
    row: {
      id: 'chat-throughput',
      statement: 'Chat sustains 100 requests/s.',
      section: '8',
      target: CHAT_REQUESTS_PER_SECOND_TARGET,
      unit: 'requests/s',
    },
    source: 'chat',
    judge: judgeThroughput,
  },
  availability: {
    row: {
      id: 'availability',
      statement: '99.9% of the requests in a test window succeed.',
      section: '8',
      target: AVAILABILITY_PERCENT_TARGET,
      unit: '%',
    },
    source: 'requests',
    needsSchedule: true,
    judge: judgeAvailability,
  },
  chatSessions: {
    row: {
      id: 'chat-sessions',
      statement: 'Every response belongs to the session of its request.',
      section: '2.8',
      target: 100,
      unit: '%',
    },
    source: 'chat',
    judge: judgeSessions,
  },
  healthLatency: {
    row: {
      id: 'health-latency',
      statement: 'Health responds within 2 s.',
      section: '8',
      target: HEALTH_RESPONSE_MS_TARGET,
      unit: 'ms',
    },
    source: 'health',
    needsSchedule: true,
    judge: judgeTimesOf('health'),
  },
  voiceLatency: {
    row: {
      id: 'voice-latency',
      statement: 'Voice audio latency is under 200 ms.',
      section: '8',
      target: VOICE_AUDIO_LATENCY_MS_TARGET,
      unit: 'ms',
    },
    source: 'voice',
    excludesLimit: true,
    judge: judgeVoiceLatency,
  },
  voiceConnections: {
    row: {
      id: 'voice-connections',
      statement: 'Voice sustains 100 concurrent connections.',
      section: '8',
      target: VOICE_CONNECTIONS_TARGET,
      unit: 'connections',
    },
    source: 'voice',
    judge: judgeConnections,
  },
} as const satisfies Record<string, Target>;

/** All targets, in the order of reports. */
export const targets: readonly Target[] = Object.values(targetTable);

/** Returns the target for the response times of a stream; undefined if it has none. */
export const findResponseTarget = (stream: StreamName): Target | undefined =>
  targets.find(({ source, row }) => source === stream && row.unit === 'ms');
