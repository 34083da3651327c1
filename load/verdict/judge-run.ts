import type { InFlightTrend, LoadPlan, LoadTarget, StreamName } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { formatNumber } from '../../src/report-kit/format.ts';
import { judgeAvailability, judgeSessions } from './availability.ts';
import { addBlocks, type Block } from '../record/blocks.ts';
import { addCounts } from '../record/counts.ts';
import { perSecond } from '../record/stream-log.ts';
import { judgeLatency, type ResponseTimes } from './latency.ts';
import { CLOSED_LOOP_LIMIT, notTested, targetRows, type TargetRow } from './targets.ts';
import { measureInFlightTrend, judgeThroughput } from './throughput.ts';
import { isClosedLoop, waitsForResponses } from '../closed-loop.ts';

/** Measurements of one stream of requests. */
export interface StreamMeasurements extends ResponseTimes {
  offered: number;
  echoed: number;
  failures: readonly Block[];
  errors: Readonly<Record<string, number>>;
}

/** Measurements of a run. */
export interface RunMeasurements {
  plan: LoadPlan;
  /** The part of the steady state that was run. */
  ranMs: number;
  streams: ReadonlyMap<StreamName, StreamMeasurements>;
  /** Chat requests in flight, in steps of `stepMs`. */
  inFlight: readonly number[];
  stepMs: number;
}

/** Judges every target; targets outside the profile are not tested. */
export function judgeRun(
  run: RunMeasurements,
  random: Random,
): { targets: LoadTarget[]; trend?: InFlightTrend } {
  const chat = run.streams.get('chat');
  const health = run.streams.get('health');
  const { percentile } = run.plan;
  if (chat && isClosedLoop(run.plan)) return { targets: judgeClosedLoop(run, chat, random) };
  const all = [...run.streams.values()];
  const failures: Block[] = [];
  for (const stream of all) addBlocks(failures, stream.failures);
  const availability = judgeAvailability(failures, listErrors(all), random.fork('availability'));
  const rest = [
    health
      ? judgeLatency(targetRows.healthLatency, health, percentile, random.fork('health'))
      : notTested(targetRows.healthLatency),
    notTested(targetRows.voiceLatency),
    notTested(targetRows.voiceConnections),
  ];
  if (!chat) {
    const untested = [targetRows.chatLatency, targetRows.chatThroughput].map((row) =>
      notTested(row),
    );
    return { targets: [...untested, availability, notTested(targetRows.chatSessions), ...rest] };
  }
  const latency = judgeLatency(targetRows.chatLatency, chat, percentile, random.fork('chat'));
  const { target: throughput, trend } = throughputOf(run, chat, random.fork('throughput'));
  const sessions = judgeSessions(chat.echoed, chat.errors['mixed_up'] ?? 0);
  return { targets: [latency, throughput, availability, sessions, ...rest], trend };
}

/** Judges what a closed loop can measure: its rate, and whether responses belong to their sessions. */
function judgeClosedLoop(
  run: RunMeasurements,
  chat: StreamMeasurements,
  random: Random,
): LoadTarget[] {
  const notMeasured = (row: TargetRow): LoadTarget => notTested(row, CLOSED_LOOP_LIMIT);
  return [
    notMeasured(targetRows.chatLatency),
    throughputOf(run, chat, random.fork('throughput')).target,
    notMeasured(targetRows.availability),
    judgeSessions(chat.echoed, chat.errors['mixed_up'] ?? 0),
    notTested(targetRows.healthLatency),
    notTested(targetRows.voiceLatency),
    notTested(targetRows.voiceConnections),
  ];
}

function throughputOf(
  { plan, ranMs, inFlight, stepMs }: RunMeasurements,
  chat: StreamMeasurements,
  random: Random,
): { target: LoadTarget; trend: InFlightTrend } {
  const offeredPerSecond = perSecond(chat.offered, ranMs);
  const trend = measureInFlightTrend(inFlight, stepMs, offeredPerSecond);
  const { failures } = chat;
  const target = judgeThroughput(
    {
      plannedPerSecond: plan.ratePerSecond,
      offeredPerSecond,
      failures,
      waitsForResponses: waitsForResponses(plan),
      connections: plan.connections,
    },
    trend,
    random,
  );
  return { target, trend };
}

/** Lists the kinds of errors, most frequent first: "300 rate_limited, 2 timeout". */
function listErrors(streams: readonly StreamMeasurements[]): string {
  const counts: Record<string, number> = {};
  for (const { errors } of streams) addCounts(counts, errors);
  return Object.entries(counts)
    .sort(([one, left], [other, right]) => right - left || one.localeCompare(other))
    .map(([kind, times]) => `${formatNumber(times)} ${kind}`)
    .join(', ');
}
