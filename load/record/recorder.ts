import type { FaultKind, FaultSample, SlowSample, StreamName } from '../../src/contract/index.ts';
import { StreamLog, type CompletedRequest, type IsMiss } from './stream-log.ts';
import {
  createInFlightSeries,
  createTimeline,
  type InFlightSeries,
  type Timeline,
} from './timeline.ts';
import { roundTo } from '../../src/platform/round.ts';
import { isMiss } from '../verdict/target.ts';
import { findResponseTarget } from '../verdict/targets.ts';

/** The data of a request in the examples of a report. */
export interface CompletedDetails {
  detail: string;
  session?: string;
  traceId?: string | undefined;
}

/** Records a run. All times are milliseconds since the start of the steady state. */
export interface Recorder {
  readonly timeline: Timeline;
  readonly inFlight: InFlightSeries;
  readonly faultSamples: FaultSample[];
  /** The slowest requests of the main stream, slowest first. */
  readonly slowest: SlowSample[];
  /** Requests of all streams in flight. */
  readonly inFlightCount: number;
  log(stream: StreamName): StreamLog;
  /** Records that a request is due. */
  recordDue(stream: StreamName, dueMs: number): void;
  recordSend(stream: StreamName, dueMs: number, sentMs: number): void;
  /** Records that the response arrived. */
  recordArrival(stream: StreamName, endedMs: number): void;
  /** Records the validated result. */
  recordResult(stream: StreamName, request: CompletedRequest, details: CompletedDetails): void;
  /** Removes the requests that the end of a run cut off: they neither succeeded nor failed. */
  dropInFlight(): void;
}

/** Options of a recorder. */
export interface RecorderOptions {
  windowMs: number;
  streams: readonly StreamName[];
  /** The stream that the timeline shows. */
  main: StreamName;
  /** Returns the tests of a stream for its thresholds on times (default: none). */
  breachTests?: ((stream: StreamName) => readonly IsMiss[]) | undefined;
}

/** Number of examples to keep per kind of error. */
export const SAMPLES_PER_KIND = 3;
const DETAIL_LENGTH_MAX = 200;
/** Number of the slowest requests to keep. */
const SLOWEST_MAX = 5;

/** Returns the test of response times against the target of a stream. */
function createMissTest(stream: StreamName): IsMiss {
  const target = findResponseTarget(stream);
  return (ms) => target !== undefined && isMiss(target, ms);
}

/** Creates an empty record. */
export function createRecorder(options: RecorderOptions): Recorder {
  const { windowMs, streams, main, breachTests = () => [] } = options;
  const logs = new Map(
    streams.map((stream) => [stream, new StreamLog(createMissTest(stream), breachTests(stream))]),
  );
  const log = (stream: StreamName): StreamLog => {
    const streamLog = logs.get(stream);
    if (!streamLog) throw new Error(`The stream ${stream} is not recorded.`);
    return streamLog;
  };
  const seconds = createTimeline(windowMs);
  const series = createInFlightSeries(windowMs);
  const faultSamples: FaultSample[] = [];
  const slowest: SlowSample[] = [];
  const isJudged = (dueMs: number): boolean => dueMs >= 0 && dueMs < windowMs;
  const change = (stream: StreamName, atMs: number, by: 1 | -1): void => {
    inFlightCount += by;
    if (stream !== main) return;
    mainInFlight += by;
    series.set(atMs, mainInFlight);
  };
  let [inFlightCount, mainInFlight] = [0, 0];
  return {
    timeline: seconds,
    inFlight: series,
    faultSamples,
    slowest,
    get inFlightCount() {
      return inFlightCount;
    },
    log,
    recordDue(stream, dueMs) {
      if (isJudged(dueMs)) log(stream).offered++;
      if (stream === main) seconds.addDue(dueMs);
    },
    recordSend(stream, dueMs, sentMs) {
      if (isJudged(dueMs)) log(stream).sent++;
      change(stream, sentMs, 1);
      if (stream === main) seconds.addSend(sentMs, mainInFlight);
    },
    recordArrival(stream, endedMs) {
      change(stream, endedMs, -1);
      if (stream === main) seconds.addEnd(endedMs, mainInFlight);
    },
    recordResult(stream, request, { detail, session, traceId }) {
      const { fault: kind, endedMs, dueMs } = request;
      if (isJudged(dueMs)) log(stream).add(request);
      const names = { ...(session && { session }), ...(traceId && { traceId }) };
      if (isJudged(dueMs) && stream === main && traceId !== undefined) {
        addSlow(slowest, request, { stream, ...names, traceId });
      }
      if (stream === main && (request.hasResponse || kind === 'timeout')) {
        seconds.addResponseTime(dueMs, endedMs - dueMs);
      }
      if (kind === undefined) {
        if (stream === main) seconds.addOk(endedMs);
        return;
      }
      seconds.addFault(endedMs, kind);
      if (!isJudged(dueMs) || countSamples(faultSamples, kind) >= SAMPLES_PER_KIND) return;
      const sample = { detail: detail.slice(0, DETAIL_LENGTH_MAX), ...names };
      faultSamples.push({ kind, stream, atMs: Math.round(endedMs), ...sample });
    },
    dropInFlight() {
      const mainLog = log(main);
      mainLog.offered -= inFlightCount;
      mainLog.sent -= inFlightCount;
    },
  };
}

/** Adds a request to the slowest ones, if it is one of them. */
function addSlow(
  slowest: SlowSample[],
  { dueMs, endedMs, deadlineMs, hasResponse, fault }: CompletedRequest,
  names: Pick<SlowSample, 'stream' | 'session' | 'traceId'>,
): void {
  if (!hasResponse && fault !== 'timeout') return;
  const responseMs = roundTo(fault === 'timeout' ? deadlineMs : endedMs - dueMs, 2);
  if (slowest.length === SLOWEST_MAX && responseMs < (slowest.at(-1)?.responseMs ?? 0)) return;
  slowest.push({ ...names, atMs: Math.round(dueMs), responseMs, ...(fault && { fault }) });
  keepSlowest(slowest);
}

/** Keeps the slowest requests; of equally slow ones, those that were due first. */
export function keepSlowest(slowest: SlowSample[]): void {
  slowest.sort((a, b) => b.responseMs - a.responseMs || a.atMs - b.atMs);
  slowest.length = Math.min(SLOWEST_MAX, slowest.length);
}

/** Keeps the earliest samples of each kind. */
export function keepEarliest(samples: FaultSample[]): void {
  const ordered = samples.toSorted((left, right) => left.atMs - right.atMs);
  samples.length = 0;
  for (const sample of ordered) {
    if (countSamples(samples, sample.kind) < SAMPLES_PER_KIND) samples.push(sample);
  }
}

const countSamples = (samples: readonly FaultSample[], kind: FaultKind): number =>
  samples.filter((sample) => sample.kind === kind).length;
