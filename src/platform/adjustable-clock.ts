import { DeadlinePassed, type Clock, type Deadline } from './clock.ts';

/** The last millisecond of the year 9999: later years need more than four digits in ISO 8601. */
export const CLOCK_ENDS_MS = 253_402_300_799_999;

/** How far an adjustable clock is ahead of its base clock. */
export interface ClockOffset {
  /** By how much `monotonicMs` is ahead: 0 or more. */
  aheadMs: number;
  /** By how much `nowMs` is ahead; negative if it was set back. */
  wallAheadMs: number;
}

/**
 * A clock that runs like its base clock, and can be set and advanced while it runs. `nowMs` returns
 * whole milliseconds, because timestamps are stored as integers.
 */
export interface AdjustableClock extends Clock {
  /**
   * Advances the time by `ms`, 0 or more. Fires the timers that are due by then, in order and each at
   * its own time. Work that a timer starts may still be running afterward.
   */
  advance(ms: number): void;
  offset(): ClockOffset;
  /** Returns the offset of the clock after a change, without changing it. */
  planOffset(from: ClockOffset, change: { advanceMs: number } | { setMs: number }): ClockOffset;
  /** Applies the offset of another clock. Timers fire as in `advance`. */
  setOffset(offset: ClockOffset): void;
  /** Milliseconds since the Unix epoch that only `advance` adds to, so that they never decrease. */
  runningMs(): number;
}

/** The clock below an adjustable one. */
type BaseClock = Pick<Clock, 'nowMs' | 'monotonicMs' | 'sleep'>;

/** Creates an adjustable clock. It uses the timers of the base clock. */
export function createAdjustableClock(base: BaseClock): AdjustableClock {
  return new OffsetClock(base);
}

/** Timers use the monotonic time, so that setting the clock back does not delay them. */
interface Timer {
  dueMs: number;
  fire: () => void;
}

class OffsetClock implements AdjustableClock {
  readonly #base: BaseClock;
  readonly #timers = new Set<Timer>();
  #aheadMs = 0;
  #wallAheadMs = 0;

  constructor(base: BaseClock) {
    this.#base = base;
  }

  nowMs(): number {
    return Math.min(CLOCK_ENDS_MS, this.#wallMs());
  }

  monotonicMs(): number {
    return this.#base.monotonicMs() + this.#aheadMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const onAbort = (): void => {
        cancel();
        reject(signal?.reason as Error);
      };
      const cancel = this.#after(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  deadline(ms: number): Deadline {
    const controller = new AbortController();
    const cancel = this.#after(ms, () => {
      controller.abort(new DeadlinePassed(`no response within ${ms} ms`));
    });
    return { signal: controller.signal, [Symbol.dispose]: cancel };
  }

  advance(ms: number): void {
    const untilMs = this.monotonicMs() + ms;
    for (;;) {
      const [next] = [...this.#timers]
        .filter(({ dueMs }) => dueMs <= untilMs)
        .sort((a, b) => a.dueMs - b.dueMs);
      if (!next) break;
      this.#jumpTo(next.dueMs);
      next.fire();
    }
    this.#jumpTo(untilMs);
  }

  offset(): ClockOffset {
    return { aheadMs: this.#aheadMs, wallAheadMs: this.#wallAheadMs };
  }

  planOffset(
    { aheadMs, wallAheadMs }: ClockOffset,
    change: { advanceMs: number } | { setMs: number },
  ): ClockOffset {
    const forwardMs =
      'advanceMs' in change
        ? change.advanceMs
        : change.setMs - Math.floor(this.#base.nowMs() + wallAheadMs);
    return {
      aheadMs: aheadMs + Math.max(0, forwardMs),
      wallAheadMs: wallAheadMs + forwardMs,
    };
  }

  setOffset({ aheadMs, wallAheadMs }: ClockOffset): void {
    const forwardMs = aheadMs - this.#aheadMs;
    if (forwardMs > 0) this.advance(forwardMs);
    // The base clock ran on while timers fired.
    this.#aheadMs = Math.max(this.#aheadMs, aheadMs);
    this.#wallAheadMs = wallAheadMs;
  }

  runningMs(): number {
    return this.#base.nowMs() + this.#aheadMs;
  }

  /** The time of day without the limit at the year 9999. */
  #wallMs(): number {
    return Math.floor(this.#base.nowMs() + this.#wallAheadMs);
  }

  #jumpTo(monotonicMs: number): void {
    const ms = Math.max(0, monotonicMs - this.monotonicMs());
    this.#aheadMs += ms;
    this.#wallAheadMs += ms;
  }

  /** Fires after `ms` by time or by `advance`, whichever comes first. Returns a cancel function. */
  #after(ms: number, fire: () => void): () => void {
    const cancellation = new AbortController();
    const cancel = (): void => {
      this.#timers.delete(timer);
      cancellation.abort();
    };
    const timer: Timer = {
      dueMs: this.monotonicMs() + ms,
      fire: () => {
        if (!this.#timers.has(timer)) return;
        cancel();
        fire();
      },
    };
    this.#timers.add(timer);
    // Rejects only after a cancel.
    this.#base.sleep(ms, cancellation.signal).then(timer.fire, () => undefined);
    return cancel;
  }
}
