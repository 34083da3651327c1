import { setTimeout as sleepOnSystem } from 'node:timers/promises';

/** Where time comes from. Nothing outside this file reads the system's time or sets its timers. */
export interface Clock {
  /** Whole milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Milliseconds from an arbitrary origin; never goes back. */
  monotonicMs(): number;
  /** Waits; rejects with the signal's reason when aborted. Does not keep the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A signal that aborts after `ms`, and the way to call it off. */
  deadline(ms: number): Deadline;
}

/** A deadline that is set; disposing of it calls it off. */
export interface Deadline extends Disposable {
  signal: AbortSignal;
}

/** Why a deadline's signal aborted. */
export class DeadlinePassed extends Error {
  override name = 'DeadlinePassed';
}

/** The time of the machine. */
export const systemClock: Clock = scaledClock(1);

/**
 * A clock that runs `factor` times as fast as the machine's, so that a wait of ten seconds can be
 * seen in a tenth of one. For proving that slow peers are judged as such.
 */
export function scaledClock(factor: number): Clock {
  const startedAtMs = Date.now();
  const origin = performance.now();
  const monotonicMs = (): number => (performance.now() - origin) * factor;
  return {
    nowMs: () => Math.floor(startedAtMs + monotonicMs()),
    monotonicMs,
    sleep: (ms, signal) => sleepOnSystem(ms / factor, undefined, signal ? { signal } : {}),
    deadline(ms) {
      const controller = new AbortController();
      const timer = setTimeout(() => {
        controller.abort(new DeadlinePassed(`no answer within ${ms} ms`));
      }, ms / factor);
      return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
    },
  };
}

/**
 * The time of the machine, but for waits of more than `sleepMsMax`, of which the rest is skipped: the
 * clock then goes on as if it had been waited for.
 */
export function skippingClock(sleepMsMax: number): Clock {
  const clock = scaledClock(1);
  let skippedMs = 0;
  return {
    ...clock,
    nowMs: () => clock.nowMs() + skippedMs,
    monotonicMs: () => clock.monotonicMs() + skippedMs,
    async sleep(ms, signal) {
      await clock.sleep(Math.min(ms, sleepMsMax), signal);
      skippedMs += Math.max(0, ms - sleepMsMax);
    },
  };
}

/** Milliseconds since the Unix epoch of an ISO 8601 time with a zone; undefined for any other. */
export function instantMs(iso: string): number | undefined {
  if (!/(?:[Zz]|[+-]\d{2}:?\d{2})$/.test(iso)) return undefined;
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Milliseconds since the Unix epoch of an HTTP date (RFC 9110); undefined for anything else. */
export function httpDateMs(date: string): number | undefined {
  const ms = Date.parse(date);
  return Number.isNaN(ms) ? undefined : ms;
}

/** An instant as an HTTP date, in whole seconds. */
export function httpDate(ms: number): string {
  return new Date(ms).toUTCString();
}

/** An instant as ISO 8601 in UTC with milliseconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** A clock that stands still until `advance` moves it. */
export interface ManualClock extends Clock {
  /** Moves the time on and fires, in order, what is due by then. */
  advance(ms: number): void;
}

/** A clock for tests: starts at `startMs` and moves only by `advance`. */
export function manualClock(startMs: number): ManualClock {
  let now = startMs;
  let timers: { atMs: number; fire: () => void }[] = [];
  const after = (ms: number, fire: () => void): (() => void) => {
    const timer = { atMs: now + ms, fire };
    timers.push(timer);
    return () => {
      timers = timers.filter((other) => other !== timer);
    };
  };
  return {
    nowMs: () => now,
    monotonicMs: () => now - startMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const cancel = after(ms, resolve);
        signal?.addEventListener('abort', () => {
          cancel();
          reject(signal.reason as Error);
        });
      }),
    deadline(ms) {
      const controller = new AbortController();
      const cancel = after(ms, () => {
        controller.abort(new DeadlinePassed(`no answer within ${ms} ms`));
      });
      return { signal: controller.signal, [Symbol.dispose]: cancel };
    },
    advance(ms) {
      const untilMs = now + ms;
      for (;;) {
        const next = timers
          .filter(({ atMs }) => atMs <= untilMs)
          .sort((one, other) => one.atMs - other.atMs)[0];
        if (!next) break;
        timers = timers.filter((timer) => timer !== next);
        now = Math.max(now, next.atMs);
        next.fire();
      }
      now = untilMs;
    },
  };
}
