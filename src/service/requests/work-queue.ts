import type { Clock } from '../../platform/clock.ts';
import { onTurnEnd as onTurnOfEventLoopEnd } from '../../platform/event-loop.ts';
import { waitWithinLimit } from '../store/wait-limit.ts';
import { RequestError } from './errors.ts';

/**
 * The requests of one kind, in the order of their arrival. If more arrive than the service can finish,
 * each waits longer than the one before, until all responses come too late. So a request that would wait
 * too long is refused immediately, and the others are finished in time.
 */
export interface WorkQueue {
  /**
   * Checks whether a new request would be finished in time. Call it before anything that a refused
   * request need not cost. @throws RequestError `busy`
   */
  checkRoom: () => void;
  /**
   * Waits until a request may start. It ends when it is disposed of. The wait counts against the limit
   * of `limitDatabaseWaits`. @throws RequestError `busy`
   */
  enter: () => Promise<Disposable>;
  count: () => WorkCounts;
}

/** The requests that wait and run now, and those refused so far. */
export interface WorkCounts {
  waiting: number;
  running: number;
  refused: number;
}

/** What differs between kinds of requests. */
export interface WorkQueueOptions {
  /** Requests that run at the same time. */
  runningMax: number;
  /**
   * Whether the work may block the event loop, as with a synchronous database. Such requests start in
   * separate turns of the event loop, so that the service reads and refuses new ones in between.
   */
  mayBlock: boolean;
  /** How long a request may wait, as far as can be estimated. */
  waitMsMax: number;
  /** What the client of a refused request reads. */
  message: string;
  /** Calls a function at the end of the turn of the event loop (default: that of this process). */
  onTurnEnd?: (endTurn: () => void) => void;
}

/** Fewer requests don't mean that the service is busy, however slow they are. */
export const WAITING_MIN = 64;

/**
 * Turns of the event loop from one start to the next while many requests wait: Node accepts one
 * connection in each turn, and more may arrive than are finished.
 */
const TURNS_PER_START = 8;

/** The pace is about that of the last requests. The ingest thread ends up to 64 at the same time. */
const REMEMBERED_ENDS = 128;

/** `Retry-After` of a 503 while the service is busy. All exporters retry a 503. */
const RETRY_AFTER_S = 1;

/** Creates the error for a request that is refused because the service is busy. */
export const createBusyError = (message: string): RequestError =>
  new RequestError('busy', message, { 'retry-after': String(RETRY_AFTER_S) });

/** Creates an empty queue. */
export function createWorkQueue(
  clock: Pick<Clock, 'monotonicMs'>,
  options: WorkQueueOptions,
): WorkQueue {
  const { runningMax, mayBlock, waitMsMax, message, onTurnEnd = onTurnOfEventLoopEnd } = options;
  const waiting = new Set<(work: Disposable) => void>();
  let running = 0;
  let refused = 0;
  /** Turns since a request started that may block; undefined if the next one may start. */
  let turns: number | undefined;
  const pace = createPace(clock, waitMsMax);

  const hasTurn = (): boolean => running < runningMax && turns === undefined;
  const start = (): Disposable => {
    running += 1;
    if (mayBlock) {
      turns = 0;
      onTurnEnd(endTurn);
    }
    return createWork(() => {
      running -= 1;
      pace.recordEnd();
      startWaiting();
    });
  };
  const startWaiting = (): void => {
    for (const startRequest of waiting) {
      if (!hasTurn()) break;
      waiting.delete(startRequest);
      startRequest(start());
    }
    if (waiting.size === 0) pace.stop();
  };
  const endTurn = (): void => {
    turns = (turns ?? 0) + 1;
    if (waiting.size >= WAITING_MIN && turns < TURNS_PER_START) {
      onTurnEnd(endTurn);
      return;
    }
    turns = undefined;
    startWaiting();
  };
  const refuse = (): RequestError => {
    refused += 1;
    return createBusyError(message);
  };
  const checkRoom = (): void => {
    const { size } = waiting;
    if (size < WAITING_MIN || pace.estimateMs(running + size) <= waitMsMax) return;
    throw refuse();
  };
  return {
    checkRoom,
    async enter() {
      if (waiting.size === 0 && hasTurn()) return start();
      checkRoom();
      pace.start();
      const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
      waiting.add(resolve);
      // The pace says nothing about a database that stops answering.
      return waitWithinLimit(promise, () => {
        if (!waiting.delete(resolve)) return;
        if (waiting.size === 0) pace.stop();
        reject(refuse());
      });
    },
    count: () => ({ waiting: waiting.size, running, refused }),
  };
}

function createWork(onEnd: () => void): Disposable {
  let hasEnded = false;
  return {
    [Symbol.dispose]() {
      if (hasEnded) return;
      hasEnded = true;
      onEnd();
    },
  };
}

/** Measures how fast requests end while others wait. When none waits, they end as they arrive. */
function createPace(clock: Pick<Clock, 'monotonicMs'>, intervalMsMax: number) {
  let meanMs = 0;
  let count = 0;
  /** When a request ended, or began to wait; undefined while none waits. */
  let sinceMs: number | undefined;
  return {
    /** A request waits. */
    start() {
      sinceMs ??= clock.monotonicMs();
    },
    /** No request waits. */
    stop() {
      sinceMs = undefined;
    },
    recordEnd() {
      if (sinceMs === undefined) return;
      const nowMs = clock.monotonicMs();
      count = Math.min(count + 1, REMEMBERED_ENDS);
      // One long pause, such as an outage of the database, says nothing about the requests after it.
      meanMs += (Math.min(nowMs - sinceMs, intervalMsMax) - meanMs) / count;
      sinceMs = nowMs;
    },
    /** Returns how long it takes until this many requests have ended. */
    estimateMs(requests: number): number {
      const pauseMs = sinceMs === undefined ? 0 : clock.monotonicMs() - sinceMs;
      return Math.max(requests * meanMs, pauseMs);
    },
  };
}
