import type { Clock } from '../../src/platform/clock.ts';
import {
  ERRORS_MAX,
  LOOP_TIMEOUT_S,
  medianOf,
  type ClosedLoop,
  type ClosedLoopFigures,
} from './closed-loop.ts';
import type { ExchangeResult, Transport } from './transport.ts';

/** Settings of a closed loop over a transport. */
export interface TransportLoop extends Omit<ClosedLoop, 'target' | 'tls'> {
  transport: Transport;
  clock: Clock;
}

/**
 * Sends requests in a closed loop as `runClosedLoop` does, but with the connections of a transport. It
 * ends on time: requests in flight at the end do not count, and end when the transport is closed.
 */
export async function runTransportLoop(loop: TransportLoop): Promise<ClosedLoopFigures> {
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
        transport.send(next(), sentMs + LOOP_TIMEOUT_S * 1_000, resolve),
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
  return {
    connections,
    responses: times.length,
    errors,
    perSecond: Math.round((times.length / durationMs) * 1e6) / 1000,
    p50Ms: medianOf(times),
  };
}
