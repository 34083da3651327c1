import type { FaultKind, StreamReport } from '../../src/contract/index.ts';
import type { Block } from '../verdict/bootstrap.ts';
import { durations, type Durations } from './histogram.ts';

/** A request that has come to its end and was looked at. Times: milliseconds since the window began. */
export interface Ended {
  /** When it was meant to leave. */
  dueMs: number;
  sentMs: number;
  firstByteMs?: number;
  endedMs: number;
  /** How long it could take, from when it was due. */
  deadlineMs: number;
  /** Why it did not end well. */
  fault?: FaultKind;
  /** A whole 2xx answer came: its time is a response time. */
  answered: boolean;
  /** Requirements that the answer does not meet. */
  findings?: readonly string[];
  /** The answer named a session. */
  echoed?: boolean;
  retryAfterS?: number;
}

/** What became of the requests of one kind in the judged window. */
export interface StreamLog {
  offered: number;
  sent: number;
  add(ended: Ended): void;
  readonly response: Durations;
  readonly service: Durations;
  readonly lag: Durations;
  readonly errors: Readonly<Record<string, number>>;
  readonly ok: number;
  readonly echoed: number;
  /** Requests, and those that failed, by 5 s. */
  readonly failures: Block[];
  /** Response times, and those at or beyond the target, by 5 s. */
  readonly misses: Block[];
  /** Every request: when it was due, and whether it failed. */
  readonly outcomes: { dueMs: number; failed: boolean }[];
  report(windowMs: number): StreamReport;
}

/** Failures that come together are counted together. */
const BLOCK_MS = 5_000;

/** Starts the log of a stream whose answers should take less than `isMiss` says. */
export function streamLog(isMiss: (ms: number) => boolean): StreamLog {
  const [response, service, lag, firstByte] = [durations(), durations(), durations(), durations()];
  const errors: Record<string, number> = {};
  const findings: Record<string, number> = {};
  const failures: Block[] = [];
  const misses: Block[] = [];
  const outcomes: { dueMs: number; failed: boolean }[] = [];
  let retryAfterS: number | undefined;
  let goodput = 0;
  const log = { offered: 0, sent: 0, ok: 0, echoed: 0 };
  const takeTimes = (ended: Ended): void => {
    // An answer that never came took at least as long as it was waited for.
    const isTimeout = ended.fault === 'timeout';
    if (!ended.answered && !isTimeout) return;
    const tookMs = isTimeout ? ended.deadlineMs : ended.endedMs - ended.dueMs;
    response.record(tookMs);
    service.record(isTimeout ? ended.deadlineMs : ended.endedMs - ended.sentMs);
    count(misses, ended.dueMs, isMiss(tookMs));
    if (ended.fault === undefined && !isMiss(tookMs)) goodput++;
  };
  return Object.assign(log, {
    response,
    service,
    lag,
    errors,
    failures,
    misses,
    outcomes,
    add(ended: Ended) {
      lag.record(ended.sentMs - ended.dueMs);
      if (ended.firstByteMs !== undefined) firstByte.record(ended.firstByteMs - ended.sentMs);
      takeTimes(ended);
      if (ended.fault === undefined) log.ok++;
      else errors[ended.fault] = (errors[ended.fault] ?? 0) + 1;
      if (ended.echoed === true) log.echoed++;
      for (const id of ended.findings ?? []) findings[id] = (findings[id] ?? 0) + 1;
      if (ended.retryAfterS !== undefined) {
        retryAfterS = Math.max(retryAfterS ?? 0, ended.retryAfterS);
      }
      const failed = ended.fault !== undefined;
      count(failures, ended.dueMs, failed);
      outcomes.push({ dueMs: ended.dueMs, failed });
    },
    report: (windowMs: number): StreamReport => ({
      offered: log.offered,
      sent: log.sent,
      ok: log.ok,
      goodput,
      errors: { ...errors },
      latencyMs: response.summary(),
      serviceMs: service.summary(),
      lagMs: lag.summary(),
      firstByteMs: firstByte.summary(),
      offeredPerSecond: perSecond(log.offered, windowMs),
      okPerSecond: perSecond(log.ok, windowMs),
      ...(retryAfterS === undefined ? {} : { retryAfterS }),
      ...(Object.keys(findings).length === 0 ? {} : { findings: { ...findings } }),
    }),
  });
}

function count(blocks: Block[], dueMs: number, isHit: boolean): void {
  const index = Math.max(0, Math.floor(dueMs / BLOCK_MS));
  while (blocks.length <= index) blocks.push({ samples: 0, hits: 0 });
  const block = blocks[index];
  if (!block) return;
  block.samples++;
  if (isHit) block.hits++;
}

const perSecond = (times: number, windowMs: number): number =>
  windowMs <= 0 ? 0 : Math.round((times / windowMs) * 1e6) / 1000;
