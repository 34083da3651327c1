import type { Clock } from '../../src/platform/clock.ts';
import { findPercentile } from '../../src/platform/percentile.ts';
import { roundTo } from '../../src/platform/round.ts';
import type { ExchangeResult, OutgoingRequest, Transport } from './transport.ts';

/** Settings of the closed loop that warms up a sandbox. */
export interface WarmUpLoop {
  transport: Transport;
  clock: Clock;
  connections: number;
  durationMs: number;
  /** The maximum rate in requests per second; unlimited when undefined. */
  perSecondMax?: number | undefined;
  /** Returns the next request. */
  next: () => OutgoingRequest;
  signal: AbortSignal;
}

/** Measurements of a warm-up. */
export interface WarmUpFigures {
  connections: number;
  /** 2xx responses. */
  responses: number;
  /** Connection errors, timeouts, and other statuses. */
  errors: number;
  perSecond: number;
  /** The median service time; null if there was no response. */
  p50Ms: number | null;
}

/** A request that takes longer is an error. */
const TIMEOUT_MS = 15_000;
/** The loop stops after this number of errors: an unreachable sandbox produces thousands. */
const ERRORS_MAX = 1_000;

/**
 * Sends requests in a closed loop: each connection sends the next request after a response. This suits
 * warm-up and capacity estimates, but no verdict: a slow sandbox gets fewer requests. The loop ends on
 * time: requests in flight at the end do not count, and end when the transport is closed.
 */
export async function runWarmUpLoop(loop: WarmUpLoop): Promise<WarmUpFigures> {
  const { transport, clock, connections, durationMs, perSecondMax, next, signal } = loop;
  const endMs = clock.monotonicMs() + durationMs;
  const intervalMs = perSecondMax === undefined ? 0 : (connections / perSecondMax) * 1000;
  const times: number[] = [];
  let errors = 0;
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal]);
  const isOver = (): boolean =>
    clock.monotonicMs() >= endMs || until.aborted || errors >= ERRORS_MAX;
  const work = async (): Promise<void> => {
    while (!isOver()) {
      const sentMs = clock.monotonicMs();
      const {
        status = 0,
        fault,
        endedMs,
      } = await new Promise<ExchangeResult>((resolve) =>
        transport.send(next(), sentMs + TIMEOUT_MS, resolve),
      );
      if (!fault && status >= 200 && status < 300) times.push(endedMs - sentMs);
      else errors++;
      const pauseMs = Math.min(sentMs + intervalMs, endMs) - clock.monotonicMs();
      if (pauseMs > 0) await clock.sleep(pauseMs, until).catch(() => undefined);
    }
  };
  const works = Array.from({ length: connections }, work);
  await Promise.race([Promise.all(works), clock.sleep(durationMs, until).catch(() => undefined)]);
  ended.abort();
  const p50Ms = findPercentile(times, 50);
  return {
    connections,
    responses: times.length,
    errors,
    perSecond: roundTo((times.length / durationMs) * 1000, 3),
    p50Ms: p50Ms === undefined ? null : roundTo(p50Ms, 2),
  };
}
