import type { LoadReport, MergedShard, WarmUp } from '../../src/contract/index.ts';
import { formatCount, formatDuration } from '../../src/report-kit/format.ts';
import { profiles } from '../profiles/profiles.ts';
import { createRecorder, type Recorder, type RecorderOptions } from '../record/recorder.ts';
import { mergeRecord } from '../record/shard-record.ts';
import { judgeMeasurements } from '../report/judgment.ts';
import { buildBlockedReport, reportHead } from '../report/report.ts';
import { describeShard } from '../schedule/shard.ts';
import { mergeShardChecks } from '../self-check/self-check.ts';
import { createBreachTests } from '../thresholds/stream-thresholds.ts';
import { parseThresholds } from '../thresholds/threshold.ts';
import { checkShards, startSpreadOf, thresholdsOf, type ShardReport } from './check-shards.ts';
import { MergeError, type NamedReport } from './merge-error.ts';

/**
 * Merges the reports of all shards of a run into one report with one verdict. Histograms and counts are
 * those of a single load generator that measured the same requests.
 *
 * @throws {MergeError} unless the reports are all shards of one run, each once, and started together.
 */
export function mergeReports(
  reports: readonly NamedReport<LoadReport>[],
  { acceptNotProven }: { acceptNotProven: boolean },
): LoadReport {
  const shards = checkShards(reports);
  const [{ report: first }] = shards;
  const { plan, seed } = first;
  const thresholds = parseThresholds(thresholdsOf(first));
  const starts = shards.map(({ report }) => Date.parse(report.startedAt));
  const ends = shards.map(({ report }) => Date.parse(report.endedAt));
  const run = { plan, startedAtMs: Math.min(...starts) };
  const clock = { nowMs: () => Math.max(...ends) };
  const options = { ...first, thresholds, clock, shard: undefined };
  const blocker = findBlocker(shards);
  const mergedFrom = shards.map(({ report }) => toMergedShard(report));
  if (shards.some(({ report }) => !report.shard.measurements)) {
    return {
      ...buildBlockedReport(options, run, blocker ?? NOT_STARTED),
      mergedFrom,
    };
  }
  // Shards send no calls, so their profile has a main stream.
  const traffic = { main: profiles[plan.profile].main ?? 'chat', streams: first.streams };
  const record = mergeRecords(shards, {
    ...traffic,
    windowMs: plan.windowMs,
    breachTests: createBreachTests(thresholds),
  });
  const check = mergeShardChecks(
    shards.map(({ report }) => ({ name: nameOf(report), check: report.selfCheck })),
    findEarlyEnd(shards),
  );
  const ranMs = Math.max(...shards.map(({ report }) => report.shard.measurements?.ranMs ?? 0));
  const judged = judgeMeasurements(
    { seed, thresholds, acceptNotProven },
    { plan, traffic, record, ranMs },
    check,
    blocker,
  );
  const { verdict, exitCode, sentence } = judged;
  const aborted = shards.flatMap(({ report }) =>
    report.aborted === undefined ? [] : [`${nameOf(report)}: ${report.aborted}`],
  );
  return {
    // The verdict stands first in a report, and the rest of the judgment behind the plan.
    ...{ verdict, exitCode, sentence },
    ...reportHead(options, run),
    ...(blocker && { blockedBy: blocker }),
    ...(aborted.length > 0 && { aborted: aborted.join(' ') }),
    plan,
    mergedFrom,
    ...judged,
    ...mergeWarmUps(shards.flatMap(({ report }) => report.warmUp ?? [])),
    notes: [
      `The report is merged from ${formatCount(shards.length, 'shard')}, whose steady states began ${formatDuration(startSpreadOf(shards))} apart.`,
      ...judged.notes,
      ...new Set(shards.flatMap(({ report }) => report.notes)),
    ],
  };
}

/** Why there is nothing to judge, if the report of a shard does not say it. */
const NOT_STARTED = { message: 'A shard did not start.', cure: 'Run all shards again.' };

const nameOf = ({ shard: { index, count } }: ShardReport): string => `Shard ${index}/${count}`;

/** Returns why the first blocked shard could not run; undefined if none was blocked. */
function findBlocker(shards: readonly NamedReport<ShardReport>[]): LoadReport['blockedBy'] {
  for (const { report } of shards) {
    const { blockedBy } = report;
    if (blockedBy) {
      return { message: `${nameOf(report)}: ${blockedBy.message}`, cure: blockedBy.cure };
    }
  }
  return undefined;
}

function mergeRecords(
  shards: readonly NamedReport<ShardReport>[],
  options: RecorderOptions,
): Recorder {
  const record = createRecorder(options);
  for (const { name, report } of shards) {
    const { measurements } = report.shard;
    try {
      if (measurements) mergeRecord(record, report, measurements);
    } catch (error) {
      throw new MergeError(
        `${name} is damaged: the measurements of ${describeShard(report.shard)} can't be read. Run all shards again.`,
        { cause: error },
      );
    }
  }
  return record;
}

/** Shards that stop because the sandbox is down notice it within a few seconds of each other. */
const END_SPREAD_MS_MAX = 5_000;

/** Says that a shard ended early while the others went on, with less than the planned rate. */
function findEarlyEnd(shards: readonly NamedReport<ShardReport>[]): string[] {
  const endOf = ({ report: { shard } }: NamedReport<ShardReport>): number =>
    Date.parse(shard.measurements?.windowStartedAt ?? '') + (shard.measurements?.ranMs ?? 0);
  const lastMs = Math.max(...shards.map(endOf));
  return shards
    .filter((each) => each.report.aborted !== undefined && lastMs - endOf(each) > END_SPREAD_MS_MAX)
    .map((each) => {
      const early = formatDuration(lastMs - endOf(each));
      return `${nameOf(each.report)} ended ${early} before the last shard, so the sandbox did not get the planned rate.`;
    });
}

function toMergedShard({
  shard,
  startedAt,
  endedAt,
  selfCheck,
  machine,
}: ShardReport): MergedShard {
  const { index, count, measurements } = shard;
  return {
    index,
    count,
    startedAt,
    endedAt,
    ...(measurements && { windowStartedAt: measurements.windowStartedAt }),
    selfCheck,
    ...(machine && { machine }),
  };
}

/** Adds up the warm-ups. Their medians can't be merged. */
function mergeWarmUps(warmUps: readonly WarmUp[]): { warmUp?: WarmUp } {
  const sum = (key: 'connections' | 'requests' | 'errors'): number =>
    warmUps.reduce((total, warmUp) => total + warmUp[key], 0);
  if (warmUps.length === 0) return {};
  const [connections, requests, errors] = [sum('connections'), sum('requests'), sum('errors')];
  return { warmUp: { connections, requests, errors, p50Ms: null } };
}
