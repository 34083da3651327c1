import { DeadlinePassed, type Clock, type Deadline } from './clock.ts';

/** The last millisecond of the year 9999, the last that ISO 8601 has four digits for. */
export const clockEndsMs = 253_402_300_799_999;

/**
 * A clock that runs like the one below it, and can be set and moved on while it runs. It says whole
 * milliseconds since the epoch: what is kept of it is kept as integers.
 */
export interface AdjustableClock extends Clock {
  /**
   * Moves the time on by `ms`, 0 or more: fires what is due by then, in order and each at its own
   * time, and runs on from the new time. What a timer sets off may still be under way.
   */
  advance(ms: number): void;
  /**
   * Sets the time of day. Forward is the same as `advance`; back changes what `nowMs` says and
   * nothing else: no timer waits longer for it.
   */
  setNow(ms: number): void;
}

/** Makes a clock adjustable. Its timers rest on those of the clock below. */
export function adjustableClock(below: Clock): AdjustableClock {
  return new AheadOf(below);
}

/** Timers are kept on the monotonic time, so that setting the clock back delays none of them. */
interface Timer {
  dueMs: number;
  fire: () => void;
}

class AheadOf implements AdjustableClock {
  readonly #below: Clock;
  readonly #timers = new Set<Timer>();
  #aheadMs = 0;
  #wallAheadMs = 0;

  constructor(below: Clock) {
    this.#below = below;
  }

  nowMs(): number {
    return Math.min(clockEndsMs, this.#wallMs());
  }

  monotonicMs(): number {
    return this.#below.monotonicMs() + this.#aheadMs;
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
      controller.abort(new DeadlinePassed(`no answer within ${ms} ms`));
    });
    return { signal: controller.signal, [Symbol.dispose]: cancel };
  }

  advance(ms: number): void {
    const untilMs = this.monotonicMs() + ms;
    for (;;) {
      const [next] = [...this.#timers]
        .filter(({ dueMs }) => dueMs <= untilMs)
        .sort((one, other) => one.dueMs - other.dueMs);
      if (!next) break;
      this.#jumpTo(next.dueMs);
      next.fire();
    }
    this.#jumpTo(untilMs);
  }

  setNow(ms: number): void {
    const forwardMs = ms - this.#wallMs();
    if (forwardMs >= 0) this.advance(forwardMs);
    else this.#wallAheadMs += forwardMs;
  }

  /** What the time would be if it had no end. */
  #wallMs(): number {
    return Math.floor(this.#below.nowMs() + this.#wallAheadMs);
  }

  #jumpTo(monotonicMs: number): void {
    const ms = Math.max(0, monotonicMs - this.monotonicMs());
    this.#aheadMs += ms;
    this.#wallAheadMs += ms;
  }

  /** Fires after `ms`, by time or by `advance`, whichever comes first; gives the way to call off. */
  #after(ms: number, fire: () => void): () => void {
    const over = new AbortController();
    const cancel = (): void => {
      this.#timers.delete(timer);
      over.abort();
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
    // Rejects only when it was called off.
    this.#below.sleep(ms, over.signal).then(timer.fire, () => undefined);
    return cancel;
  }
}
