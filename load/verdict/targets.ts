import {
  availabilityPercentTarget,
  chatRequestsPerSecondTarget,
  chatResponseMsTarget,
  healthResponseMsTarget,
  voiceAudioLatencyMsTarget,
  voiceConnectionsTarget,
  type LoadTarget,
} from '../../src/contract/index.ts';

/** What a row says before anything was measured. */
export type Row = Pick<LoadTarget, 'id' | 'statement' | 'section' | 'target' | 'unit'>;

/** The targets that the specification places on a sandbox (spec 8), and one of ours (spec 2.8). */
export const rows = {
  chatLatency: {
    id: 'chat-latency',
    statement: 'Chat answers come in under 5 s.',
    section: '8',
    target: chatResponseMsTarget,
    unit: 'ms',
  },
  chatThroughput: {
    id: 'chat-throughput',
    statement: 'Chat takes 100 requests a second.',
    section: '8',
    target: chatRequestsPerSecondTarget,
    unit: 'requests/s',
  },
  availability: {
    id: 'availability',
    statement: '99.9 % of the requests of a testing window are answered.',
    section: '8',
    target: availabilityPercentTarget,
    unit: '%',
  },
  healthLatency: {
    id: 'health-latency',
    statement: 'Health answers come within 2 s.',
    section: '8',
    target: healthResponseMsTarget,
    unit: 'ms',
  },
  chatSessions: {
    id: 'chat-sessions',
    statement: 'Every answer belongs to the session that asked.',
    section: '2.8',
    target: 100,
    unit: '%',
  },
  voiceLatency: {
    id: 'voice-latency',
    statement: 'Voice audio takes less than 200 ms.',
    section: '8',
    target: voiceAudioLatencyMsTarget,
    unit: 'ms',
  },
  voiceConnections: {
    id: 'voice-connections',
    statement: 'Voice holds 100 connections at once.',
    section: '8',
    target: voiceConnectionsTarget,
    unit: 'connections',
  },
} as const satisfies Record<string, Row>;

/** A row of what was not asked for, unless there is another reason. */
export function notTested(row: Row, reason = notAsked(row)): LoadTarget {
  return {
    ...row,
    measured: null,
    bound95: null,
    range95: [null, null],
    samples: 0,
    verdict: 'NOT TESTED',
    reason,
  };
}

function notAsked({ id }: Row): string {
  const [area = ''] = id.split('-');
  const subject = `${area.charAt(0).toUpperCase()}${area.slice(1)} is`;
  return `${area === 'availability' ? 'Requests are' : subject} not part of this profile.`;
}
