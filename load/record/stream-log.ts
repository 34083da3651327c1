import type { FaultKind, StreamReport } from '../../src/contract/index.ts';
import { countSample, type Block } from './blocks.ts';
import { addCounts } from './counts.ts';
import { createHistogram } from './histogram.ts';
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

/** Decides whether a response time misses a limit. */
export type IsMiss = (ms: number) => boolean;

/** Results of the requests of one stream in the steady state. */
export class StreamLog {
  /** Requests that were due. */
  offered = 0;
  sent = 0;
  ok = 0;
  /** Requests that succeeded within the target time. */
  goodput = 0;
  /** Responses that contained a session id. */
  echoed = 0;
  /** The longest Retry-After in seconds. */
  retryAfterS: number | undefined;
  readonly response = createHistogram();
  readonly service = createHistogram();
  readonly lag = createHistogram();
  readonly firstByte = createHistogram();
  readonly errors: Record<string, number> = {};
  /** Requirements that responses did not meet, and how often. */
  readonly findings: Record<string, number> = {};
  /** Requests, and failed requests, in blocks of 5 s. */
  readonly failures: Block[] = [];
  /** Response times, and those that missed the target, in blocks of 5 s. */
  readonly misses: Block[] = [];
  /** The same for each threshold on the response time. */
  readonly breaches: readonly Block[][];
  /** The due time of every request, and whether it failed. */
  readonly outcomes: { dueMs: number; failed: boolean }[] = [];
  readonly #isMiss: IsMiss;
  readonly #breachTests: readonly IsMiss[];

  /** Creates the log of a stream for its target and its thresholds on the response time. */
  constructor(isMiss: IsMiss, breachTests: readonly IsMiss[]) {
    this.#isMiss = isMiss;
    this.#breachTests = breachTests;
    this.breaches = breachTests.map(() => []);
  }

  /** Counts a completed request. */
  add(request: CompletedRequest): void {
    const { dueMs, sentMs, firstByteMs, fault, findings = [], echoed, retryAfterS } = request;
    this.lag.record(sentMs - dueMs);
    if (firstByteMs !== undefined) this.firstByte.record(firstByteMs - sentMs);
    this.#addTimes(request);
    if (fault === undefined) this.ok++;
    else addCounts(this.errors, { [fault]: 1 });
    if (echoed === true) this.echoed++;
    for (const id of findings) addCounts(this.findings, { [id]: 1 });
    if (retryAfterS !== undefined) {
      this.retryAfterS = Math.max(this.retryAfterS ?? 0, retryAfterS);
    }
    const failed = fault !== undefined;
    countSample(this.failures, dueMs, failed);
    this.outcomes.push({ dueMs: roundTo(dueMs, 3), failed });
  }

  #addTimes({ dueMs, sentMs, endedMs, deadlineMs, fault, hasResponse }: CompletedRequest): void {
    // A timed-out request took at least as long as its deadline.
    const isTimeout = fault === 'timeout';
    if (!hasResponse && !isTimeout) return;
    const tookMs = isTimeout ? deadlineMs : endedMs - dueMs;
    const isMiss = this.#isMiss(tookMs);
    this.response.record(tookMs);
    this.service.record(isTimeout ? deadlineMs : endedMs - sentMs);
    countSample(this.misses, dueMs, isMiss);
    for (const [nth, isBreach] of this.#breachTests.entries()) {
      countSample(this.breaches[nth] ?? [], dueMs, isBreach(tookMs));
    }
    if (fault === undefined && !isMiss) this.goodput++;
  }

  /** Returns the results in the form of a report. `windowMs` is the time that the rates refer to. */
  report(windowMs: number): StreamReport {
    const { offered, sent, ok, goodput, errors, findings, retryAfterS } = this;
    return {
      offered,
      sent,
      ok,
      goodput,
      errors: { ...errors },
      latencyMs: this.response.summary(),
      serviceMs: this.service.summary(),
      lagMs: this.lag.summary(),
      firstByteMs: this.firstByte.summary(),
      offeredPerSecond: roundTo(perSecond(offered, windowMs), 3),
      okPerSecond: roundTo(perSecond(ok, windowMs), 3),
      ...(retryAfterS !== undefined && { retryAfterS }),
      ...(Object.keys(findings).length > 0 && { findings: { ...findings } }),
    };
  }
}

/** Returns a number of requests as a rate; 0 if there was no time. */
export const perSecond = (times: number, ms: number): number => (ms > 0 ? (times / ms) * 1000 : 0);
