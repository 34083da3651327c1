import type { LoadSecond } from '../../../src/contract/index.ts';

/** More points than this are not seen, and make the page heavy. */
const BINS_MAX = 600;

/** Seconds put together, a few each, so that a long run draws as fast as a short one. */
export interface Bin {
  /** The second in which it begins, and how many it holds. */
  second: number;
  length: number;
  offered: number;
  sent: number;
  done: number;
  inFlight: number;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
  errors: Readonly<Record<string, number>>;
  heat: readonly number[];
}

/** The timeline in at most 600 bins. Rates are a second's mean, percentiles and heights the worst. */
export function binned(timeline: readonly LoadSecond[]): Bin[] {
  const length = Math.max(1, Math.ceil(timeline.length / BINS_MAX));
  const bins: Bin[] = [];
  for (let start = 0; start < timeline.length; start += length) {
    const rows = timeline.slice(start, start + length);
    const [first] = rows;
    if (first) bins.push(binOf(first.second, rows));
  }
  return bins;
}

function binOf(second: number, rows: readonly LoadSecond[]): Bin {
  const mean = (key: 'offered' | 'sent' | 'done'): number =>
    rows.reduce((sum, row) => sum + row[key], 0) / rows.length;
  const worst = (key: 'p50' | 'p95' | 'p99' | 'max'): number | null => {
    const known = rows.flatMap((row) => row[key] ?? []);
    return known.length === 0 ? null : Math.max(...known);
  };
  const errors: Record<string, number> = {};
  for (const row of rows) {
    for (const [kind, times] of Object.entries(row.errors)) {
      errors[kind] = (errors[kind] ?? 0) + times;
    }
  }
  return {
    second,
    length: rows.length,
    offered: mean('offered'),
    sent: mean('sent'),
    done: mean('done'),
    inFlight: Math.max(...rows.map(({ inFlight }) => inFlight)),
    p50: worst('p50'),
    p95: worst('p95'),
    p99: worst('p99'),
    max: worst('max'),
    errors,
    heat: (rows[0]?.heat ?? []).map((_, index) =>
      rows.reduce((sum, { heat }) => sum + (heat[index] ?? 0), 0),
    ),
  };
}
