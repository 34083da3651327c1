import { findPercentile } from './percentile.ts';

/** What the way of the audio adds, from one side's sound to the other's ear; in milliseconds. */
export interface NetworkPath {
  /** 95th percentile of the round trip on the path of the media. */
  roundTripP95Ms: number;
  /** Sound in a packet: the first sample waits for the last. */
  packetMs: number;
  /** How deep a listener's buffer must be for one packet in a hundred to be late. */
  transitP99Ms: number;
}

/**
 * The latency of the way of the audio: half a round trip, a packet, and the buffer that its jitter
 * asks for. Blind to buffers inside the other side.
 */
export function computePathLatencyMs({
  roundTripP95Ms,
  packetMs,
  transitP99Ms,
}: NetworkPath): number {
  return roundTripP95Ms / 2 + packetMs + transitP99Ms;
}

/** A turn of ours, from its first sound to its last; on the clock that hears the other side. */
export interface SpokenTurn {
  startMs: number;
  endMs: number;
}

/**
 * How long the other side took to become audible after each turn, in milliseconds; undefined where
 * it stayed silent until the next turn. Negative where it spoke before the turn was over: whoever
 * does that answers no end of speech, and the figure is not to be taken for a fast one.
 */
export function findResponseLatencies(
  turns: readonly SpokenTurn[],
  onsetsMs: readonly number[],
): (number | undefined)[] {
  return turns.map(({ startMs, endMs }, nth) => {
    const untilMs = turns[nth + 1]?.startMs ?? Infinity;
    const onsetMs = onsetsMs.find((ms) => ms > startMs && ms <= untilMs);
    return onsetMs === undefined ? undefined : onsetMs - endMs;
  });
}

/** The target of the specification for voice audio latency, in milliseconds (spec 8). */
export const AUDIO_LATENCY_MS_MAX = 200;

/** `not_proven`: nothing stands against it, and nothing shows it. */
export type LatencyVerdict = 'met' | 'missed' | 'not_proven';

/** What was measured of a call, or of many; milliseconds. */
export interface LatencyEvidence {
  /** `audioPathLatencyMs`; of many calls the 95th percentile over them. Undefined: not measured. */
  pathMs: number | undefined;
  /** Each turn that was answered, negative ones as well. */
  turnResponsesMs: readonly number[];
  /** Our sound to our ear through the agent: its 95th percentile. Undefined where it has no echo. */
  echoMs?: number | undefined;
  /** Why the kit itself was too slow to be trusted; undefined where it was not. */
  localDelay?: string | undefined;
}

/** A verdict, and in one sentence why. */
export interface LatencyJudgment {
  verdict: LatencyVerdict;
  reason: string;
}

/**
 * Whether audio takes less than 200 ms (spec 8). The way of the packets is a lower bound of that,
 * and misses it at 200 ms or more. An echo and a turn are upper bounds, since all that the agent
 * does is in them: below 200 ms they show that it is met, unless something stands against it. Of turns
 * the median counts, and only where no turn was answered before its end: an agent that speaks when it
 * likes hits on the end of a turn by chance. A delay of the kit makes each figure larger, never
 * smaller.
 */
export function judgeAudioLatency(evidence: LatencyEvidence): LatencyJudgment {
  const { pathMs, turnResponsesMs, echoMs, localDelay } = evidence;
  if (pathMs === undefined) return notProven('the way of the audio was not measured');
  if (pathMs >= AUDIO_LATENCY_MS_MAX) {
    return localDelay === undefined
      ? { verdict: 'missed', reason: `the way of the audio alone takes ${shown(pathMs)}` }
      : notProven(`the way of the audio took ${shown(pathMs)}, but ${localDelay}`);
  }
  const path = `path ${shown(pathMs)}`;
  if (echoMs !== undefined && echoMs >= AUDIO_LATENCY_MS_MAX) {
    return notProven(`${path}; its echo takes ${shown(echoMs)} there and back`);
  }
  if (echoMs !== undefined && echoMs > 0) {
    return { verdict: 'met', reason: `${path}; its echo takes ${shown(echoMs)} there and back` };
  }
  const [soonestMs = Infinity, medianMs = Infinity] = [0, 50].map((percent) =>
    findPercentile(turnResponsesMs, percent),
  );
  if (soonestMs < 0) {
    return notProven(`${path}; it spoke ${shown(-soonestMs)} before a turn was over`);
  }
  if (medianMs < AUDIO_LATENCY_MS_MAX) {
    return { verdict: 'met', reason: `${path}; half of the turns took ${shown(medianMs)} or less` };
  }
  return notProven(`${path}; ${HIDDEN}`);
}

/** Packets show when they left the agent, and not for how long it held their sound back before. */
const HIDDEN =
  'for how long the agent holds sound back before it sends it is not seen from outside';

const notProven = (reason: string): LatencyJudgment => ({ verdict: 'not_proven', reason });

const shown = (ms: number): string => `${Math.round(ms)} ms`;
