import type { Endpoint } from '../../../src/contract/index.ts';
import { readRetryAfterMs, type Clock } from '../../../src/platform/clock.ts';
import { measureLateness } from '../../../src/platform/event-loop.ts';
import type { CreateTraceparent } from '../../../src/platform/trace-context.ts';
import type { Probe, Step } from '../probe.ts';
import {
  isBroken,
  isConnectionFailure,
  isRateLimited,
  RECOVERY,
  type Exchange,
} from '../transcript/reading.ts';
import { endedAfter, isEndedAfter } from '../transcript/failure-messages.ts';
import type { HttpClient, Outcome } from './http-client.ts';
import { toOutgoing, type RequestSettings } from './outgoing.ts';
import { toRecordedRequest, type Recorder } from './recorder.ts';
import { createUserMemory, type UserMemory } from './lost-users.ts';
import { createRecovery, type RecoveryOptions, type RecoveryState } from './recovery.ts';
import { createRepetitionPolicy } from './repetition.ts';
import type { Caller } from './call/caller.ts';
import type { RequestLimiter } from './request-limiter.ts';
import { roundTo } from '../../../src/platform/round.ts';

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
  createTraceparent: CreateTraceparent;
  deadlineMs: (endpoint: Endpoint) => number;
  /** Gives up the requests in flight when the run is interrupted, except those that clean up. */
  interruption?: AbortSignal | undefined;
  /** Returns whether a probe must send nothing more because the run was interrupted. */
  isStopped: (probe: Probe) => boolean;
  /** Called after every exchange, except those that wait for the peer to come back. */
  onExchange(exchange: Exchange): void;
  /** How to wait for a peer that stops responding; undefined to send nothing again. */
  recovery: Pick<RecoveryOptions, 'peer' | 'signal' | 'onWaiting'> | undefined;
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

/** The request that asks whether the peer responds again. */
const POLL: Step = { endpoint: 'health', step: 'does it respond again?', intent: 'open' };

/**
 * Creates a sender. It repeats a request after a 429: after the time in Retry-After, or after 1, 2, 4,
 * 8, … s, for at most two minutes per run. It waits for a peer whose connections fail, and sends a
 * failed request again, alone. To let every run end, it stops sending to an endpoint after three
 * timeouts in a row. It stops sending requests, or placing calls, after six refused connections in a
 * row, or when the peer does not come back.
 */
export function createSender(options: SenderOptions): Sender {
  const repetitions = createRepetitionPolicy();
  const attempts = createAttempts(options);
  const sendUntilAllowed = createRateLimitedSend(options, attempts);
  const repeat = async (
    probe: Probe,
    step: Step,
    failed: Exchange,
  ): Promise<Exchange | undefined> => {
    await attempts.waitForPeer(failed);
    const isAllowed = !attempts.hasGivenUp(step) && repetitions.allows(failed);
    const sending = isAllowed ? sendUntilAllowed(probe, step, failed.id) : undefined;
    // The repetition is first in line now.
    attempts.release(failed);
    const repetition = await sending;
    if (!repetition) return undefined;
    await attempts.waitForPeer(repetition);
    attempts.release(repetition);
    repetitions.note(failed, repetition);
    // A fault that shows only sometimes is easier to name if no other request is in flight.
    if (!isBroken(repetition)) options.requestLimiter.goOneByOne();
    return repetition;
  };
  return async (probe, step) => {
    const exchange = await sendUntilAllowed(probe, step);
    if (!exchange || !attempts.isRecovering() || !isBroken(exchange)) return exchange;
    return (await repeat(probe, step, exchange)) ?? exchange;
  };
}

/** Sends single requests and remembers how they ended. */
interface Attempts {
  /** Sends a request once. `repeats` is the id of the failed exchange that it repeats. */
  attempt(probe: Probe, step: Step, repeats?: number): Promise<Exchange>;
  /** Returns whether nothing more is sent to the endpoint of a step. */
  hasGivenUp(step: Step): boolean;
  /** Returns whether the run waits for a peer that stops responding. It has responded before. */
  isRecovering(): boolean;
  /** Waits for the peer if the connection of an exchange failed. */
  waitForPeer(exchange: Exchange): Promise<void>;
  /** Lets other requests start again that were held when the connection of an exchange failed. */
  release(exchange: Exchange): void;
}

