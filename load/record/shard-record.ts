/** The record of a shard in the form of its report, which the record of the whole run is made from. */
import type {
  LoadReport,
  ShardMeasurements,
  ShardStream,
  StreamName,
  StreamReport,
} from '../../src/contract/index.ts';
import { addBlocks, type Block } from './blocks.ts';
import { addCounts, sumCounts } from './counts.ts';
import { formatNumbers, parseNumbers } from './number-list.ts';
import { keepEarliest, keepSlowest, type Recorder } from './recorder.ts';
import type { StreamLog } from './stream-log.ts';

/** Returns what a merge needs in addition to the report, up to `ranMs`. */
export function encodeRecord(
  record: Recorder,
  streams: readonly StreamName[],
  ranMs: number,
): Pick<ShardMeasurements, 'inFlight' | 'responseTimes' | 'streams'> {
  return {
    inFlight: formatNumbers(record.inFlight.until(ranMs)),
    responseTimes: record.timeline.encodeTimes(),
    streams: streams.map((name) => encodeStream(name, record.log(name))),
  };
}

/**
 * Adds the record of a shard. The result is exactly that of recording its requests here.
 *
 * @throws {Error} if the record is damaged.
 */
export function mergeRecord(
  record: Recorder,
  report: LoadReport,
  measurements: ShardMeasurements,
): void {
  for (const shard of measurements.streams) {
    const streamReport = report[shard.name];
    if (!streamReport) throw new Error(`The stream ${shard.name} has no report.`);
    mergeStream(record.log(shard.name), streamReport, shard);
  }
  record.timeline.merge(report.timeline, measurements.responseTimes);
  record.inFlight.merge(parseNumbers(measurements.inFlight));
  record.faultSamples.push(...report.faultSamples);
  keepEarliest(record.faultSamples);
  record.slowest.push(...(report.slowest ?? []));
  keepSlowest(record.slowest);
}

function encodeStream(name: StreamName, log: StreamLog): ShardStream {
  const { echoed, response, service, lag, firstByte, failures, misses, breaches, outcomes } = log;
  const dueUs = (failed: boolean): string =>
    formatNumbers(
      outcomes
        .filter((outcome) => outcome.failed === failed)
        .map(({ dueMs }) => Math.round(dueMs * 1_000)),
    );
  return {
    name,
    echoed,
    response: response.encode(),
    service: service.encode(),
    lag: lag.encode(),
    firstByte: firstByte.encode(),
    failures: copyBlocks(failures),
    misses: copyBlocks(misses),
    breaches: breaches.map(copyBlocks),
    okDue: dueUs(false),
    failedDue: dueUs(true),
  };
}

function mergeStream(log: StreamLog, report: StreamReport, shard: ShardStream): void {
  const [okDue, failedDue] = [parseNumbers(shard.okDue), parseNumbers(shard.failedDue)];
  if (okDue.length !== report.ok || failedDue.length !== sumCounts(report.errors)) {
    throw new Error('The number of due times is not the number of requests.');
  }
  for (const key of ['offered', 'sent', 'ok', 'goodput'] as const) log[key] += report[key];
  log.echoed += shard.echoed;
  addCounts(log.errors, report.errors);
  addCounts(log.findings, report.findings ?? {});
  if (report.retryAfterS !== undefined) {
    log.retryAfterS = Math.max(log.retryAfterS ?? 0, report.retryAfterS);
  }
  for (const key of ['response', 'service', 'lag', 'firstByte'] as const) log[key].add(shard[key]);
  addBlocks(log.failures, shard.failures);
  addBlocks(log.misses, shard.misses);
  for (const [nth, blocks] of log.breaches.entries()) addBlocks(blocks, shard.breaches[nth] ?? []);
  for (const us of okDue) log.outcomes.push({ dueMs: us / 1_000, failed: false });
  for (const us of failedDue) log.outcomes.push({ dueMs: us / 1_000, failed: true });
}

const copyBlocks = (blocks: readonly Block[]): ShardStream['failures'] =>
  blocks.map((block) => ({ ...block }));
