/** Sentences that the terminal, Markdown, and HTML reports share. */
import type {
  LoadReport,
  LoadTarget,
  StreamName,
  StreamReport,
  VoiceLoad,
  VoiceSummary,
} from '../../src/contract/index.ts';
import {
  formatCount,
  formatDuration,
  formatNumber,
  formatQuantity,
  formatShare,
} from '../../src/report-kit/format.ts';
import { isClosedLoop } from '../closed-loop.ts';
import { sendsRequests } from '../profiles/profiles.ts';
import { describeShard } from '../schedule/shard.ts';
import { isLowerBetter } from '../verdict/target.ts';
import { findResponseTarget } from '../verdict/targets.ts';

/** Returns the trace id of an example, to append to it. */
export function describeTraceId(traceId: string | undefined): string {
  return traceId === undefined ? '' : `, trace id ${traceId}`;
}

/** Lists failed and slow requests, with the ids to look for in the monitoring of the sandbox. */
export const listExamples = ({
  faultSamples,
  slowest = [],
}: LoadReport): { stream: string; atMs: number; what: string; traceId?: string }[] => [
  ...faultSamples.map(({ kind, detail, ...rest }) => ({ ...rest, what: `${kind}: ${detail}` })),
  ...slowest.map(({ responseMs, ...rest }) => ({
    ...rest,
    what: `slow: ${formatTime(responseMs)}`,
  })),
];

/** Formats a time of the run: "2.5 s". */
export const formatRunTime = (atMs: number): string => `${formatNumber(atMs / 1000, 1)} s`;

/** Returns whether the load generator was busy in a closed loop, so that the sandbox may reach a higher rate. */
export const isGeneratorBusy = ({
  selfCheck: { valid, figures },
}: Pick<LoadReport, 'selfCheck'>): boolean => valid && figures.some(({ holds }) => !holds);

const countedVerdicts = [
  ['PASS', 'passed'],
  ['FAIL', 'failed'],
  ['NOT PROVEN', 'not proven'],
  ['INVALID RUN', 'not judged'],
  ['NOT TESTED', 'not tested'],
] as const;

