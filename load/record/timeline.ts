import type { FaultKind, LoadPhase, LoadSecond } from '../../src/contract/index.ts';
import { addCounts, sumCounts } from './counts.ts';
import { formatNumbers, parseNumbers } from './number-list.ts';
import { roundTo } from '../../src/platform/round.ts';

/** Upper bounds of the heat map rows, in milliseconds. */
export const HEAT_BOUNDS_MS: readonly number[] = [
  5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000,
];

/** A record by seconds. Times are milliseconds since the start of the steady state. */
export interface Timeline {
  addDue(dueMs: number): void;
  addSend(sentMs: number, inFlight: number): void;
  addEnd(endedMs: number, inFlight: number): void;
  addOk(endedMs: number): void;
  addFault(endedMs: number, kind: FaultKind): void;
  addResponseTime(dueMs: number, ms: number): void;
  /** Returns how many requests ended and failed in the last full seconds. */
  recentFaults(nowMs: number, seconds: number): { ended: number; failed: number };
  /** Returns the number of requests sent in the last full second. */
  recentRate(nowMs: number): number;
  rows(): LoadSecond[];
  /** Returns the response times of each row, in hundredths of a millisecond. */
  encodeTimes(): string[];
  /** Adds the rows of a shard with their response times. */
  merge(rows: readonly LoadSecond[], times: readonly string[]): void;
}

interface Second {
  offered: number;
  sent: number;
  done: number;
  ok: number;
  /** The maximum after each event of the second. */
  inFlight: number;
  /** Requests in flight after the last event of the second; undefined without such an event. */
  inFlightAtEnd?: number;
  errors: Record<string, number>;
  responseTimes: number[];
  /** Number of response times in each class of `HEAT_BOUNDS_MS`. */
  heat: number[];
}

const emptySecond = (): Second => ({
  offered: 0,
  sent: 0,
  done: 0,
  ok: 0,
  inFlight: 0,
  errors: {},
  responseTimes: [],
  heat: HEAT_BOUNDS_MS.map(() => 0).concat(0),
});

/** Creates an empty timeline for a steady state of `windowMs`. */
export function createTimeline(windowMs: number): Timeline {
  const seconds = new Map<number, Second>();
  const at = (ms: number): Second => {
    const second = Math.floor(ms / 1000);
    let row = seconds.get(second);
    if (!row) {
      row = emptySecond();
      seconds.set(second, row);
    }
    return row;
  };
  const inFlightAt = (ms: number, inFlight: number): Second => {
    const row = at(ms);
    row.inFlight = Math.max(row.inFlight, inFlight);
    row.inFlightAtEnd = inFlight;
    return row;
  };
  return {
    addDue(dueMs) {
      at(dueMs).offered++;
    },
    addSend(sentMs, inFlight) {
      inFlightAt(sentMs, inFlight).sent++;
    },
    addEnd(endedMs, inFlight) {
      inFlightAt(endedMs, inFlight).done++;
    },
    addOk(endedMs) {
      at(endedMs).ok++;
    },
    addFault(endedMs, kind) {
      const { errors } = at(endedMs);
      errors[kind] = (errors[kind] ?? 0) + 1;
    },
    addResponseTime(dueMs, ms) {
      const { responseTimes, heat } = at(dueMs);
      responseTimes.push(ms);
      const index = HEAT_BOUNDS_MS.findIndex((bound) => ms < bound);
      addTo(heat, index === -1 ? HEAT_BOUNDS_MS.length : index, 1);
    },
    recentFaults(nowMs, count) {
      const last = Math.floor(nowMs / 1000) - 1;
      let [ended, failed] = [0, 0];
      for (let second = Math.max(0, last - count + 1); second <= last; second++) {
        const { ok = 0, errors = {} } = seconds.get(second) ?? {};
        const faults = sumCounts(errors);
        ended += ok + faults;
        failed += faults;
      }
      return { ended, failed };
    },
    recentRate: (nowMs) => seconds.get(Math.floor(nowMs / 1000) - 1)?.sent ?? 0,
    rows: () => rowsOf(seconds, windowMs),
    encodeTimes: () => encodeTimes(seconds, windowMs),
    merge: (rows, times) => mergeRows(at, rows, times),
  };
}

