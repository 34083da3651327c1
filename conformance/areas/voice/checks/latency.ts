import type { AudioLatency, CallPacket } from '../../../../src/contract/index.ts';
import {
  AUDIO_LATENCY_MS_MAX,
  computePathLatencyMs,
  judgeAudioLatency,
  findPercentile,
  ReceivedStream,
  findResponseLatencies,
  dropBacklog,
  type LatencyVerdict,
  type StreamStatistics,
} from '../../../../src/voice/latency/index.ts';
import { findOnsets } from '../../../../src/voice/activity/index.ts';
import type { voiceRequirements } from '../requirements.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import {
  eventsOf,
  hangUpMsOf,
  isConnected,
  mediaOf,
} from '../../../engine/transcript/call-messages.ts';
import type { Check } from '../../../engine/checks/check.ts';
import { isValidCall, explainNoMedia, callFinding } from './call-checks.ts';
import { findClockErrors } from './media.ts';

/** Fewer round trips have no 95th percentile to speak of, fewer packets no 99th. */
const ROUND_TRIPS_MIN = 3;
const PACKETS_MIN = 50;
const WINDOW_MS = 10;
const TICKS_PER_MS = 48;

/** A kit that sends so late, or later, hears as late: its figures are not the sandbox's. */
const KIT_LATE_MS_MAX = 50;

/** What was measured of the audio of one call; milliseconds, undefined where too little came. */
export interface CallMeasurements {
  stream: StreamStatistics;
  roundTripP95Ms: number | undefined;
  pathMs: number | undefined;
  turnResponsesMs: number[];
  kitLateMs: number;
}

const figures = new WeakMap<Exchange, CallMeasurements>();

/** The figures of a call in which media could flow, up to the hang-up; undefined of any other. */
export function measureCall(one: Exchange): CallMeasurements | undefined {
  const media = mediaOf(one);
  if (!media) return undefined;
  const known = figures.get(one);
  if (known) return known;
  const packets = media.packets.filter(({ atMs }) => atMs <= hangUpMsOf(one));
  const live = liveOf(packets);
  const stream = streamOf(live);
  const roundTripP95Ms =
    media.roundTripsMs.length < ROUND_TRIPS_MIN
      ? undefined
      : findPercentile(media.roundTripsMs, 95);
  const found = {
    stream,
    roundTripP95Ms,
    // By a clock that is wrong, every packet is late.
    pathMs: findClockErrors(one).length > 0 ? undefined : pathOf(live, stream, roundTripP95Ms),
    turnResponsesMs: responsesOf(one, packets),
    kitLateMs: media.lateMs,
  };
  figures.set(one, found);
  return found;
}

/** Without what waited for the connection, as long as one sender is heard. */
function liveOf(packets: readonly CallPacket[]): CallPacket[] {
  const [first] = packets;
  if (!first) return [];
  const other = packets.findIndex(({ ssrc }) => ssrc !== first.ssrc);
  const own = other < 0 ? packets.length : other;
  const begun = packets.slice(0, own).map((packet) => ({
    packet,
    arrivedAtMs: packet.atMs,
    mediaMs: ((packet.timestamp - first.timestamp) | 0) / TICKS_PER_MS,
  }));
  return [...dropBacklog(begun).map(({ packet }) => packet), ...packets.slice(own)];
}

function streamOf(packets: readonly CallPacket[]): StreamStatistics {
  const stream = new ReceivedStream();
  for (const { atMs, sequence, timestamp, ssrc } of packets) {
    stream.add({ sequence, timestamp, ssrc, arrivedAtMs: atMs });
  }
  return stream.statistics();
}

function pathOf(
  packets: readonly CallPacket[],
  { transitP99Ms }: StreamStatistics,
  roundTripP95Ms: number | undefined,
): number | undefined {
  const packetMs =
    (findPercentile(
      packets.map(({ ticks }) => ticks),
      50,
    ) ?? 0) / TICKS_PER_MS;
  const isEnough = packets.length >= PACKETS_MIN && packetMs > 0;
  if (!isEnough || roundTripP95Ms === undefined || transitP99Ms === undefined) return undefined;
  return computePathLatencyMs({ roundTripP95Ms, packetMs, transitP99Ms });
}

function responsesOf(one: Exchange, packets: readonly CallPacket[]): number[] {
  const windows = packets.flatMap(({ atMs, levelsDb = [] }) =>
    levelsDb.map((level, nth) => ({ atMs: atMs + nth * WINDOW_MS, levelDb: level, ms: WINDOW_MS })),
  );
  const turns = eventsOf(one, 'speech').map(({ atMs, untilMs = atMs }) => ({
    startMs: atMs,
    endMs: untilMs,
  }));
  return findResponseLatencies(turns, findOnsets(windows)).filter((ms) => ms !== undefined);
}

const spokenCalls = ({ exchanges }: Transcript): Exchange[] =>
  exchanges.filter(
    (one) => isValidCall(one) && isConnected(one) && eventsOf(one, 'speech').length > 0,
  );

/** Both figures over all calls that were spoken in, and what follows; undefined of none. */
export function measureAudioLatency(transcript: Transcript): AudioLatency | undefined {
  const all = spokenCalls(transcript).flatMap((one) => measureCall(one) ?? []);
  if (all.length === 0) return undefined;
  const paths = all.flatMap(({ pathMs }) => pathMs ?? []);
  const pathMs = findPercentile(paths, 95);
  const turnResponsesMs = all.flatMap((one) => one.turnResponsesMs);
  const kitLateMs = Math.max(...all.map((one) => one.kitLateMs));
  // What is late by more than the kit itself can have made it late, is late.
  const isLateAnyway = pathMs !== undefined && pathMs - kitLateMs >= AUDIO_LATENCY_MS_MAX;
  const localDelay =
    kitLateMs >= KIT_LATE_MS_MAX && !isLateAnyway
      ? `the kit itself was up to ${Math.round(kitLateMs)} ms late`
      : undefined;
  const [p50, p95, max] = [50, 95, 100].map((percent) => findPercentile(turnResponsesMs, percent));
  return {
    ...judgeAudioLatency({ pathMs, turnResponsesMs, localDelay }),
    ...(pathMs !== undefined && { audioPathLatencyMs: rounded(pathMs) }),
    ...(p50 !== undefined &&
      p95 !== undefined &&
      max !== undefined && {
        turnResponseMs: {
          turns: turnResponsesMs.length,
          p50: rounded(p50),
          p95: rounded(p95),
          max: rounded(max),
        },
      }),
    ...(localDelay !== undefined && { kitLimit: localDelay }),
  };
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100;

const asExpected: Record<LatencyVerdict, string> = {
  met: '',
  missed: 'less than 200 ms',
  not_proven: 'less than 200 ms, shown',
};

/** The check of the target: missed is told as such, not proven is a note. */
export const latencyChecks = {
  'VOICE-090': {
    evidence: spokenCalls,
    judge(calls, transcript) {
      const latency = measureAudioLatency(transcript);
      const [slowest] = [...calls].sort(
        (one, other) => (measureCall(other)?.pathMs ?? 0) - (measureCall(one)?.pathMs ?? 0),
      );
      if (!latency || !slowest || latency.verdict === 'met') return [];
      const finding = callFinding(slowest, asExpected[latency.verdict], latency.reason);
      return [latency.verdict === 'missed' ? finding : { ...finding, isNote: true }];
    },
    unjudged: explainNoMedia,
  },
} satisfies Partial<Record<keyof typeof voiceRequirements, Check>>;
