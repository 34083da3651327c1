import type { Endpoint, ExchangeRecord } from '../../../src/contract/index.ts';
import { httpDateMs, type Clock } from '../../../src/platform/clock.ts';
import type { Probe, Step } from '../probe.ts';
import { isRateLimited, type Exchange } from '../transcript/reading.ts';
import type { HttpClient, Outcome, Outgoing } from './http-client.ts';
import { toOutgoing, type Keys } from './outgoing.ts';
import { toRecordedRequest, type Recorder } from './recorder.ts';
import type { Caller } from './call/caller.ts';
import type { RequestLimiter } from './request-limiter.ts';

/** What a sender is made of. */
export interface SenderParts {
  client: HttpClient;
  /** Places calls; undefined in a run without any. */
  caller: Caller | undefined;
  clock: Clock;
  requestLimiter: RequestLimiter;
  /** Lets calls pass: one lasts as long as many requests, and must not hold these up. */
  callLimiter: RequestLimiter;
  recorder: Recorder;
  keys: Keys;
  deadlineMs: (endpoint: Endpoint) => number;
  /** Whether a scenario may send no more: the run was interrupted. */
  stopped: (probe: Probe) => boolean;
  /** Told after every exchange. */
  onExchange(exchange: Exchange): void;
}

/** The sender that all scenarios of a run share. */
export type Sender = (probe: Probe, step: Step) => Promise<Exchange | undefined>;

const TIMEOUTS_IN_A_ROW_MAX = 3;
/** Connections refused in a row, whatever the endpoint: then there is nobody to send more to. */
const REFUSED_IN_A_ROW_MAX = 6;
const ATTEMPTS_MAX = 6;
/** Milliseconds that a run waits for 429s, all in all. */
const WAITED_MS_MAX = 120_000;

/**
 * Makes the sender. It waits out 429 (Retry-After, else 1, 2, 4, 8 s) within two minutes a run, and
 * gives an endpoint up after three requests in a row without an answer, and all requests, or all
 * calls, after six refused connections in a row, so that a run ends.
 */
export function sender(parts: SenderParts): Sender {
  const timeoutsInARow = new Map<Endpoint, number>();
  const inARow = ({ endpoint }: Step): number => timeoutsInARow.get(endpoint) ?? 0;
  const startedMs = parts.clock.monotonicMs();
  // Calls may go to another address than requests.
  const refusedInARow = { calls: 0, requests: 0 };
  const kindOf = ({ endpoint }: Step): 'calls' | 'requests' =>
    endpoint === 'voice' ? 'calls' : 'requests';
  let waitedMs = 0;
  const isGivenUp = (step: Step): boolean =>
    inARow(step) >= TIMEOUTS_IN_A_ROW_MAX || refusedInARow[kindOf(step)] >= REFUSED_IN_A_ROW_MAX;

  const sendOrCall = async (step: Step, outgoing: Outgoing): Promise<Outcome> => {
    const deadlineMs = parts.deadlineMs(step.endpoint);
    if (step.endpoint !== 'voice' || !parts.caller) {
      return parts.client.send(outgoing, deadlineMs, step.connection);
    }
    return parts.caller.place({
      ...{ step, outgoing, deadlineMs },
      sinceRunMs: (atMs) => atMs - startedMs,
      pass: (go) => parts.requestLimiter.pass(go),
    });
  };

  const attempt = async (probe: Probe, step: Step): Promise<Exchange> => {
    const outgoing = toOutgoing(step, parts.keys);
    const sentMs = parts.clock.monotonicMs() - startedMs;
    const came = await sendOrCall(step, outgoing);
    const exchange = parts.recorder.record({
      probe: probe.id,
      step: step.step,
      endpoint: step.endpoint,
      intent: step.intent,
      ...(step.control && { control: step.control.id }),
      request: toRecordedRequest(outgoing),
      ...came,
      startedMs: rounded(sentMs),
      endedMs: rounded(parts.clock.monotonicMs() - startedMs),
    });
    parts.onExchange(exchange);
    const timedOut = exchange.failure?.kind === 'timeout';
    timeoutsInARow.set(step.endpoint, timedOut ? inARow(step) + 1 : 0);
    const isRefused = exchange.failure?.kind === 'refused';
    refusedInARow[kindOf(step)] = isRefused ? refusedInARow[kindOf(step)] + 1 : 0;
    return exchange;
  };

  return async (probe, step) => {
    for (let tried = 1; ; tried++) {
      const turnstile = step.endpoint === 'voice' ? parts.callLimiter : parts.requestLimiter;
      const exchange = await turnstile.pass(async () =>
        parts.stopped(probe) || isGivenUp(step) ? undefined : attempt(probe, step),
      );
      if (!exchange || !isRateLimited(exchange) || step.once || tried === ATTEMPTS_MAX)
        return exchange;
      const pauseMs = pauseAfter(exchange, tried, parts.clock.nowMs());
      if (waitedMs + pauseMs > WAITED_MS_MAX) return exchange;
      waitedMs += pauseMs;
      parts.requestLimiter.pause(pauseMs);
    }
  };
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100;

function pauseAfter({ response }: ExchangeRecord, tried: number, nowMs: number): number {
  const after = response?.headers['retry-after'];
  if (after === undefined) return 1000 * 2 ** (tried - 1);
  if (/^\d+$/.test(after.trim())) return Number(after) * 1000;
  return Math.max(0, (httpDateMs(after) ?? nowMs + 1000) - nowMs);
}
