import type { Source } from '../profiles/profiles.ts';

/** The times of calls that can have a threshold, with their titles. */
const callTimeTitles = {
  ready: 'Time to call_ready',
  setup: 'Time to connect',
  first_packet: 'Time to the first packet',
  audio_path_latency: 'Network path latency',
  turn_response: 'Voice response latency',
};

/** A time of calls that can have a threshold. */
export type CallTime = keyof typeof callTimeTitles;

/** The quantity that a metric measures. */
export type Measure =
  | { kind: 'time'; callTime?: CallTime; percentile: number | 'max' }
  | { kind: 'error_rate' }
  | { kind: 'rate' };

/** A figure of a load report that can have a threshold. */
export interface Metric {
  /** For example "chat.p95". */
  name: string;
  source: Source;
  /** The subject of a sentence about the metric. */
  subject: string;
  measure: Measure;
}

const percentiles: readonly (readonly [name: string, percentile: number | 'max'])[] = [
  ['p50', 50],
  ['p90', 90],
  ['p95', 95],
  ['p99', 99],
  ['p99.9', 99.9],
  ['max', 'max'],
];

const streams = [
  ['chat', 'Chat'],
  ['health', 'Health'],
  ['users', 'Users'],
] as const;

/** Every metric, in the order of messages. */
export const metrics: readonly Metric[] = [
  ...streams.flatMap(([source, title]): Metric[] => [
    ...percentiles.map(([name, percentile]): Metric => ({
      name: `${source}.${name}`,
      source,
      subject: `${title} response time (${name})`,
      measure: { kind: 'time', percentile },
    })),
    {
      name: `${source}.error_rate`,
      source,
      subject: `${title} error rate`,
      measure: { kind: 'error_rate' },
    },
    { name: `${source}.rate`, source, subject: `${title} rate`, measure: { kind: 'rate' } },
  ]),
  ...Object.entries(callTimeTitles).flatMap(([callTime, title]) =>
    percentiles.map(([name, percentile]): Metric => ({
      name: `voice.${callTime}.${name}`,
      source: 'voice',
      subject: `${title} (${name})`,
      measure: { kind: 'time', callTime: callTime as CallTime, percentile },
    })),
  ),
  {
    name: 'voice.error_rate',
    source: 'voice',
    subject: 'Voice call error rate',
    measure: { kind: 'error_rate' },
  },
];
