/** The audio latency of recorded calls. */
import {
  VOICE_AUDIO_LATENCY_MS_TARGET,
  type AudioLatency,
  type CallPacket,
} from '../../../src/contract/index.ts';
import { findOnsets } from '../../../src/voice/activity/index.ts';
import { findPercentile } from '../../../src/platform/percentile.ts';
import {
  computePathLatencyMs,
  dropBacklog,
  findResponseLatencies,
  judgeAudioLatency,
  ReceivedStream,
  type StreamStatistics,
} from '../../../src/voice/latency/index.ts';
import {
  eventsOf,
  hangUpMsOf,
  isConnected,
  mediaOf,
} from '../../engine/transcript/call-messages.ts';
import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import { isValidCall } from './evidence.ts';
import { findClockError } from './media.ts';
import { TICKS_PER_MS } from '../../../src/voice/opus/frame.ts';
import { roundTo } from '../../../src/platform/round.ts';

/** Fewer round trips have no meaningful 95th percentile; fewer packets have no meaningful 99th. */
const ROUND_TRIPS_MIN = 3;
const PACKETS_MIN = 50;
const WINDOW_MS = 10;

/** If the kit itself is this late, its measurements don't show the latency of the sandbox. */
const KIT_LATE_MS_MAX = 50;

/** The latencies of one call in milliseconds; undefined if it has too little audio. */
export interface CallMeasurements {
  stream: StreamStatistics;
  roundTripP95Ms: number | undefined;
  pathMs: number | undefined;
  turnResponsesMs: number[];
  kitLateMs: number;
}

const measurements = new WeakMap<Exchange, CallMeasurements>();

/** Measures a connected call up to the hang-up; returns undefined for any other call. */
export function measureCall(exchange: Exchange): CallMeasurements | undefined {
  const media = mediaOf(exchange);
  if (!media) return undefined;
  const cached = measurements.get(exchange);
  if (cached) return cached;
  const packets = media.packets.filter(({ atMs }) => atMs <= hangUpMsOf(exchange));
  const live = dropBacklogOfFirst(packets);
  const stream = streamOf(live);
  const roundTripP95Ms =
    media.roundTripsMs.length < ROUND_TRIPS_MIN
      ? undefined
      : findPercentile(media.roundTripsMs, 95);
  const measured = {
    stream,
    roundTripP95Ms,
    // With wrong timestamps, every packet seems late.
    pathMs: findClockError(exchange) ? undefined : pathOf(live, stream, roundTripP95Ms),
    turnResponsesMs: responsesOf(exchange, packets),
    kitLateMs: media.lateMs,
  };
  measurements.set(exchange, measured);
  return measured;
}

/** Removes the backlog of packets that waited for the connection from the first sender. */
function dropBacklogOfFirst(packets: readonly CallPacket[]): CallPacket[] {
  const [first] = packets;
  if (!first) return [];
  const otherAt = packets.findIndex(({ ssrc }) => ssrc !== first.ssrc);
  const ownLength = otherAt < 0 ? packets.length : otherAt;
  const arrivals = packets.slice(0, ownLength).map((packet) => ({
    packet,
    arrivedAtMs: packet.atMs,
    mediaMs: ((packet.timestamp - first.timestamp) | 0) / TICKS_PER_MS,
  }));
  return [...dropBacklog(arrivals).map(({ packet }) => packet), ...packets.slice(ownLength)];
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
  const hasEnough = packets.length >= PACKETS_MIN && packetMs > 0;
  if (!hasEnough || roundTripP95Ms === undefined || transitP99Ms === undefined) return undefined;
  return computePathLatencyMs({ roundTripP95Ms, packetMs, transitP99Ms });
}

function responsesOf(exchange: Exchange, packets: readonly CallPacket[]): number[] {
  const windows = packets.flatMap(({ atMs, levelsDb = [] }) =>
    levelsDb.map((level, nth) => ({ atMs: atMs + nth * WINDOW_MS, levelDb: level, ms: WINDOW_MS })),
  );
  const turns = eventsOf(exchange, 'speech').map(({ atMs, untilMs = atMs }) => ({
    startMs: atMs,
    endMs: untilMs,
  }));
  return findResponseLatencies(turns, findOnsets(windows)).filter((ms) => ms !== undefined);
}

/** Returns the calls where the kit spoke. */
export const callsWithSpeech = ({ exchanges }: Transcript): Exchange[] =>
  exchanges.filter(
    (exchange) =>
      isValidCall(exchange) && isConnected(exchange) && eventsOf(exchange, 'speech').length > 0,
  );

/** Measures the audio latency over all calls with speech; returns undefined without such calls. */
export function measureAudioLatency(transcript: Transcript): AudioLatency | undefined {
  const all = callsWithSpeech(transcript).flatMap((exchange) => measureCall(exchange) ?? []);
  if (all.length === 0) return undefined;
  const paths = all.flatMap(({ pathMs }) => pathMs ?? []);
  const pathMs = findPercentile(paths, 95);
  const turnResponsesMs = all.flatMap((exchange) => exchange.turnResponsesMs);
  const kitLateMs = Math.max(...all.map((exchange) => exchange.kitLateMs));
  // A latency that the lateness of the kit can't explain is the sandbox's.
  const isLateRegardless =
    pathMs !== undefined && pathMs - kitLateMs >= VOICE_AUDIO_LATENCY_MS_TARGET;
  const localDelay =
    kitLateMs >= KIT_LATE_MS_MAX && !isLateRegardless
      ? `sandbox-kit itself was up to ${Math.round(kitLateMs)} ms late`
      : undefined;
  const [p50, p95, max] = [50, 95, 100].map((percent) => findPercentile(turnResponsesMs, percent));
  return {
    ...judgeAudioLatency({ pathMs, turnResponsesMs, localDelay }),
    ...(pathMs !== undefined && { audioPathLatencyMs: roundTo(pathMs, 2) }),
    ...(p50 !== undefined &&
      p95 !== undefined &&
      max !== undefined && {
        turnResponseMs: {
          turns: turnResponsesMs.length,
          p50: roundTo(p50, 2),
          p95: roundTo(p95, 2),
          max: roundTo(max, 2),
        },
      }),
    ...(localDelay !== undefined && { kitLimit: localDelay }),
  };
}
