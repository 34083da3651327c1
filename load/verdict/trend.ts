import { mean } from '../../src/platform/mean.ts';

/** The slope of a series. */
export interface Trend {
  /** Change per step (Theil-Sen estimator: the median of the slopes of all pairs). */
  slope: number;
  /** One-sided 95% bounds of the slope. */
  low: number;
  high: number;
}

/** The estimator compares all pairs of points; a longer series is averaged down to this many. */
const POINTS_MAX = 300;
/** The 95% point of the normal distribution. */
const Z_95 = 1.645;

/**
 * Estimates the trend of a series of equal steps, robust against outliers. The bounds allow for
 * autocorrelation, which requests in flight have: a sandbox that stalls every ten seconds must not
 * look as if it fell behind. With fewer than 4 points the bounds are infinite.
 */
export function estimateTrend(series: readonly number[]): Trend {
  if (series.length < 4) return { slope: 0, low: -Infinity, high: Infinity };
  const width = Math.ceil(series.length / POINTS_MAX);
  const points = averageDown(series, width);
  const slopes = allSlopes(points);
  const slope = quantile(slopes, 0.5);
  const n = points.length;
  // The standard deviation of Kendall's test; autocorrelation widens the bounds.
  const spread =
    Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18) * Math.sqrt(varianceInflation(points, slope));
  const reach = (Z_95 * spread) / 2 / slopes.length;
  const bound = (share: number): number =>
    share <= 0 ? -Infinity : share >= 1 ? Infinity : quantile(slopes, share) / width;
  return { slope: slope / width, low: bound(0.5 - reach), high: bound(0.5 + reach) };
}

function averageDown(series: readonly number[], width: number): number[] {
  const points: number[] = [];
  for (let start = 0; start + width <= series.length; start += width) {
    points.push(mean(series.slice(start, start + width)));
  }
  return points;
}

function allSlopes(points: readonly number[]): Float64Array {
  const slopes = new Float64Array((points.length * (points.length - 1)) / 2);
  let at = 0;
  for (let left = 0; left < points.length; left++) {
    for (let right = left + 1; right < points.length; right++) {
      slopes[at++] = ((points[right] ?? 0) - (points[left] ?? 0)) / (right - left);
    }
  }
  return slopes.sort();
}

/** Returns how many times autocorrelation of the residuals widens the variance. */
function varianceInflation(points: readonly number[], slope: number): number {
  const residuals = points.map((value, index) => value - slope * index);
  const middle = mean(residuals);
  const deviations = residuals.map((value) => value - middle);
  const variance = mean(deviations.map((value) => value * value));
  if (variance < 1e-9) return 1;
  const covariance = mean(
    deviations.slice(1).map((value, index) => value * (deviations[index] ?? 0)),
  );
  const correlation = Math.min(0.99, Math.max(0, covariance / variance));
  return (1 + correlation) / (1 - correlation);
}

function quantile(sorted: Float64Array, share: number): number {
  return (
    sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(share * (sorted.length - 1))))] ?? 0
  );
}