function createAttempts(options: SenderOptions): Attempts {
  const { requestLimiter } = options;
  const exchangeOnce = createExchangeOnce(options);
  const users = createUserMemory();
  const restoration = createRestoration(users, (step, mayEndPeer) =>
    exchangeOnce({ id: RECOVERY }, step, { deadlineMs: options.deadlineMs('create'), mayEndPeer }),
  );
  const timeoutsInARow = new Map<Endpoint, number>();
  // Calls may go to a different address than requests.
  const refusedInARow = { calls: 0, requests: 0 };
  const waits = new WeakMap<Exchange, { wait: Promise<RecoveryState>; release: () => void }>();
  let hasResponded = false;

  const kindOf = ({ endpoint }: Step): 'calls' | 'requests' =>
    endpoint === 'voice' ? 'calls' : 'requests';
  const countTimeouts = ({ endpoint }: Step): number => timeoutsInARow.get(endpoint) ?? 0;
  const sendForRecovery = (step: Step, deadlineMs: number): Promise<Exchange> =>
    exchangeOnce({ id: RECOVERY }, step, { deadlineMs });
  const recovery =
    options.recovery &&
    createRecovery({
      ...options.recovery,
      clock: options.clock,
      poll: (deadlineMs) => sendForRecovery(POLL, deadlineMs),
      restore: restoration.restore,
    });
  return {
    async attempt(probe, step, repeats) {
      const deadlineMs = options.deadlineMs(step.endpoint);
      const mayEndPeer = restoration.hasBegun() && step.endpoint === 'create';
      const exchange = await exchangeOnce(probe, step, { deadlineMs, repeats, mayEndPeer });
      const isTimeout = exchange.failure?.kind === 'timeout';
      if (repeats === undefined) {
        timeoutsInARow.set(step.endpoint, isTimeout ? countTimeouts(step) + 1 : 0);
      }
      const isRefused = exchange.failure?.kind === 'refused';
      refusedInARow[kindOf(step)] = isRefused ? refusedInARow[kindOf(step)] + 1 : 0;
      if (kindOf(step) === 'calls') return exchange;
      users.note(step, exchange);
      if (exchange.response) hasResponded = true;
      // The wait begins before the next request could start.
      if (recovery && hasResponded && isConnectionFailure(exchange)) {
        // From its first crash on, one request is in flight, so that the next one names its cause.
        const wait = recovery.recover().then((state) => {
          if (state === 'restarted') requestLimiter.goOneByOne();
          if (state !== 'gone') refusedInARow.requests = 0;
          return state;
        });
        const { promise, resolve } = Promise.withResolvers<undefined>();
        waits.set(exchange, { wait, release: () => resolve(undefined) });
        requestLimiter.holdUntil(promise);
      }
      return exchange;
    },
    hasGivenUp: (step) =>
      (recovery?.isGone ?? false) ||
      countTimeouts(step) >= TIMEOUTS_IN_A_ROW_MAX ||
      refusedInARow[kindOf(step)] >= REFUSED_IN_A_ROW_MAX,
    isRecovering: () => recovery !== undefined && hasResponded,
    waitForPeer: async (exchange) => {
      await waits.get(exchange)?.wait;
    },
    release: (exchange) => waits.get(exchange)?.release(),
  };
}

/**
 * Creates the users again that a peer lost in a crash. One of them may have ended the peer, so the first
 * time the peer has to respond after each; later, all users that are remembered are harmless.
 */
function createRestoration(
  users: UserMemory,
  send: (step: Step, mayEndPeer: boolean) => Promise<Exchange>,
): { restore: () => Promise<boolean>; hasBegun: () => boolean } {
  let hasBegun = false;
  let areHarmless = false;
  return {
    hasBegun: () => hasBegun,
    async restore() {
      hasBegun = true;
      for (const step of users.createSteps()) {
        const exchange = await send(step, !areHarmless);
        if (isEndedAfter(exchange)) users.forget(step);
        if (isConnectionFailure(exchange)) return false;
        if (exchange.failure) return true;
      }
      areHarmless = true;
      return true;
    },
  };
}

type ExchangeOnce = (
  probe: Pick<Probe, 'id' | 'cleansUp'>,
  step: Step,
  more: {
    deadlineMs: number;
    repeats?: number | undefined;
    /** Asks the peer for another response, because it may end after this one. */
    mayEndPeer?: boolean;
  },
) => Promise<Exchange>;

