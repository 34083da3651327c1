import type { LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { findPercentileRange } from '../verdict/binomial.ts';
import type { Block } from '../record/blocks.ts';
import { judgeShare } from '../verdict/share.ts';
import { withReservation } from '../verdict/targets.ts';
import { formatCount, formatDuration, formatNumber } from '../../src/report-kit/format.ts';
import type { CallOutcome } from '../voice/fleet-messages.ts';
import { judgeErrorRate, judgeSlowest } from './judge-threshold.ts';
import type { CallTime } from './metrics.ts';
import { isBreach, type Threshold } from './threshold.ts';
import { roundTo } from '../../src/platform/round.ts';

/**
 * Judges a threshold on calls. A call that failed before this time could be measured, and a turn
 * without a response, miss the limit. The turns of a call are one block of samples, because a slow
 * call usually has several slow turns.
 */
export function judgeCallThreshold(
  threshold: Threshold,
  calls: readonly CallOutcome[],
  random: Random,
): LoadTarget {
  const { metric, row } = threshold;
  const { measure } = metric;
  if (measure.kind !== 'time' || measure.callTime === undefined) {
    const failures = calls.map(({ isHeld }): Block => ({ samples: 1, hits: isHeld ? 0 : 1 }));
    return judgeErrorRate(threshold, failures, 'call', random);
  }
  const { callTime, percentile } = measure;
  const timesByCall = calls.map((call) => timesOf(call, callTime));
  const times = timesByCall.flat().sort((left, right) => left - right);
  const breaches = timesByCall.map((each): Block => ({
    samples: each.length,
    hits: each.filter((ms) => isBreach(threshold, ms)).length,
  }));
  const noun = callTime === 'turn_response' ? 'turn' : 'call';
  const atRank = (rank: number): number | null => finite(times[rank - 1]);
  if (percentile === 'max') return judgeSlowest(threshold, breaches, atRank(times.length), noun);
  const { verdict, samples, hits, reservation } = judgeShare(
    breaches,
    1 - percentile / 100,
    random,
  );
  const range = findPercentileRange(percentile, samples, atRank);
  const measured = atRank(Math.ceil((percentile / 100) * samples));
  const missing = times.filter((ms) => ms === Infinity).length;
  const without = missing === 0 ? '' : ` (${formatNumber(missing)} of them without a result)`;
  const value = measured === null ? 'could not be measured' : `is ${formatDuration(measured)}`;
  const summary =
    samples === 0
      ? 'Nothing was measured.'
      : `The p${percentile} over ${formatCount(samples, noun)} ${value}; ${formatNumber(hits)} missed the limit${without}.`;
  return {
    ...row,
    measured,
    bound95: range[1],
    range95: range,
    samples,
    verdict,
    reason: withReservation(summary, reservation),
  };
}

/** Returns the times of a call; Infinity for each time that is missing because the call failed. */
function timesOf(call: CallOutcome, callTime: CallTime): number[] {
  if (callTime === 'turn_response') {
    return [
      ...call.turnResponsesMs,
      ...Array.from({ length: call.unansweredTurns }, () => Infinity),
    ];
  }
  const { readyMs, setupMs, firstPacketMs, pathMs, fault } = call;
  const measured = {
    ready: readyMs,
    setup: setupMs,
    first_packet: firstPacketMs,
    audio_path_latency: pathMs,
  }[callTime];
  if (measured !== undefined) return [measured];
  // The path of a call that never connected has no latency.
  return fault && callTime !== 'audio_path_latency' ? [Infinity] : [];
}

const finite = (ms: number | undefined): number | null =>
  ms === undefined || ms === Infinity ? null : roundTo(ms, 2);
