import { percentileOf } from './percentile.ts';

/** The target of the specification for voice audio latency, in milliseconds (spec 8). */
export const audioLatencyMsMax = 200;

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
  kitLimit?: string | undefined;
}

/** A verdict, and in one sentence why. */
export interface LatencyJudgement {
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
export function judgeAudioLatency(evidence: LatencyEvidence): LatencyJudgement {
  const { pathMs, turnResponsesMs, echoMs, kitLimit } = evidence;
  if (pathMs === undefined) return notProven('the way of the audio was not measured');
  if (pathMs >= audioLatencyMsMax) {
    return kitLimit === undefined
      ? { verdict: 'missed', reason: `the way of the audio alone takes ${shown(pathMs)}` }
      : notProven(`the way of the audio took ${shown(pathMs)}, but ${kitLimit}`);
  }
  const path = `path ${shown(pathMs)}`;
  if (echoMs !== undefined && echoMs >= audioLatencyMsMax) {
    return notProven(`${path}; its echo takes ${shown(echoMs)} there and back`);
  }
  if (echoMs !== undefined && echoMs > 0) {
    return { verdict: 'met', reason: `${path}; its echo takes ${shown(echoMs)} there and back` };
  }
  const [soonestMs = Infinity, medianMs = Infinity] = [0, 50].map((percent) =>
    percentileOf(turnResponsesMs, percent),
  );
  if (soonestMs < 0) {
    return notProven(`${path}; it spoke ${shown(-soonestMs)} before a turn was over`);
  }
  if (medianMs < audioLatencyMsMax) {
    return { verdict: 'met', reason: `${path}; half of the turns took ${shown(medianMs)} or less` };
  }
  return notProven(`${path}; ${HIDDEN}`);
}

/** Packets show when they left the agent, and not for how long it held their sound back before. */
const HIDDEN =
  'for how long the agent holds sound back before it sends it is not seen from outside';

const notProven = (reason: string): LatencyJudgement => ({ verdict: 'not_proven', reason });

const shown = (ms: number): string => `${Math.round(ms)} ms`;
