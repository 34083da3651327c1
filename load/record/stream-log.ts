import type { FaultKind, StreamReport } from '../../src/contract/index.ts';
import { countSample, type Block } from './blocks.ts';
import { createHistogram, type Durations } from './histogram.ts';
import { roundTo } from '../../src/platform/round.ts';

/** A completed and validated request. Times are milliseconds since the start of the steady state. */
export interface CompletedRequest {
  /** The intended start. */
  dueMs: number;
  sentMs: number;
  firstByteMs?: number;
  endedMs: number;
  /** The timeout, from the intended start. */
  deadlineMs: number;
  /** Why the request failed. */
  fault?: FaultKind;
  /** Whether a complete 2xx response arrived, whose time counts as a response time. */
  hasResponse: boolean;
  /** Ids of the requirements that the response violates. */
  findings?: readonly string[];
  /** Whether the response contained a session id. */
  echoed?: boolean;
  retryAfterS?: number;
}

/** Results of the requests of one stream in the steady state. */
export interface StreamLog {
  offered: number;
  sent: number;
  add(request: CompletedRequest): void;
  readonly response: Durations;
  readonly service: Durations;
  readonly lag: Durations;
  readonly firstByte: Durations;
  readonly errors: Record<string, number>;
  /** Requirements that responses did not meet, and how often. */
  readonly findings: Record<string, number>;
  ok: number;
  echoed: number;
  goodput: number;
  /** The longest Retry-After in seconds. */
  retryAfterS: number | undefined;
  /** Requests, and failed requests, in blocks of 5 s. */
  readonly failures: Block[];
  /** Response times, and those that missed the target, in blocks of 5 s. */
  readonly misses: Block[];
  /** The same for each threshold on the response time. */
  readonly breaches: readonly Block[][];
  /** The due time of every request, and whether it failed. */
  readonly outcomes: { dueMs: number; failed: boolean }[];
  report(windowMs: number): StreamReport;
}

/** Decides whether a response time misses a limit. */
export type IsMiss = (ms: number) => boolean;

/** Creates the log of a stream for its target and its thresholds on the response time. */
export function createStreamLog(isMiss: IsMiss, breachTests: readonly IsMiss[] = []): StreamLog {
  const [response, service, lag, firstByte] = [
    createHistogram(),
    createHistogram(),
    createHistogram(),
    createHistogram(),
  ];
  const errors: Record<string, number> = {};
  const findings: Record<string, number> = {};
  const failures: Block[] = [];
  const misses: Block[] = [];
  const breaches = breachTests.map((): Block[] => []);
  const outcomes: { dueMs: number; failed: boolean }[] = [];
  const counts = { offered: 0, sent: 0, ok: 0, echoed: 0, goodput: 0 };
  const log = { ...counts, retryAfterS: undefined as number | undefined };
  const recordTimes = (request: CompletedRequest): void => {
    // A timed-out request took at least as long as its deadline.
    const isTimeout = request.fault === 'timeout';
    if (!request.hasResponse && !isTimeout) return;
    const tookMs = isTimeout ? request.deadlineMs : request.endedMs - request.dueMs;
    response.record(tookMs);
    service.record(isTimeout ? request.deadlineMs : request.endedMs - request.sentMs);
    countSample(misses, request.dueMs, isMiss(tookMs));
    for (const [nth, isBreach] of breachTests.entries()) {
      countSample(breaches[nth] ?? [], request.dueMs, isBreach(tookMs));
    }
    if (request.fault === undefined && !isMiss(tookMs)) log.goodput++;
  };
  return Object.assign(log, {
    response,
    service,
    lag,
    firstByte,
    errors,
    findings,
    failures,
    misses,
    breaches,
    outcomes,
    add(request: CompletedRequest) {
      lag.record(request.sentMs - request.dueMs);
      if (request.firstByteMs !== undefined) firstByte.record(request.firstByteMs - request.sentMs);
      recordTimes(request);
      if (request.fault === undefined) log.ok++;
      else errors[request.fault] = (errors[request.fault] ?? 0) + 1;
      if (request.echoed === true) log.echoed++;
      for (const id of request.findings ?? []) findings[id] = (findings[id] ?? 0) + 1;
      if (request.retryAfterS !== undefined) {
        log.retryAfterS = Math.max(log.retryAfterS ?? 0, request.retryAfterS);
      }
      const failed = request.fault !== undefined;
      countSample(failures, request.dueMs, failed);
      outcomes.push({ dueMs: roundTo(request.dueMs, 3), failed });
    },
    report: (windowMs: number): StreamReport => ({
      offered: log.offered,
      sent: log.sent,
      ok: log.ok,
      goodput: log.goodput,
      errors: { ...errors },
      latencyMs: response.summary(),
      serviceMs: service.summary(),
      lagMs: lag.summary(),
      firstByteMs: firstByte.summary(),
      offeredPerSecond: roundTo(perSecond(log.offered, windowMs), 3),
      okPerSecond: roundTo(perSecond(log.ok, windowMs), 3),
      ...(log.retryAfterS === undefined ? {} : { retryAfterS: log.retryAfterS }),
      ...(Object.keys(findings).length === 0 ? {} : { findings: { ...findings } }),
    }),
  });
}

/** Returns a number of requests as a rate; 0 if there was no time. */
export const perSecond = (times: number, ms: number): number => (ms > 0 ? (times / ms) * 1000 : 0);