/** A peer that ends after a response, for example because of a failed background task, ends this soon. */
const ENDS_AFTER_MS = 50;

/** Returns a function that sends a request or places a call, and records the exchange. */
function createExchangeOnce(options: SenderOptions): ExchangeOnce {
  const { clock, caller, client, recorder, requestLimiter } = options;
  const startedMs = clock.monotonicMs();
  const sinceStartMs = (): number => roundTo(clock.monotonicMs() - startedMs, 2);
  /** Returns how a request ended: a response after which the peer ends is incomplete. */
  const confirm = async (outcome: Outcome): Promise<Outcome> => {
    const status = outcome.response?.status ?? 0;
    if (status < 200 || status >= 300) return outcome;
    await clock.sleep(ENDS_AFTER_MS);
    const more = { deadlineMs: options.deadlineMs('health') };
    const poll = await exchangeOnce({ id: RECOVERY }, POLL, more);
    return isConnectionFailure(poll) ? { failure: endedAfter(status) } : outcome;
  };
  const exchangeOnce: ExchangeOnce = async (probe, step, { deadlineMs, repeats, mayEndPeer }) => {
    const traceparent = options.createTraceparent(`${probe.id}/${step.step}`);
    const outgoing = toOutgoing(step, options.settings, traceparent);
    const stopMeasuring = measureLateness();
    const sentMs = sinceStartMs();
    const sent: Outcome =
      step.endpoint !== 'voice' || !caller
        ? await client.send(outgoing, deadlineMs, {
            connection: step.connection,
            signal: probe.cleansUp ? undefined : options.interruption,
          })
        : await caller.place({
            step,
            outgoing,
            deadlineMs,
            sinceRunMs: (atMs) => atMs - startedMs,
            pass: (send) => requestLimiter.pass(send),
          });
    const kitLateMs = stopMeasuring();
    const outcome = mayEndPeer ? await confirm(sent) : sent;
    const exchange = recorder.record({
      probe: probe.id,
      step: step.step,
      endpoint: step.endpoint,
      intent: step.intent,
      ...(step.control && { control: step.control.id }),
      ...(repeats !== undefined && { repeats }),
      ...(step.properties && { properties: [...step.properties] }),
      ...(typeof step.key === 'object' && { owner: step.key.owner }),
      ...(step.connection && { connection: step.connection }),
      request: toRecordedRequest(outgoing),
      ...outcome,
      startedMs: sentMs,
      endedMs: sinceStartMs(),
      ...(kitLateMs > 0 && { kitLateMs }),
    });
    if (probe.id !== RECOVERY) options.onExchange(exchange);
    return exchange;
  };
  return exchangeOnce;
}

type RateLimitedSend = (
  probe: Probe,
  step: Step,
  repeats?: number,
) => Promise<Exchange | undefined>;

/** Returns a function that sends a request, alone if it repeats a failed one, and again after a 429. */
function createRateLimitedSend(options: SenderOptions, attempts: Attempts): RateLimitedSend {
  const { clock, requestLimiter, callLimiter } = options;
  let waitedMs = 0;
  return async (probe, step, repeats) => {
    const send = async (): Promise<Exchange | undefined> =>
      options.isStopped(probe) || attempts.hasGivenUp(step)
        ? undefined
        : attempts.attempt(probe, step, repeats);
    const pass = (): Promise<Exchange | undefined> => {
      if (repeats !== undefined) return requestLimiter.passAlone(send);
      return step.endpoint === 'voice'
        ? callLimiter.pass(send)
        : requestLimiter.pass(send, step.order, step.atOnce);
    };
    for (let count = 1; ; count++) {
      const exchange = await pass();
      if (!exchange || !isRateLimited(exchange) || step.once || count === ATTEMPTS_MAX) {
        return exchange;
      }
      const pauseMs = retryDelayMs(exchange, count, clock.nowMs());
      if (waitedMs + pauseMs > RETRY_WAIT_MS_MAX) return exchange;
      waitedMs += pauseMs;
      requestLimiter.pause(pauseMs);
    }
  };
}

function retryDelayMs({ response }: Exchange, attempts: number, nowMs: number): number {
  const header = response?.headers['retry-after'];
  if (header === undefined) return 1000 * 2 ** (attempts - 1);
  return Math.max(0, readRetryAfterMs(header, nowMs) ?? 1000);
}
