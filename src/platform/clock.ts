import { setTimeout as sleepOnSystem } from 'node:timers/promises';

/**
 * An `AbortSignal`, from the DOM library of TypeScript or from `@types/node`. A project with neither
 * of them still compiles.
 */
export type StopSignal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } }
  ? Signal
  : { readonly aborted: boolean; readonly reason: unknown };

/** `Disposable`, for libraries of TypeScript that have it. */
export type Disposal =
  SymbolConstructor extends Readonly<Record<'dispose', infer Key extends symbol>>
    ? { [Name in Key]: () => void }
    : unknown;

/**
 * The source of time. Only what measures how late or how busy this process is also asks the system:
 * `event-loop.ts`, `local-delay.ts` of voice, and `meter.ts` of the self-check.
 */
export interface Clock {
  /** Whole milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Milliseconds from an arbitrary origin; never decreases. */
  monotonicMs(): number;
  /**
   * Waits; a negative time counts as 0. Rejects with the signal's reason when aborted. Does not keep
   * the process alive.
   */
  sleep(ms: number, signal?: StopSignal): Promise<void>;
  /**
   * Creates a signal that aborts after `ms`, as soon as possible if that time has passed, unless it is
   * disposed of.
   */
  deadline(ms: number): Deadline;
}

/** A running deadline. Disposing of it cancels it. */
export type Deadline = Disposal & {
  signal: StopSignal;
};

/** The abort reason of a deadline's signal. */
export class DeadlinePassed extends Error {
  override name = 'DeadlinePassed';
}

/** Units of time in milliseconds. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Returns the number of days from the Unix epoch to a time. */
export const toDay = (ms: number): number => Math.floor(ms / DAY_MS);

/** The system clock. */
export const systemClock: Clock = createScaledClock(1);

/**
 * Creates a clock that runs `factor` times as fast as the system clock. With it, the selftest proves
 * in a fraction of the time that slow peers are detected.
 */
export function createScaledClock(factor: number): Clock {
  const startedAtMs = Date.now();
  const origin = performance.now();
  const monotonicMs = (): number => (performance.now() - origin) * factor;
  return {
    nowMs: () => Math.floor(startedAtMs + monotonicMs()),
    monotonicMs,
    // Node prints a warning for a negative time.
    sleep: (ms, signal) =>
      sleepOnSystem(Math.max(0, ms / factor), undefined, signal ? { signal } : {}),
    deadline(ms) {
      const controller = new AbortController();
      const timer = setTimeout(
        () => {
          controller.abort(new DeadlinePassed(`no response within ${ms} ms`));
        },
        Math.max(0, ms / factor),
      );
      return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
    },
  };
}

/**
 * Creates a clock that shortens each sleep to `sleepMsMax`, and then advances as if the whole sleep
 * had passed.
 */
export function createSkippingClock(sleepMsMax: number): Clock {
  const clock = createScaledClock(1);
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

/** Parses an ISO 8601 time with a zone into Unix milliseconds; undefined for other text. */
export function instantMs(iso: string): number | undefined {
  if (!/(?:[Zz]|[+-]\d{2}:?\d{2})$/.test(iso)) return undefined;
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Returns the milliseconds between two ISO 8601 times. */
export const msBetween = (from: string, to: string): number =>
  (instantMs(to) ?? 0) - (instantMs(from) ?? 0);

/** Parses an HTTP date (RFC 9110), or another date that `Date.parse` reads; undefined for other text. */
export function httpDateMs(date: string): number | undefined {
  const ms = Date.parse(date);
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * Reads a Retry-After header, in seconds or as an HTTP date (RFC 9110), into milliseconds from `nowMs`.
 * The result is negative for a past date, and undefined if the header is absent or invalid.
 */
export function readRetryAfterMs(
  header: string | null | undefined,
  nowMs: number,
): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const atMs = httpDateMs(value);
  return atMs === undefined ? undefined : atMs - nowMs;
}

/** Formats Unix milliseconds as an HTTP date, in whole seconds. */
export function httpDate(ms: number): string {
  return new Date(ms).toUTCString();
}

/** Formats Unix milliseconds as ISO 8601 in UTC with milliseconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Formats Unix milliseconds as the date in UTC, such as 2026-11-20. */
export const isoDate = (ms: number): string => isoTime(ms).slice(0, 10);