/** Counts targets by verdict: "7 targets: 2 passed, 1 failed, 4 not tested." */
export function countVerdicts(targets: readonly LoadTarget[]): string {
  const counts = countedVerdicts.flatMap(([verdict, description]) => {
    const count = targets.filter((target) => target.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${description}`];
  });
  return `${formatCount(targets.length, 'target')}: ${counts.join(', ')}.`;
}

/** Returns whether anything was sent. If not, every target would only repeat the cause. */
export const hasRun = ({ streams, voice }: LoadReport): boolean =>
  streams.length > 0 || voice !== undefined;

/** Describes what a run sends: "100 requests/s and 20 calls for 60 s". */
export function describeLoad({ plan, shard }: Pick<LoadReport, 'plan' | 'shard'>): string {
  const { profile, ratePerSecond, simulatedUsers, calls, windowMs } = plan;
  if (isClosedLoop(plan)) {
    return `closed loop with ${formatCount(plan.connections, 'connection')} for ${formatDuration(windowMs)}`;
  }
  const rate =
    simulatedUsers === undefined
      ? `${formatNumber(ratePerSecond, 2)} requests/s`
      : formatCount(simulatedUsers, 'simulated user');
  const requests = sendsRequests(profile) ? [rate] : [];
  const voice = calls === undefined ? [] : [formatCount(calls, 'call')];
  const part = shard ? `${describeShard(shard)} of ` : '';
  return `${part}${[...requests, ...voice].join(' and ')} for ${formatDuration(windowMs)}`;
}

/** Columns of the targets table in Markdown and HTML. */
export const targetColumns = {
  target: 'required',
  measured: 'measured',
  bound95: '95% bound',
  samples: 'samples',
} as const;

/** States the 95% bound of a target: "95% bound: at least 99.94%." */
export function describeBound(target: LoadTarget): string {
  const { bound95, unit } = target;
  // The number of connections is observed and has no bound.
  if (bound95 === null || unit === 'connections') return '';
  const side = isLowerBetter(target) ? 'at most' : 'at least';
  return `95% bound: ${side} ${formatQuantity(bound95, unit)}.`;
}

/** Counts the requests of a stream: "6,000 due (100/s), 6,000 sent, 5,998 ok, 5,990 ok within target". */
export function describeStream(
  name: StreamName,
  stream: StreamReport,
  plan: LoadReport['plan'],
): string {
  const { offered, sent, ok, goodput, offeredPerSecond, okPerSecond } = stream;
  if (isClosedLoop(plan)) {
    return `${formatNumber(sent)} sent (${formatNumber(offeredPerSecond, 2)}/s), ${formatNumber(ok)} ok (${formatNumber(okPerSecond, 2)}/s)`;
  }
  const withinTarget = findResponseTarget(name)
    ? `, ${formatNumber(goodput)} ok within target`
    : '';
  return `${formatNumber(offered)} due (${formatNumber(offeredPerSecond, 2)}/s), ${formatNumber(sent)} sent, ${formatNumber(ok)} ok${withinTarget}`;
}

/** Returns the streams that had requests due. A run that ended in the ramp-up has none. */
export const listSentStreams = (report: LoadReport): { name: StreamName; stream: StreamReport }[] =>
  report.streams.flatMap((name) => {
    const stream = report[name];
    return stream && stream.offered > 0 ? [{ name, stream }] : [];
  });

/** Returns the names of the times of a request that a run measures. */
export function requestTimesOf(plan: LoadReport['plan']): (typeof REQUEST_TIMES)[number][] {
  return REQUEST_TIMES.filter(
    ([key]) => !isClosedLoop(plan) || (key !== 'latencyMs' && key !== 'lagMs'),
  );
}

const REQUEST_TIMES = [
  ['latencyMs', 'response time'],
  ['serviceMs', 'service time'],
  ['firstByteMs', 'time to first byte'],
  ['lagMs', 'send lag'],
] as const satisfies readonly (readonly [keyof StreamReport, string])[];

/** Counts the outages and the seconds without a failure: "2 outages, the longest 3 s; 55 of 60 seconds without a failure". */
export function describeOutages(outages: NonNullable<LoadReport['outages']>): string {
  const { incidents, longestMs, cleanSeconds, seconds } = outages;
  return `${formatCount(incidents, 'outage')}, the longest ${formatDuration(longestMs)}; ${cleanSeconds} of ${formatCount(seconds, 'second')} without a failure`;
}

/** Counts the calls: "100 calls: 100 connected, 98 held, 2 lost". */
export function describeCalls({ calls, connected, held, lost }: VoiceLoad): string {
  return `${formatCount(calls, 'call')}: ${connected} connected, ${held} held, ${lost} lost`;
}

/** Counts the audio packets. */
export function describePackets({ packets }: VoiceLoad): string {
  const { sent, received, lost, gaps, longestGapMs } = packets;
  const share = lost + received === 0 ? 0 : lost / (lost + received);
  const gapText =
    gaps === 0
      ? 'no gaps'
      : `${formatCount(gaps, 'gap')} over 40 ms (longest ${formatDuration(longestGapMs)})`;
  return `${formatNumber(sent)} packets sent, ${formatNumber(received)} received, ${formatNumber(lost)} lost (${formatShare(share)}), ${gapText}`;
}

/** Counts the turns: "3 turns, 0 without a response". */
export const describeTurns = ({ turns, unansweredTurns }: VoiceLoad): string =>
  `${formatCount(turns, 'turn')}, ${formatNumber(unansweredTurns)} without a response`;

/** Names of the times of calls in the terminal and in Markdown; the page lists more. */
export const callTimes = [
  ['setupMs', 'time to connect'],
  ['audioPathLatencyMs', 'network path latency'],
  ['roundTripMs', 'round trip'],
  ['jitterMs', 'jitter'],
  ['turnResponseMs', 'response latency'],
] as const satisfies readonly (readonly [keyof VoiceLoad, string])[];

/** Formats a time that may be unknown. */
export const formatTime = (ms: VoiceSummary['p50'], unknown = '-'): string =>
  ms === null ? unknown : formatDuration(ms);

/**
 * States whether the load generator kept up: "The load generator kept up (send lag p99 1.2 ms)." The
 * sentence of an invalid run says so itself.
 */
export function describeSelfCheck({ selfCheck, targets }: LoadReport): string | undefined {
  const { valid, figures } = selfCheck;
  if (isGeneratorBusy({ selfCheck })) {
    const busy = figures.filter(({ holds }) => !holds);
    const values = busy.map(({ name, value, unit }) => `${name} ${formatQuantity(value, unit)}`);
    return `The load generator was busy (${values.join(', ')}), so the sandbox may reach a higher rate.`;
  }
  if (!valid) {
    const isJudged = targets.some(({ verdict }) => verdict === 'PASS');
    return isJudged
      ? 'Only latency targets that pass with the lag included are judged.'
      : undefined;
  }
  const [first] = figures;
  const figure = first ? ` (${first.name} ${formatQuantity(first.value, first.unit)})` : '';
  return `The load generator kept up${figure}.`;
}
