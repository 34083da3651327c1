import type { LoadTarget, Outages } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { formatCount, formatNumber, formatShare } from '../../src/report-kit/format.ts';
import { findLowerBound, findUpperBound } from './binomial.ts';
import type { Block } from '../record/blocks.ts';
import { judgeShare } from './share.ts';
import { notTested, targetRows, toPercent, withReservation } from './targets.ts';

/** Judges the share of successful requests over all request types. */
export function judgeAvailability(
  blocks: readonly Block[],
  errorCounts: string,
  random: Random,
): LoadTarget {
  const row = targetRows.availability;
  const allowed = 1 - row.target / 100;
  const share = judgeShare(blocks, allowed, random);
  const { verdict, samples, samplesNeeded, hits, low, high, reservation } = share;
  if (samples === 0) {
    const range95: [null, null] = [null, null];
    const reason = withReservation('No request completed.', reservation);
    return { ...row, measured: null, bound95: null, range95, samples, verdict, reason };
  }
  const range: [number, number] = [toPercent(1 - high), toPercent(1 - low)];
  const errors = errorCounts === '' ? '' : `; errors: ${errorCounts}`;
  const summary = `${formatNumber(samples - hits)} of ${formatCount(samples, 'request')} succeeded (${formatShare(1 - hits / samples)})${errors}.`;
  return {
    ...row,
    measured: toPercent(1 - hits / samples),
    bound95: range[0],
    range95: range,
    samples,
    ...(samplesNeeded !== undefined && { samplesNeeded }),
    verdict,
    reason: withReservation(summary, reservation),
  };
}

/** Judges whether every response belongs to the session of its request: a single mix-up is a fail. */
export function judgeSessions(echoed: number, mixedUp: number): LoadTarget {
  const row = targetRows.chatSessions;
  const samples = Math.max(echoed, mixedUp);
  if (samples === 0) {
    return notTested(
      row,
      'No response contained a session id; the interface does not require one.',
    );
  }
  const range: [number, number] = [
    toPercent(1 - findUpperBound(mixedUp, samples)),
    toPercent(1 - findLowerBound(mixedUp, samples)),
  ];
  return {
    ...row,
    measured: toPercent(1 - mixedUp / samples),
    bound95: range[0],
    range95: range,
    samples,
    verdict: mixedUp > 0 ? 'FAIL' : 'PASS',
    reason:
      mixedUp > 0
        ? `${formatNumber(mixedUp)} of ${formatCount(samples, 'response')} contained data of another session.`
        : `All ${formatNumber(samples)} responses with a session id contained the right one.`,
  };
}

/** The due time of a request, and whether it failed. */
export interface RequestOutcome {
  dueMs: number;
  failed: boolean;
}

/**
 * Finds outages: each lasts from the first failed request to the next successful one. Each request
 * type is examined separately, because a working health endpoint does not end an outage of chat.
 */
export function findOutages(
  streams: readonly (readonly RequestOutcome[])[],
  windowMs: number,
): Outages {
  const failedSeconds = new Set<number>();
  const outages = streams.flatMap((outcomes) => outagesOf(outcomes, windowMs, failedSeconds));
  const seconds = Math.ceil(windowMs / 1000);
  return {
    seconds,
    cleanSeconds: seconds - failedSeconds.size,
    longestMs: Math.round(outages.reduce((longest, ms) => Math.max(longest, ms), 0)),
    incidents: outages.length,
  };
}

/** Returns the length of each outage in milliseconds, and adds the seconds with failures to a set. */
function outagesOf(
  outcomes: readonly RequestOutcome[],
  windowMs: number,
  failedSeconds: Set<number>,
): number[] {
  const ordered = outcomes.toSorted((left, right) => left.dueMs - right.dueMs);
  const outages: number[] = [];
  let sinceMs: number | undefined;
  for (const { dueMs, failed } of ordered) {
    if (failed) {
      failedSeconds.add(Math.floor(dueMs / 1000));
      sinceMs ??= dueMs;
    } else if (sinceMs !== undefined) {
      outages.push(dueMs - sinceMs);
      sinceMs = undefined;
    }
  }
  if (sinceMs !== undefined) outages.push(Math.max(0, windowMs - sinceMs));
  return outages;
}