function encodeTimes(seconds: ReadonlyMap<number, Second>, windowMs: number): string[] {
  return rowsOf(seconds, windowMs).map(({ second }) => {
    const times = seconds.get(second)?.responseTimes ?? [];
    return formatNumbers(times.map((ms) => Math.round(ms * 100)).sort((a, b) => a - b));
  });
}

function mergeRows(
  at: (ms: number) => Second,
  rows: readonly LoadSecond[],
  times: readonly string[],
): void {
  for (const [nth, row] of rows.entries()) {
    const second = at(row.second * 1_000);
    for (const key of ['offered', 'sent', 'done', 'ok', 'inFlight'] as const) {
      second[key] += row[key];
    }
    addCounts(second.errors, row.errors);
    for (const [index, count] of row.heat.entries()) addTo(second.heat, index, count);
    for (const hundredths of parseNumbers(times[nth] ?? '')) {
      second.responseTimes.push(hundredths / 100);
    }
  }
}

function addTo(counts: number[], index: number, count: number): void {
  counts[index] = (counts[index] ?? 0) + count;
}

function rowsOf(seconds: ReadonlyMap<number, Second>, windowMs: number): LoadSecond[] {
  const numbers = [...seconds.keys()].sort((a, b) => a - b);
  const [first = 0, last = -1] = [numbers[0], numbers.at(-1)];
  const rows: LoadSecond[] = [];
  let inFlight = 0;
  for (let second = first; second <= last; second++) {
    const row = seconds.get(second) ?? emptySecond();
    rows.push({
      second,
      phase: phaseOf(second, windowMs),
      offered: row.offered,
      sent: row.sent,
      done: row.done,
      ok: row.ok,
      // Requests that are in flight when the second begins also count.
      inFlight: Math.max(row.inFlight, inFlight),
      ...percentilesOf(row.responseTimes),
      errors: { ...row.errors },
      heat: [...row.heat],
    });
    inFlight = row.inFlightAtEnd ?? inFlight;
  }
  return rows;
}

function phaseOf(second: number, windowMs: number): LoadPhase {
  if (second < 0) return 'ramp';
  return second * 1000 < windowMs ? 'window' : 'drain';
}

function percentilesOf(times: readonly number[]): Pick<LoadSecond, 'p50' | 'p95' | 'p99' | 'max'> {
  const sorted = Float64Array.from(times).sort();
  const at = (percentile: number): number | null => {
    const value = sorted[Math.max(0, Math.ceil((percentile / 100) * sorted.length) - 1)];
    return value === undefined ? null : roundTo(value, 2);
  };
  return { p50: at(50), p95: at(95), p99: at(99), max: at(100) };
}

/** Requests in flight during the steady state, sampled ten times per second. */
export interface InFlightSeries {
  /** Records that `count` requests are in flight from `atMs` on. */
  set(atMs: number, count: number): void;
  /** Returns the series up to `untilMs`. */
  until(untilMs: number): number[];
  /** Adds the series of a shard. */
  merge(series: readonly number[]): void;
}

/** Milliseconds per step of the series. */
export const IN_FLIGHT_STEP_MS = 100;

/** Creates an empty series. */
export function createInFlightSeries(windowMs: number): InFlightSeries {
  const counts: (number | undefined)[] = [];
  const merged: number[] = [];
  let initial = 0;
  return {
    set(atMs, count) {
      if (atMs < 0) initial = count;
      else if (atMs < windowMs) counts[Math.floor(atMs / IN_FLIGHT_STEP_MS)] = count;
    },
    until(untilMs) {
      const steps = Math.floor(Math.min(untilMs, windowMs) / IN_FLIGHT_STEP_MS);
      let count = initial;
      return Array.from({ length: steps }, (_, step) => {
        count = counts[step] ?? count;
        return count + (merged[step] ?? 0);
      });
    },
    merge(series) {
      for (const [step, count] of series.entries()) addTo(merged, step, count);
    },
  };
}
