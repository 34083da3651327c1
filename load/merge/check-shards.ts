import type { LoadReport, LoadShard } from '../../src/contract/index.ts';
import { formatDuration, formatList } from '../../src/report-kit/format.ts';
import { describeShard, type Shard } from '../schedule/shard.ts';
import { MergeError, type NamedReport } from './merge-error.ts';

/** The report of a shard. */
export type ShardReport = LoadReport & { shard: LoadShard };

/**
 * Returns the reports in the order of their shards.
 *
 * @throws {MergeError} unless they are all shards of one run, each once, and started together.
 */
export function checkShards(
  reports: readonly NamedReport<LoadReport>[],
): readonly [NamedReport<ShardReport>, ...NamedReport<ShardReport>[]] {
  const [first, ...others] = reports.map(toShard);
  if (!first) throw new MergeError('There is no report to merge.');
  for (const other of others) rejectOtherRun(first, other);
  const shards = [first, ...others] as const;
  rejectIncomplete(shards);
  rejectOtherStreams(shards);
  rejectLateStarts(shards);
  const [lowest = first, ...rest] = shards.toSorted(
    (left, right) => left.report.shard.index - right.report.shard.index,
  );
  return [lowest, ...rest];
}

function toShard({ name, report }: NamedReport<LoadReport>): NamedReport<ShardReport> {
  const { shard } = report;
  if (report.mergedFrom) {
    throw new MergeError(
      `${name} is already a merged report. Merge the reports of the single shards instead.`,
    );
  }
  if (!shard) {
    throw new MergeError(
      `${name} is the report of a whole run, not of a shard. Run load with --shard, such as --shard 1/2, and merge those reports.`,
    );
  }
  if (shard.index > shard.count) {
    throw new MergeError(`${name} is damaged: it claims to be ${describeShard(shard)}.`);
  }
  return { name, report: { ...report, shard } };
}

/** The common properties of all shards of a run. */
const identityOf = ({
  plan,
  shard,
  targets,
  ...report
}: ShardReport): [string, string | number | undefined][] => [
  ['sandbox', report.sandbox],
  ['kit version', report.kitVersion],
  ['number of shards', shard.count],
  ['seed', report.seed],
  ['requested start', shard.startAt],
  ['profile', plan.profile],
  ['rate', plan.ratePerSecond],
  ['number of simulated users', plan.simulatedUsers],
  ['duration', formatDuration(plan.windowMs)],
  ['warm-up', formatDuration(plan.warmUpMs + plan.rampMs)],
  ['spacing of requests', plan.arrivals],
  ['load generator', plan.engine],
  ['percentile', plan.percentile],
  ['list of thresholds', thresholdsOf({ targets }).join(', ') || undefined],
  ['set of messages', shard.messagesDigest],
];

/** Returns the texts of the thresholds of a run. */
export const thresholdsOf = ({ targets }: Pick<LoadReport, 'targets'>): string[] =>
  targets.filter(({ metric }) => metric !== undefined).map(({ id }) => id);

function rejectOtherRun(first: NamedReport<ShardReport>, other: NamedReport<ShardReport>): void {
  const expected = new Map(identityOf(first.report));
  const different = identityOf(other.report).find(([key, value]) => expected.get(key) !== value);
  if (!different) return;
  const [key, value] = different;
  const show = (each: string | number | undefined): string =>
    each === undefined ? 'not set' : String(each);
  throw new MergeError(
    `${first.name} and ${other.name} are shards of different runs: the ${key} is ${show(expected.get(key))} in ${first.name}, but ${show(value)} in ${other.name}. Give all shards of a run the same options except --shard.`,
  );
}

function rejectIncomplete(shards: readonly NamedReport<ShardReport>[]): void {
  const names = new Map<number, string>();
  for (const { name, report } of shards) {
    const { index } = report.shard;
    const earlier = names.get(index);
    if (earlier !== undefined) {
      throw new MergeError(
        `${earlier} and ${name} are both ${describeShard(report.shard)}. Merge each shard once.`,
      );
    }
    names.set(index, name);
  }
  const count = shards[0]?.report.shard.count ?? 0;
  const missing = Array.from({ length: count }, (_, nth): Shard => ({ index: nth + 1, count }))
    .filter(({ index }) => !names.has(index))
    .map(({ index }) => `${index}/${count}`);
  if (missing.length === 0) return;
  const listed =
    missing.length === 1
      ? `Shard ${missing[0] ?? ''} is missing`
      : `Shards ${formatList(missing, 10)} are missing`;
  throw new MergeError(`${listed}. Merge the reports of all ${count} shards of the run.`);
}

/** A shard that did not start has no streams. */
const hasStarted = ({ report }: NamedReport<ShardReport>): boolean =>
  report.shard.measurements !== undefined;

function rejectOtherStreams(shards: readonly NamedReport<ShardReport>[]): void {
  const [first, ...others] = shards.filter(hasStarted);
  if (!first) return;
  const streamsOf = ({ report }: NamedReport<ShardReport>): string => formatList(report.streams);
  const other = others.find((each) => streamsOf(each) !== streamsOf(first));
  if (!other) return;
  throw new MergeError(
    `${first.name} and ${other.name} sent different requests: ${streamsOf(first)} in ${first.name}, but ${streamsOf(other)} in ${other.name}. The sandbox must have the same endpoints for all shards.`,
  );
}

/** A second, or a hundredth of a long steady state. */
const START_SPREAD_MS_MIN = 1_000;
const START_SPREAD_SHARE = 0.01;

/** Returns how far apart the steady states of shards may begin, in milliseconds. */
const startSpreadMaxOf = ({ windowMs }: LoadReport['plan']): number =>
  Math.max(START_SPREAD_MS_MIN, windowMs * START_SPREAD_SHARE);

/** Returns how far apart the steady states of shards began, in milliseconds. */
export function startSpreadOf(shards: readonly NamedReport<ShardReport>[]): number {
  const starts = shards.filter(hasStarted).map(startOf);
  return starts.length === 0 ? 0 : Math.max(...starts) - Math.min(...starts);
}

const startOf = ({ report }: NamedReport<ShardReport>): number =>
  Date.parse(report.shard.measurements?.windowStartedAt ?? '');

function rejectLateStarts(shards: readonly NamedReport<ShardReport>[]): void {
  const [first] = shards;
  const spreadMs = startSpreadOf(shards);
  if (!first || spreadMs <= startSpreadMaxOf(first.report.plan)) return;
  const ordered = shards
    .filter(hasStarted)
    .toSorted((left, right) => startOf(left) - startOf(right));
  const [earliest, latest] = [ordered[0]?.name ?? '', ordered.at(-1)?.name ?? ''];
  const allowed = formatDuration(startSpreadMaxOf(first.report.plan));
  throw new MergeError(
    `The steady states of ${earliest} and ${latest} began ${formatDuration(spreadMs)} apart, but at most ${allowed} is allowed: the sandbox gets the planned rate only while all shards send. Start all shards with the same --start-at, on machines with synchronized clocks.`,
  );
}
