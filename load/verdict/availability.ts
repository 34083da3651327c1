import type { LoadTarget, Outages } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { formatCount, formatNumber, formatShare } from '../../src/report-kit/format.ts';
import { addBlocks, type Block } from '../record/blocks.ts';
import { addCounts, describeCounts } from '../record/counts.ts';
import { findLowerBound, findUpperBound } from './binomial.ts';
import type { RequestMeasurements } from './measurements.ts';
import { judgeShare, toPercent } from './share.ts';
import { estimate, notTested, reportTarget, type TargetRow } from './target.ts';

/** Judges the share of successful requests over all request types. */
export function judgeAvailability(
  row: TargetRow,
  { streams }: RequestMeasurements,
  random: Random,
): LoadTarget {
  const failures: Block[] = [];
  const errors: Record<string, number> = {};
  for (const stream of streams.values()) {
    addBlocks(failures, stream.failures);
    addCounts(errors, stream.errors);
  }
  const share = judgeShare(failures, 1 - row.target / 100, random);
  const { samples, hits, low, high } = share;
  if (samples === 0) {
    const figures = estimate(row, null, [null, null]);
    return reportTarget(row, figures, share, 'No request completed.');
  }
  const succeeded = 1 - hits / samples;
  const kinds = describeCounts(errors);
  return reportTarget(
    row,
    estimate(row, toPercent(succeeded), [toPercent(1 - high), toPercent(1 - low)]),
    share,
    `${formatNumber(samples - hits)} of ${formatCount(samples, 'request')} succeeded (${formatShare(succeeded)})${kinds && `; errors: ${kinds}`}.`,
  );
}

/** Judges whether every response belongs to the session of its request: a single mix-up is a fail. */
export function judgeSessions(
  row: TargetRow,
  { streams }: RequestMeasurements,
): LoadTarget | undefined {
  const chat = streams.get('chat');
  if (!chat) return undefined;
  const mixedUp = chat.errors['mixed_up'] ?? 0;
  const samples = Math.max(chat.echoed, mixedUp);
  if (samples === 0) {
    return notTested(
      row,
      'No response contained a session id; the interface does not require one.',
    );
  }
  return reportTarget(
    row,
    estimate(row, toPercent(1 - mixedUp / samples), [
      toPercent(1 - findUpperBound(mixedUp, samples)),
      toPercent(1 - findLowerBound(mixedUp, samples)),
    ]),
    { verdict: mixedUp > 0 ? 'FAIL' : 'PASS', samples },
    mixedUp > 0
      ? `${formatNumber(mixedUp)} of ${formatCount(samples, 'response')} contained data of another session.`
      : `All ${formatNumber(samples)} responses with a session id contained the right one.`,
  );
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
