import type { Clock } from '../../../src/platform/clock.ts';

/** Limits the requests in flight and the requests per second, and can pause all requests. */
export interface RequestLimiter {
  /**
   * Runs `send` when the limits allow it. A request that goes `together` with others stays concurrent
   * when all others go one at a time.
   */
  pass<Result>(send: () => Promise<Result>, order?: 'together'): Promise<Result>;
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
  order: 'together' | 'alone' | undefined;
  start: () => void;
}

/** Decides which requests may be in flight. */
interface Turns {
  /** Resolves when it is the turn of a request. */
  enter(order: Waiting['order']): Promise<void>;
  /** Ends the turn of a request. */
  leave(): void;
  holdUntil(promise: Promise<unknown>): void;
  goOneByOne(): void;
}

function createTurns(concurrency: number): Turns {
  const waiting: Waiting[] = [];
  let inFlight = 0;
  let isAloneInFlight = false;
  let isOneByOne = false;
  let holds = 0;

  const goesAlone = ({ order }: Waiting): boolean =>
    order === 'alone' || (isOneByOne && order !== 'together');
  const startNext = (): void => {
    for (let [next] = waiting; next; [next] = waiting) {
      const isAlone = goesAlone(next);
      if (holds > 0 || isAloneInFlight || inFlight >= (isAlone ? 1 : concurrency)) return;
      waiting.shift();
      inFlight++;
      isAloneInFlight = isAlone;
      next.start();
    }
  };
  return {
    async enter(order) {
      const turn = new Promise<void>((start) => {
        const isAlone = order === 'alone';
        const place = isAlone
          ? waiting.filter((other) => other.order === 'alone').length
          : waiting.length;
        waiting.splice(place, 0, { order, start });
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

/** Creates a request limiter that starts requests in the order in which they arrive. */
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
  ): Promise<Result> => {
    await turns.enter(order);
    try {
      await waitUntilOpen();
      return await send();
    } finally {
      turns.leave();
    }
  };
  return {
    pass: (send, order) => passAs(order, send),
    passAlone: (send) => passAs('alone', send),
    pause(ms) {
      if (interruption?.aborted) return;
      opensAtMs = Math.max(opensAtMs, clock.monotonicMs() + ms);
    },
    holdUntil: (promise) => turns.holdUntil(promise),
    goOneByOne: () => turns.goOneByOne(),
  };
}
