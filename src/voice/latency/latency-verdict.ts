import { VOICE_AUDIO_LATENCY_MS_TARGET } from '../../contract/index.ts';
import { findPercentile } from '../../platform/percentile.ts';
import type { SpeechSpan } from '../speech-span.ts';

/** The components of the network path latency, in milliseconds. */
export interface PathComponents {
  /** 95th percentile of the round trip on the media path. */
  roundTripP95Ms: number;
  /** Duration of a packet: its first sample waits until the last one is recorded. */
  packetMs: number;
  /** Depth of the jitter buffer at which 1% of the packets arrive too late. */
  transitP99Ms: number;
}

/**
 * Returns the network path latency: half a round trip, one packet, and the jitter buffer. Buffers
 * inside the other side are not included, because they can't be seen from outside.
 */
export function computePathLatencyMs({
  roundTripP95Ms,
  packetMs,
  transitP99Ms,
}: PathComponents): number {
  return roundTripP95Ms / 2 + packetMs + transitP99Ms;
}

/**
 * Returns how long the other side took to become audible after each turn of the kit, in milliseconds;
 * undefined where it stayed silent until the next turn. A negative latency means that it spoke
 * before the turn was over. That is not a fast response: it did not respond to the end of the turn.
 */
export function findResponseLatencies(
  turns: readonly SpeechSpan[],
  onsetsMs: readonly number[],
): (number | undefined)[] {
  return turns.map(({ startMs, endMs }, nth) => {
    const untilMs = turns[nth + 1]?.startMs ?? Infinity;
    const onsetMs = onsetsMs.find((ms) => ms > startMs && ms <= untilMs);
    return onsetMs === undefined ? undefined : onsetMs - endMs;
  });
}

/** `not_proven`: the measurements neither prove nor disprove that the target is met. */
export type LatencyVerdict = 'met' | 'missed' | 'not_proven';

/** The measurements of one call, or of many calls, in milliseconds. */
export interface LatencyEvidence {
  /**
   * The result of `computePathLatencyMs`; for many calls, their 95th percentile. Undefined if it
   * was not measured.
   */
  pathMs: number | undefined;
  /** The response latency of each turn that got a response, including negative ones. */
  turnResponsesMs: readonly number[];
  /** Why delays of this process make the measurement unreliable; undefined if they don't. */
  localDelay?: string | undefined;
}

/** A verdict and its reason, in one sentence. */
export interface LatencyJudgment {
  verdict: LatencyVerdict;
  reason: string;
}

/**
 * Judges whether voice audio latency is below 200 ms (spec 8).
 *
 * The network path latency is a lower bound: at 200 ms or more the target is missed. The response
 * latency is an upper bound, because it includes everything the agent does: below 200 ms the target
 * is met. The median of the turns counts, and only if the agent never responded before the end of a
 * turn: an agent that speaks at random sometimes hits the end of a turn by chance. Delays of this
 * process only make the measured values larger, never smaller.
 */
export function judgeAudioLatency(evidence: LatencyEvidence): LatencyJudgment {
  const { pathMs, turnResponsesMs, localDelay } = evidence;
  if (pathMs === undefined) return notProven('the network path latency was not measured');
  if (pathMs >= VOICE_AUDIO_LATENCY_MS_TARGET) {
    return localDelay === undefined
      ? { verdict: 'missed', reason: `the network path latency alone is ${formatMs(pathMs)}` }
      : notProven(`the network path latency was ${formatMs(pathMs)}, but ${localDelay}`);
  }
  const path = `path ${formatMs(pathMs)}`;
  const [earliestMs = Infinity, medianMs = Infinity] = [0, 50].map((percent) =>
    findPercentile(turnResponsesMs, percent),
  );
  if (earliestMs < 0) {
    return notProven(`${path}; it spoke ${formatMs(-earliestMs)} before the end of a turn`);
  }
  if (medianMs < VOICE_AUDIO_LATENCY_MS_TARGET) {
    return {
      verdict: 'met',
      reason: `${path}; half of the turns took ${formatMs(medianMs)} or less`,
    };
  }
  return notProven(`${path}; ${BUFFERING_IS_HIDDEN}`);
}

/** A packet shows when it left the agent, but not how long the agent held its audio before that. */
const BUFFERING_IS_HIDDEN =
  "how long the agent buffers audio before it sends it can't be measured from outside";

const notProven = (reason: string): LatencyJudgment => ({ verdict: 'not_proven', reason });

const formatMs = (ms: number): string => `${Math.round(ms)} ms`;
