import { hash } from 'node:crypto';
import type { LoadReport, LoadShard } from '../../src/contract/index.ts';
import { isoTime } from '../../src/platform/clock.ts';
import type { LoadRun, ShardOptions } from '../load-run.ts';
import type { RequestRun } from '../phases/request-run.ts';
import { encodeRecord } from '../record/shard-record.ts';
import { notTested } from '../verdict/target.ts';

/** Returns what identifies a shard and its run, in addition to the plan and the seed. */
export function identifyShard(
  { lines }: Pick<LoadRun, 'lines'>,
  { index, count, startAtMs }: ShardOptions,
): LoadShard {
  return {
    index,
    count,
    ...(startAtMs !== undefined && { startAt: isoTime(startAtMs) }),
    ...(lines && { messagesDigest: hash('sha256', JSON.stringify(lines), 'hex') }),
  };
}

/** Turns the report of a part of a run into one without verdicts, but with all that a merge needs. */
export function toShardReport(
  report: LoadReport,
  { lines }: Pick<LoadRun, 'lines'>,
  shard: ShardOptions,
  { record, ranMs, windowStartedAtMs }: RequestRun,
): LoadReport {
  const { selfCheck, sentence, blockedBy, aborted } = report;
  const isComplete = selfCheck.valid && !blockedBy && aborted === undefined;
  const part = `Shard ${shard.index} of ${shard.count}`;
  return {
    ...report,
    verdict: selfCheck.valid ? 'NOT TESTED' : 'INVALID RUN',
    exitCode: isComplete ? 0 : 3,
    sentence: selfCheck.valid
      ? `${part} ${isComplete ? 'is complete' : 'ended early'}. Run load --merge with the reports of all shards for the verdict.`
      : sentence,
    targets: report.targets.map((target) =>
      target.verdict === 'NOT TESTED'
        ? target
        : notTested(target, 'Only the merged report of all shards judges this target.'),
    ),
    shard: {
      ...identifyShard({ lines }, shard),
      measurements: {
        windowStartedAt: isoTime(windowStartedAtMs),
        ranMs,
        ...encodeRecord(record, report.streams, ranMs),
      },
    },
  };
}
