import type { Clock } from '../../../src/platform/clock.ts';
import { BURST_CONCURRENCY, type RequestOrder } from '../probe.ts';

/** Limits the requests in flight and the requests per second, and can pause all requests. */
export interface RequestLimiter {
  /**
   * Runs `send` when the limits allow it. One of several that start at the same moment, `atOnce`, waits
   * until there is room for all of them; they have to be passed one right after the other.
   */
  pass<Result>(send: () => Promise<Result>, order?: RequestOrder, atOnce?: number): Promise<Result>;
  /** Runs `send` before all waiting requests, and while no other request is in flight. */
  passAlone<Result>(send: () => Promise<Result>): Promise<Result>;
  /** Starts no request for `ms` from now. Does nothing after an interruption. */
  pause(ms: number): void;
  /** Starts no request until the promise resolves. */
  holdUntil(promise: Promise<unknown>): void;
  /** From now on, starts requests one at a time, except those that go together. */
  goOneByOne(): void;
}

/** The limits of a request limiter. */
export interface RequestLimiterOptions {
  clock: Clock;
  /** Maximum number of requests in flight. */
  concurrency: number;
  /** Maximum number of requests started per second (default: no limit). */
  ratePerSecond?: number | undefined;
  /** Ends a pause when the run is interrupted. */
  interruption?: AbortSignal | undefined;
}

/** A request that waits for its turn. */
interface Waiting {
  order: RequestOrder | 'alone' | undefined;
  atOnce: number;
  start: () => void;
}

/** Decides which requests may be in flight. */
interface Turns {
  /** Resolves when it is the turn of a request. */
  enter(order: Waiting['order'], atOnce: number): Promise<void>;
  /** Ends the turn of a request. */
  leave(): void;
  holdUntil(promise: Promise<unknown>): void;
  goOneByOne(): void;
}

function createTurns(concurrency: number): Turns {
  const waiting: Waiting[] = [];
  let inFlight = 0;
  let isAloneInFlight = false;
  /** How many more of those that start at the same moment have room. */
  let reserved = 0;
  let isOneByOne = false;
  let holds = 0;

  const goesAlone = ({ order }: Waiting): boolean =>
    order === 'alone' || (isOneByOne && order !== 'together');
  const limitOf = ({ order }: Waiting): number =>
    order === 'burst' && concurrency > 1 ? Math.max(concurrency, BURST_CONCURRENCY) : concurrency;
  const startNext = (): void => {
    for (let [next] = waiting; next; [next] = waiting) {
      const isAlone = goesAlone(next);
      const limit = limitOf(next);
      if (holds > 0 || isAloneInFlight || inFlight >= (isAlone ? 1 : limit)) return;
      const room = limit - inFlight;
      if (reserved === 0 && inFlight > 0 && next.atOnce > room) return;
      reserved = reserved > 0 ? reserved - 1 : Math.min(next.atOnce, room) - 1;
      waiting.shift();
      inFlight++;
      isAloneInFlight = isAlone;
      next.start();
    }
  };
  return {
    async enter(order, atOnce) {
      const turn = new Promise<void>((start) => {
        const isAlone = order === 'alone';
        const place = isAlone
          ? waiting.filter((other) => other.order === 'alone').length
          : waiting.length;
        waiting.splice(place, 0, { order, atOnce, start });
      });
      startNext();
      await turn;
    },
    leave() {
      inFlight--;
      isAloneInFlight = false;
      startNext();
    },
    holdUntil(promise) {
      holds++;
      const release = (): void => {
        holds--;
        startNext();
      };
      promise.then(release, release);
    },
    goOneByOne() {
      isOneByOne = true;
    },
  };
}

/** Creates a request limiter that starts requests in the order they arrive. */
export function createRequestLimiter({
  clock,
  concurrency,
  ratePerSecond,
  interruption,
}: RequestLimiterOptions): RequestLimiter {
  const turns = createTurns(concurrency);
  let opensAtMs = 0;
  interruption?.addEventListener('abort', () => (opensAtMs = 0), { once: true });

  const waitUntilOpen = async (): Promise<void> => {
    for (;;) {
      const nowMs = clock.monotonicMs();
      if (nowMs >= opensAtMs) break;
      const signal = interruption?.aborted ? undefined : interruption;
      await clock.sleep(opensAtMs - nowMs, signal).catch(() => undefined);
    }
    if (ratePerSecond !== undefined) opensAtMs = clock.monotonicMs() + 1000 / ratePerSecond;
  };
  const passAs = async <Result>(
    order: Waiting['order'],
    send: () => Promise<Result>,
    atOnce = 1,
  ): Promise<Result> => {
    await turns.enter(order, atOnce);
    try {
      await waitUntilOpen();
      return await send();
    } finally {
      turns.leave();
    }
  };
  return {
    pass: (send, order, atOnce) => passAs(order, send, atOnce),
    passAlone: (send) => passAs('alone', send),
    pause(ms) {
      if (interruption?.aborted) return;
      opensAtMs = Math.max(opensAtMs, clock.monotonicMs() + ms);
    },
    holdUntil: (promise) => turns.holdUntil(promise),
    goOneByOne: () => turns.goOneByOne(),
  };
}
