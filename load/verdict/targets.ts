import {
  AVAILABILITY_PERCENT_TARGET,
  CHAT_REQUESTS_PER_SECOND_TARGET,
  CHAT_RESPONSE_MS_TARGET,
  HEALTH_RESPONSE_MS_TARGET,
  VOICE_AUDIO_LATENCY_MS_TARGET,
  VOICE_CONNECTIONS_TARGET,
  type LoadReport,
  type LoadTarget,
  type LoadVerdict,
  type SelfCheck,
} from '../../src/contract/index.ts';
import { roundTo } from '../../src/platform/round.ts';

/** The part of a target that is known before anything was measured. */
export type TargetRow = Pick<
  LoadTarget,
  'id' | 'metric' | 'statement' | 'section' | 'target' | 'unit'
>;

/** The targets of the specification for a sandbox (spec 8), and one that the kit adds (spec 2.8). */
export const targetRows = {
  chatLatency: {
    id: 'chat-latency',
    statement: 'Chat responds in under 5 s.',
    section: '8',
    target: CHAT_RESPONSE_MS_TARGET,
    unit: 'ms',
  },
  chatThroughput: {
    id: 'chat-throughput',
    statement: 'Chat sustains 100 requests/s.',
    section: '8',
    target: CHAT_REQUESTS_PER_SECOND_TARGET,
    unit: 'requests/s',
  },
  availability: {
    id: 'availability',
    statement: '99.9% of the requests in a test window succeed.',
    section: '8',
    target: AVAILABILITY_PERCENT_TARGET,
    unit: '%',
  },
  healthLatency: {
    id: 'health-latency',
    statement: 'Health responds within 2 s.',
    section: '8',
    target: HEALTH_RESPONSE_MS_TARGET,
    unit: 'ms',
  },
  chatSessions: {
    id: 'chat-sessions',
    statement: 'Every response belongs to the session of its request.',
    section: '2.8',
    target: 100,
    unit: '%',
  },
  voiceLatency: {
    id: 'voice-latency',
    statement: 'Voice audio latency is under 200 ms.',
    section: '8',
    target: VOICE_AUDIO_LATENCY_MS_TARGET,
    unit: 'ms',
  },
  voiceConnections: {
    id: 'voice-connections',
    statement: 'Voice sustains 100 concurrent connections.',
    section: '8',
    target: VOICE_CONNECTIONS_TARGET,
    unit: 'connections',
  },
} as const satisfies Record<string, TargetRow>;

/** Returns a target that was not tested, by default because the profile does not include it. */
export function notTested(row: TargetRow, reason = reasonNotInProfile(row)): LoadTarget {
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

/** Why a closed loop can't measure response times and availability. */
export const CLOSED_LOOP_LIMIT =
  'A closed loop sends fewer requests while the sandbox is slow (coordinated omission).';

function reasonNotInProfile({ id }: TargetRow): string {
  if (id === 'availability') return 'This profile sends no requests.';
  const [area = ''] = id.split('-');
  return `This profile does not test ${area}.`;
}

/** Appends the sentence that explains a NOT PROVEN verdict to the measured result. */
export const withReservation = (summary: string, reservation: string | undefined): string =>
  reservation === undefined ? summary : `${summary} ${reservation}`;

const REQUEST_LATENCY_TARGETS: readonly string[] = [
  targetRows.chatLatency.id,
  targetRows.healthLatency.id,
];

/** Whether a target is about response times. Those of calls are measured by other processes. */
const isRequestTime = ({ id, metric, unit }: LoadTarget): boolean =>
  metric === undefined
    ? REQUEST_LATENCY_TARGETS.includes(id)
    : unit === 'ms' && !metric.startsWith('voice.');

/** Returns whether a smaller value is better: a time or an error rate. */
export const isLowerBetter = ({
  metric = '',
  unit,
}: Pick<LoadTarget, 'metric' | 'unit'>): boolean => unit === 'ms' || metric.endsWith('.error_rate');

/** Converts a share, 0 to 1, to percent with four decimals. */
export const toPercent = (share: number): number => roundTo(share * 100, 4);

/**
 * Replaces the verdicts of tested targets with INVALID RUN when the self-check failed. Lag of the load
 * generator only makes a latency target harder, so a latency target that passes with it is a PASS.
 */
export function applySelfCheck(targets: readonly LoadTarget[], check: SelfCheck): LoadTarget[] {
  if (check.valid) return [...targets];
  return targets.map((target) => {
    const { verdict, reason } = target;
    if (verdict === 'NOT TESTED' || verdict === 'INVALID RUN') return target;
    if (check.isOnlyLate === true && verdict === 'PASS' && isRequestTime(target)) {
      return { ...target, reason: `${reason} This includes the lag of the load generator.` };
    }
    return { ...target, verdict: 'INVALID RUN' };
  });
}

/** Returns the verdict of the whole run: the worst verdict of the tested targets. */
export function decideRunVerdict(targets: readonly LoadTarget[], check: SelfCheck): LoadVerdict {
  if (!check.valid) return 'INVALID RUN';
  const has = (verdict: LoadVerdict): boolean =>
    targets.some((target) => target.verdict === verdict);
  if (has('FAIL')) return 'FAIL';
  if (has('NOT PROVEN')) return 'NOT PROVEN';
  return has('PASS') ? 'PASS' : 'NOT TESTED';
}

/** Returns the exit code for a verdict. */
export function exitCodeOf(verdict: LoadVerdict, acceptNotProven: boolean): LoadReport['exitCode'] {
  if (verdict === 'PASS') return 0;
  if (verdict === 'FAIL') return 1;
  return verdict === 'NOT PROVEN' && acceptNotProven ? 0 : 3;
}
