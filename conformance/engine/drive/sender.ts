import type { Endpoint } from '../../../src/contract/index.ts';
import { readRetryAfterMs, type Clock } from '../../../src/platform/clock.ts';
import type { Probe, Step } from '../probe.ts';
import { isRateLimited, type Exchange } from '../transcript/reading.ts';
import type { HttpClient, Outcome, Outgoing } from './http-client.ts';
import { toOutgoing, type RequestSettings } from './outgoing.ts';
import { toRecordedRequest, type Recorder } from './recorder.ts';
import type { Caller } from './call/caller.ts';
import type { RequestLimiter } from './request-limiter.ts';

/** What a sender uses. */
export interface SenderOptions {
  client: HttpClient;
  /** Places calls; undefined in a run without calls. */
  caller: Caller | undefined;
  clock: Clock;
  requestLimiter: RequestLimiter;
  /** Limits calls separately: a call lasts as long as many requests and must not delay them. */
  callLimiter: RequestLimiter;
  recorder: Recorder;
  settings: RequestSettings;
  deadlineMs: (endpoint: Endpoint) => number;
  /** Returns whether a probe must send nothing more because the run was interrupted. */
  isStopped: (probe: Probe) => boolean;
  /** Called after every exchange. */
  onExchange(exchange: Exchange): void;
}

/** Sends the request of a step. Returns undefined if it was not sent. All probes of a run share it. */
export type Sender = (probe: Probe, step: Step) => Promise<Exchange | undefined>;

/** After this many timeouts in a row, an endpoint gets no more requests. */
const TIMEOUTS_IN_A_ROW_MAX = 3;
/** After this many refused connections in a row, at any endpoint, nothing more is sent. */
const REFUSED_IN_A_ROW_MAX = 6;
const ATTEMPTS_MAX = 6;
/** Total time that a run waits because of 429 responses. */
const RETRY_WAIT_MS_MAX = 120_000;

/**
 * Creates a sender. It repeats a request after a 429: after the time in Retry-After, or after 1, 2, 4,
 * 8, … s, for at most two minutes per run. So that every run ends, it stops sending to an endpoint
 * after three timeouts in a row, and stops sending requests (or placing calls) after six refused
 * connections in a row.
 */
export function createSender(options: SenderOptions): Sender {
  const { clock, caller, client, recorder } = options;
  const startedMs = clock.monotonicMs();
  const timeoutsInARow = new Map<Endpoint, number>();
  // Calls may go to another address than requests.
  const refusedInARow = { calls: 0, requests: 0 };
  const kindOf = ({ endpoint }: Step): 'calls' | 'requests' =>
    endpoint === 'voice' ? 'calls' : 'requests';
  const countTimeouts = ({ endpoint }: Step): number => timeoutsInARow.get(endpoint) ?? 0;
  const hasGivenUp = (step: Step): boolean =>
    countTimeouts(step) >= TIMEOUTS_IN_A_ROW_MAX ||
    refusedInARow[kindOf(step)] >= REFUSED_IN_A_ROW_MAX;

  const sendOrCall = async (step: Step, outgoing: Outgoing): Promise<Outcome> => {
    const deadlineMs = options.deadlineMs(step.endpoint);
    if (step.endpoint !== 'voice' || !caller) {
      return client.send(outgoing, deadlineMs, step.connection);
    }
    return caller.place({
      ...{ step, outgoing, deadlineMs },
      sinceRunMs: (atMs) => atMs - startedMs,
      pass: (send) => options.requestLimiter.pass(send),
    });
  };

  const attempt = async (probe: Probe, step: Step): Promise<Exchange> => {
    const outgoing = toOutgoing(step, options.settings);
    const sentMs = clock.monotonicMs() - startedMs;
    const outcome = await sendOrCall(step, outgoing);
    const exchange = recorder.record({
      probe: probe.id,
      step: step.step,
      endpoint: step.endpoint,
      intent: step.intent,
      ...(step.control && { control: step.control.id }),
      request: toRecordedRequest(outgoing),
      ...outcome,
      startedMs: roundMs(sentMs),
      endedMs: roundMs(clock.monotonicMs() - startedMs),
    });
    options.onExchange(exchange);
    const isTimeout = exchange.failure?.kind === 'timeout';
    timeoutsInARow.set(step.endpoint, isTimeout ? countTimeouts(step) + 1 : 0);
    const isRefused = exchange.failure?.kind === 'refused';
    refusedInARow[kindOf(step)] = isRefused ? refusedInARow[kindOf(step)] + 1 : 0;
    return exchange;
  };

  let waitedMs = 0;
  return async (probe, step) => {
    const limiter = step.endpoint === 'voice' ? options.callLimiter : options.requestLimiter;
    for (let attempts = 1; ; attempts++) {
      const exchange = await limiter.pass(async () =>
        options.isStopped(probe) || hasGivenUp(step) ? undefined : attempt(probe, step),
      );
      if (!exchange || !isRateLimited(exchange) || step.once || attempts === ATTEMPTS_MAX) {
        return exchange;
      }
      const pauseMs = retryDelayMs(exchange, attempts, clock.nowMs());
      if (waitedMs + pauseMs > RETRY_WAIT_MS_MAX) return exchange;
      waitedMs += pauseMs;
      options.requestLimiter.pause(pauseMs);
    }
  };
}

const roundMs = (ms: number): number => Math.round(ms * 100) / 100;

function retryDelayMs({ response }: Exchange, attempts: number, nowMs: number): number {
  const header = response?.headers['retry-after'];
  if (header === undefined) return 1000 * 2 ** (attempts - 1);
  return Math.max(0, readRetryAfterMs(header, nowMs) ?? 1000);
}
