import type { FaultKind, LoadReport, LoadSecond } from '../../../src/contract/index.ts';
import { mean } from '../../../src/platform/mean.ts';
import type { Html } from '../../../src/report-kit/html.ts';
import {
  fillArea,
  drawBox,
  drawDot,
  drawLine,
  createLinearAxis,
  drawTarget,
  renderChart,
  createSecondsAxis,
  shadeRange,
  formatTickTime,
  createTimeAxis,
  type Axis,
  type Plot,
  type Point,
} from '../../../src/report-kit/chart.ts';
import { formatCount, formatDuration, formatNumber } from '../../../src/report-kit/format.ts';
import { addCounts, sumCounts } from '../../record/counts.ts';
import { faultDescriptions } from '../../record/fault-descriptions.ts';
import { roundTo } from '../../../src/platform/round.ts';

/** More points are invisible and make the page heavy. */
const BINS_MAX = 300;

/** A few seconds combined, so that a long run renders as fast as a short one. */
export interface Bin {
  /** The first second, and the number of seconds. */
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

/** Groups the timeline into at most 300 bins. Rates are means; percentiles and peaks are maxima. */
export function groupSeconds(timeline: readonly LoadSecond[]): Bin[] {
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
  const meanOf = (key: 'offered' | 'sent' | 'done'): number => mean(rows.map((row) => row[key]));
  const worst = (key: 'p50' | 'p95' | 'p99' | 'max'): number | null => {
    const values = rows.flatMap((row) => row[key] ?? []);
    return values.length === 0 ? null : Math.max(...values);
  };
  const errors: Record<string, number> = {};
  for (const row of rows) addCounts(errors, row.errors);
  return {
    second,
    length: rows.length,
    offered: meanOf('offered'),
    sent: meanOf('sent'),
    done: meanOf('done'),
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

/** The time range that all charts over time share. */
export interface TimeRange {
  bins: readonly Bin[];
  from: number;
  to: number;
  windowS: number;
}

const tickNumber = (value: number): string => formatNumber(value, 1);
const timeAxisX = ({ from, to }: TimeRange, ticksMax: number): Axis =>
  createSecondsAxis(from, to, ticksMax);
const series = ({ bins }: TimeRange, value: (bin: Bin) => number | null): Point[] =>
  bins.map((bin) => [bin.second + bin.length / 2, value(bin)]);

/** Shades ramp-up and drain, which are not judged. */
const unjudged = (plot: Plot, { from, to, windowS }: TimeRange): Html[] => [
  shadeRange(plot, from, 0),
  shadeRange(plot, windowS, to),
];

/** Charts requests per second: due (unless there is no schedule), sent, and completed. */
export function rateFigure(times: TimeRange, { hasSchedule }: { hasSchedule: boolean }): Html {
  const max = Math.max(...times.bins.flatMap(({ offered, sent, done }) => [offered, sent, done]));
  // During the drain nothing is due; a line that drops to zero would look like a failure.
  const isDrain = (second: number): boolean => second >= times.windowS;
  return renderChart((ticksMax) => ({
    label: `Requests per second: ${hasSchedule ? 'due, sent, and completed' : 'sent and completed'}`,
    x: timeAxisX(times, ticksMax),
    y: createLinearAxis(max, tickNumber),
    height: 150,
    marks: (plot) => [
      ...unjudged(plot, times),
      drawLine(
        plot,
        series(times, ({ done }) => done),
        'c3',
      ),
      drawLine(
        plot,
        series(times, ({ second, sent }) => (isDrain(second) ? null : sent)),
        'c2 dotted',
      ),
      ...(hasSchedule
        ? [
            drawLine(
              plot,
              series(times, ({ second, offered }) => (isDrain(second) ? null : offered)),
              'c1 dashed',
            ),
          ]
        : []),
    ],
  }));
}

/** Charts requests in flight. */
export function inFlightFigure(times: TimeRange): Html {
  const max = Math.max(...times.bins.map(({ inFlight }) => inFlight));
  const points = series(times, ({ inFlight }) => inFlight);
  return renderChart((ticksMax) => ({
    label: 'Requests in flight',
    x: timeAxisX(times, ticksMax),
    y: createLinearAxis(max, tickNumber),
    height: 90,
    marks: (plot) => [
      ...unjudged(plot, times),
      fillArea(plot, points, 'c4'),
      drawLine(plot, points, 'c4'),
    ],
  }));
}

/** Charts response times over time, with the target. */
export function latencyFigure(times: TimeRange, targetMs: number | undefined): Html {
  const values = times.bins.flatMap(({ p50, max }) => [p50 ?? [], max ?? []].flat());
  const highest = Math.max(targetMs ?? 0, ...values, 1);
  return renderChart((ticksMax) => ({
    label: 'Response times over time: median, 95th and 99th percentile, and maximum',
    x: timeAxisX(times, ticksMax),
    y: createTimeAxis(Math.min(...values, 100), highest),
    height: 200,
    marks: (plot) => [
      ...unjudged(plot, times),
      drawLine(
        plot,
        series(times, ({ max }) => max),
        'c5',
      ),
      drawLine(
        plot,
        series(times, ({ p99 }) => p99),
        'c2 dotted',
      ),
      drawLine(
        plot,
        series(times, ({ p95 }) => p95),
        'c4 dashed',
      ),
      drawLine(
        plot,
        series(times, ({ p50 }) => p50),
        'c1',
      ),
      ...(targetMs === undefined ? [] : [drawTarget(plot, targetMs)]),
    ],
  }));
}

/** Charts response and service times by percentile; the difference is time spent waiting. */
export function curveFigure(
  curve: NonNullable<LoadReport['curve']>,
  targetMs: number | undefined,
): Html {
  // Each additional nine gets the same width.
  const nines = (percentile: number): number => 1 / (1 - percentile / 100);
  const last = nines(curve.at(-1)?.percentile ?? 99);
  const ticks = [0, 50, 90, 99, 99.9, 99.99].filter((percentile) => nines(percentile) <= last);
  const x: Axis = {
    min: 1,
    max: Math.max(last, 10),
    scale: 'logarithmic',
    ticks: ticks.map((percentile) => ({ value: nines(percentile), label: `p${percentile}` })),
  };
  const values = curve.flatMap(({ responseMs, serviceMs }) => [responseMs, serviceMs]);
  const through = (key: 'responseMs' | 'serviceMs'): Point[] =>
    curve.map((point) => [nines(point.percentile), point[key]]);
  return renderChart(() => ({
    label: 'Response and service times by percentile',
    x,
    y: createTimeAxis(Math.min(...values, 100), Math.max(...values, targetMs ?? 0, 1)),
    height: 200,
    marks: (plot) => [
      drawLine(plot, through('serviceMs'), 'c3 dashed'),
      drawLine(plot, through('responseMs'), 'c1'),
      ...(targetMs === undefined ? [] : [drawTarget(plot, targetMs)]),
    ],
  }));
}

/** Charts errors by kind, stacked. */
export function errorFigure(times: TimeRange, kinds: readonly string[]): Html {
  const max = Math.max(...times.bins.map(({ errors }) => sumCounts(errors)));
  return renderChart((ticksMax) => ({
    label: 'Errors by kind over time',
    x: timeAxisX(times, ticksMax),
    y: createLinearAxis(max, tickNumber),
    height: 110,
    marks: (plot) => [
      ...unjudged(plot, times),
      ...times.bins.flatMap((bin) => stack(plot, bin, kinds)),
    ],
  }));
}

function stack(plot: Plot, { second, length, errors }: Bin, kinds: readonly string[]): Html[] {
  let floor = 0;
  return kinds.flatMap((kind, index) => {
    const times = errors[kind] ?? 0;
    if (times === 0) return [];
    const from = floor;
    floor += times;
    return [
      drawBox(plot, [second, second + length], [from, floor], {
        className: `bar k${index % 6}`,
        title: `${times} ${kind} (${faultDescriptions[kind as FaultKind]}) at ${second} s`,
      }),
    ];
  });
}

/** Charts the distribution of response times over time, which shows stalls that lines hide. */
export function heatFigure(times: TimeRange, boundsMs: readonly number[]): Html {
  const max = Math.max(1, ...times.bins.flatMap(({ heat }) => heat));
  const classes = boundsMs.length + 1;
  const y: Axis = {
    min: 0,
    max: classes,
    scale: 'linear',
    ticks: boundsMs.map((bound, index) => ({ value: index + 1, label: formatTickTime(bound) })),
  };
  return renderChart((ticksMax) => ({
    label: 'Distribution of response times over time',
    x: timeAxisX(times, ticksMax),
    y,
    height: classes * 15,
    marks: (plot) =>
      times.bins.flatMap(({ second, length, heat }) =>
        heat.flatMap((count, index) =>
          count === 0
            ? []
            : [
                drawBox(plot, [second, second + length], [index, index + 1], {
                  className: 'heat',
                  // A logarithm keeps small counts visible next to large ones.
                  opacity: roundTo(0.15 + (0.85 * Math.log1p(count)) / Math.log1p(max), 2),
                  title: `${formatCount(count, 'response')} at ${second} s: ${describeClass(boundsMs, index)}`,
                }),
              ],
        ),
      ),
  }));
}

function describeClass(boundsMs: readonly number[], index: number): string {
  const [low, high] = [boundsMs[index - 1], boundsMs[index]];
  if (low === undefined) return `under ${formatDuration(high ?? 0)}`;
  return high === undefined
    ? `${formatDuration(low)} or more`
    : `${formatDuration(low)} to ${formatDuration(high)}`;
}

/** Charts the 99th percentile of each step of a search by rate. */
export function stepsFigure({ steps }: NonNullable<LoadReport['findMax']>, targetMs: number): Html {
  const rates = steps.map(({ ratePerSecond }) => ratePerSecond);
  const values = steps.flatMap(({ p99Ms }) => p99Ms ?? []);
  const x: Axis = {
    min: Math.min(...rates) / 1.3,
    max: Math.max(...rates) * 1.3,
    scale: 'logarithmic',
    ticks: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000]
      .filter((rate) => rate >= Math.min(...rates) / 1.3 && rate <= Math.max(...rates) * 1.3)
      .map((value) => ({ value, label: `${value}/s` })),
  };
  return renderChart(() => ({
    label: '99th percentile of the response time by rate',
    x,
    y: createTimeAxis(Math.min(...values, 100), Math.max(...values, targetMs)),
    height: 180,
    marks: (plot) => [
      drawTarget(plot, targetMs),
      ...steps.map(({ ratePerSecond, p99Ms, holds, reason }) =>
        drawDot(plot, [ratePerSecond, p99Ms ?? targetMs], {
          className: holds ? 'good' : 'bad',
          title: `${ratePerSecond}/s: ${reason}`,
        }),
      ),
    ],
  }));
}
