/** How a series rises or falls. */
export interface Trend {
  /** Change a step (Theil-Sen: the median of the slopes of all pairs). */
  slope: number;
  /** One-sided 95 % bounds of it. */
  low: number;
  high: number;
}

/** All pairs of so many points are looked at; longer series are averaged down. */
const POINTS_MAX = 300;
/** The 95 % point of the normal distribution. */
const Z_95 = 1.645;

/**
 * The trend of a series of equal steps, hard to mislead by outliers. Its bounds allow for values
 * that hang together with their neighbours, as requests in flight do: a sandbox that stalls every
 * ten seconds must not look as if it fell behind. Of fewer than 4 points it knows nothing.
 */
export function trendOf(series: readonly number[]): Trend {
  if (series.length < 4) return { slope: 0, low: -Infinity, high: Infinity };
  const width = Math.ceil(series.length / POINTS_MAX);
  const points = averaged(series, width);
  const slopes = allSlopes(points);
  const slope = quantile(slopes, 0.5);
  const n = points.length;
  // Of Kendall's test; fewer independent points make the bounds wider.
  const spread = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18) * Math.sqrt(inflation(points, slope));
  const reach = (Z_95 * spread) / 2 / slopes.length;
  const bound = (share: number): number =>
    share <= 0 ? -Infinity : share >= 1 ? Infinity : quantile(slopes, share) / width;
  return { slope: slope / width, low: bound(0.5 - reach), high: bound(0.5 + reach) };
}

function averaged(series: readonly number[], width: number): number[] {
  const points: number[] = [];
  for (let start = 0; start + width <= series.length; start += width) {
    points.push(mean(series.slice(start, start + width)));
  }
  return points;
}

function allSlopes(points: readonly number[]): Float64Array {
  const slopes = new Float64Array((points.length * (points.length - 1)) / 2);
  let at = 0;
  for (let one = 0; one < points.length; one++) {
    for (let other = one + 1; other < points.length; other++) {
      slopes[at++] = ((points[other] ?? 0) - (points[one] ?? 0)) / (other - one);
    }
  }
  return slopes.sort();
}

/** By how much the neighbourhood of values widens the variance: from what is left without the slope. */
function inflation(points: readonly number[], slope: number): number {
  const rest = points.map((value, index) => value - slope * index);
  const middle = mean(rest);
  const away = rest.map((value) => value - middle);
  const variance = mean(away.map((value) => value * value));
  if (variance < 1e-9) return 1;
  const together = mean(away.slice(1).map((value, index) => value * (away[index] ?? 0)));
  const correlation = Math.min(0.99, Math.max(0, together / variance));
  return (1 + correlation) / (1 - correlation);
}

function quantile(sorted: Float64Array, share: number): number {
  return (
    sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(share * (sorted.length - 1))))] ?? 0
  );
}

const mean = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0) / Math.max(1, values.length);
