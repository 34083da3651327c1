import type { LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { roundTo } from '../../src/platform/round.ts';
import { formatCount, formatDuration, formatNumber } from '../../src/report-kit/format.ts';
import type { Block } from '../record/blocks.ts';
import { estimatePercentile, timesOf } from '../verdict/percentile.ts';
import { judgeShare } from '../verdict/share.ts';
import { isMiss, reportTarget } from '../verdict/target.ts';
import type { CallOutcome } from '../voice/fleet-messages.ts';
import { judgeErrorRate, judgeSlowest } from './judge-threshold.ts';
import type { CallTime } from './metrics.ts';
import type { Threshold } from './threshold.ts';

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
  const timesByCall = calls.map((call) => callTimesOf(call, callTime));
  const allMs = timesByCall.flat();
  const times = timesOf(allMs.map((ms) => roundTo(ms, 2)));
  const breaches = timesByCall.map((each): Block => ({
    samples: each.length,
    hits: each.filter((ms) => isMiss(threshold, ms)).length,
  }));
  const noun = callTime === 'turn_response' ? 'turn' : 'call';
  if (percentile === 'max') {
    return judgeSlowest(threshold, breaches, times.atRank(times.count), noun);
  }
  const { verdict, samples, hits, reservation } = judgeShare(
    breaches,
    1 - percentile / 100,
    random,
  );
  const figures = estimatePercentile(row, times, percentile);
  const { measured } = figures;
  const missing = allMs.filter((ms) => ms === Infinity).length;
  const without = missing === 0 ? '' : ` (${formatNumber(missing)} of them without a result)`;
  const value = measured === null ? 'could not be measured' : `is ${formatDuration(measured)}`;
  const summary =
    samples === 0
      ? 'Nothing was measured.'
      : `The p${percentile} over ${formatCount(samples, noun)} ${value}; ${formatNumber(hits)} missed the limit${without}.`;
  // A longer run has no more calls, so the number of samples that are needed is left out.
  return reportTarget(row, figures, { verdict, samples, reservation }, summary);
}

/** Returns the times of a call; Infinity for each time that is missing because the call failed. */
function callTimesOf(call: CallOutcome, callTime: CallTime): number[] {
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
