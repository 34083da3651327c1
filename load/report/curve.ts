import type { CurvePoint } from '../../src/contract/index.ts';
import type { Durations } from '../record/histogram.ts';

/** The percentiles of a curve whose right end is stretched: each nine as wide as the one before. */
const PERCENTILES = [
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 96, 97, 98, 98.5, 99, 99.25, 99.5, 99.75,
  99.9, 99.95, 99.99, 99.999,
];

/** Response and service times by percentile, as far as there are samples for it. */
export function curveOf(response: Durations, service: Durations): CurvePoint[] {
  return PERCENTILES.filter((percentile) => (1 - percentile / 100) * response.count >= 1).map(
    (percentile) => ({
      percentile,
      responseMs: response.percentile(percentile) ?? 0,
      serviceMs: service.percentile(percentile) ?? 0,
    }),
  );
}
