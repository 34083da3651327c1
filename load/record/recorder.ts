import {
  chatResponseMsTarget,
  healthResponseMsTarget,
  type FaultKind,
  type FaultSample,
  type StreamName,
} from '../../src/contract/index.ts';
import { inFlightSeries, type InFlightSeries } from './in-flight.ts';
import { streamLog, type Ended, type StreamLog } from './stream-log.ts';
import { timeline, type Timeline } from './timeline.ts';

/** Keeps what a run needs to be judged. All times are milliseconds since the window began. */
export interface Recorder {
  readonly timeline: Timeline;
  readonly inFlight: InFlightSeries;
  readonly faultSamples: readonly FaultSample[];
  /** Requests of all kinds that are under way. */
  readonly underWay: number;
  log(stream: StreamName): StreamLog;
  offered(stream: StreamName, dueMs: number): void;
  sent(stream: StreamName, dueMs: number, sentMs: number): void;
  /** The network is done with it. */
  arrived(stream: StreamName, endedMs: number): void;
  /** It was looked at. */
  ended(stream: StreamName, ended: Ended, words: { detail: string; session?: string }): void;
}

/** What is to be recorded. */
export interface RecorderOptions {
  windowMs: number;
  streams: readonly StreamName[];
  /** The stream that the timeline is of. */
  main: StreamName;
}

/** Only so many of each kind of error are kept in words. */
const SAMPLES_A_KIND = 3;
const DETAIL_LENGTH_MAX = 200;

const isMiss: Record<StreamName, (ms: number) => boolean> = {
  chat: (ms) => ms >= chatResponseMsTarget,
  health: (ms) => ms > healthResponseMsTarget,
  users: () => false,
};

/** Starts an empty record. */
export function recorder({ windowMs, streams, main }: RecorderOptions): Recorder {
  const logs = new Map(streams.map((stream) => [stream, streamLog(isMiss[stream])]));
  const log = (stream: StreamName): StreamLog => {
    const found = logs.get(stream);
    if (!found) throw new Error(`the stream ${stream} is not recorded`);
    return found;
  };
  const seconds = timeline(windowMs);
  const series = inFlightSeries(windowMs);
  const faultSamples: FaultSample[] = [];
  const isJudged = (dueMs: number): boolean => dueMs >= 0 && dueMs < windowMs;
  const change = (stream: StreamName, atMs: number, by: 1 | -1): void => {
    underWay += by;
    if (stream !== main) return;
    ofMain += by;
    series.set(atMs, ofMain);
  };
  let underWay = 0;
  let ofMain = 0;
  return {
    timeline: seconds,
    inFlight: series,
    faultSamples,
    get underWay() {
      return underWay;
    },
    log,
    offered(stream, dueMs) {
      if (isJudged(dueMs)) log(stream).offered++;
      if (stream === main) seconds.offered(dueMs);
    },
    sent(stream, dueMs, sentMs) {
      if (isJudged(dueMs)) log(stream).sent++;
      change(stream, sentMs, 1);
      if (stream === main) seconds.sent(sentMs, ofMain);
    },
    arrived(stream, endedMs) {
      change(stream, endedMs, -1);
      if (stream === main) seconds.ended(endedMs, ofMain);
    },
    ended(stream, ended, { detail, session }) {
      const { fault: kind, endedMs, dueMs } = ended;
      if (isJudged(dueMs)) log(stream).add(ended);
      if (stream === main && (ended.answered || kind === 'timeout')) {
        seconds.responseTime(dueMs, endedMs - dueMs);
      }
      if (kind === undefined) {
        if (stream === main) seconds.ok(endedMs);
        return;
      }
      seconds.fault(endedMs, kind);
      if (!isJudged(dueMs) || timesSampled(faultSamples, kind) >= SAMPLES_A_KIND) return;
      const said = { detail: detail.slice(0, DETAIL_LENGTH_MAX), ...(session && { session }) };
      faultSamples.push({ kind, stream, atMs: Math.round(endedMs), ...said });
    },
  };
}

const timesSampled = (samples: readonly FaultSample[], kind: FaultKind): number =>
  samples.filter((sample) => sample.kind === kind).length;
