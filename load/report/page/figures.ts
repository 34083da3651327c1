import type { FaultKind, LoadReport } from '../../../src/contract/index.ts';
import { html, type Html } from '../../../src/report-kit/html.ts';
import { faultWords } from '../../record/fault-words.ts';
import { seconds } from '../../verdict/amounts.ts';
import type { Bin } from './binned.ts';
import { area, box, chart, line, mark, shade, xOf, yOf, type Field, type Point } from './chart.ts';
import { clockAxis, evenAxis, shortTime, timeAxis, type Axis } from './scale.ts';

/** What the charts over time share. */
export interface Times {
  bins: readonly Bin[];
  from: number;
  to: number;
  windowS: number;
}

const whole = (value: number): string => String(Math.round(value * 10) / 10);
const timeX = ({ from, to }: Times, ticksMax: number): Axis => clockAxis(from, to, ticksMax);
const series = ({ bins }: Times, value: (bin: Bin) => number | null): Point[] =>
  bins.map((bin) => [bin.second + bin.length / 2, value(bin)]);

/** Ramp and drain are shown, and not judged. */
const unjudged = (field: Field, { from, to, windowS }: Times): Html[] => [
  shade(field, from, 0),
  shade(field, windowS, to),
];

/** Requests a second: due, sent and done. */
export function rateFigure(times: Times): Html {
  const most = Math.max(...times.bins.flatMap(({ offered, sent, done }) => [offered, sent, done]));
  // Nothing is due any more: a line that falls to nothing would look like a break.
  const isDrain = (second: number): boolean => second >= times.windowS;
  return chart((ticksMax) => ({
    label: 'Requests a second that were due, sent and done',
    x: timeX(times, ticksMax),
    y: evenAxis(most, whole),
    height: 150,
    marks: (field) => [
      ...unjudged(field, times),
      line(
        field,
        series(times, ({ done }) => done),
        'c3',
      ),
      line(
        field,
        series(times, ({ second, sent }) => (isDrain(second) ? null : sent)),
        'c2',
      ),
      line(
        field,
        series(times, ({ second, offered }) => (isDrain(second) ? null : offered)),
        'c1 dashed',
      ),
    ],
  }));
}

/** Requests in flight. */
export function inFlightFigure(times: Times): Html {
  const most = Math.max(...times.bins.map(({ inFlight }) => inFlight));
  const points = series(times, ({ inFlight }) => inFlight);
  return chart((ticksMax) => ({
    label: 'Requests in flight',
    x: timeX(times, ticksMax),
    y: evenAxis(most, whole),
    height: 90,
    marks: (field) => [
      ...unjudged(field, times),
      area(field, points, 'c4'),
      line(field, points, 'c4'),
    ],
  }));
}

/** Response times a second, and the target. */
export function latencyFigure(times: Times, targetMs: number | undefined): Html {
  const known = times.bins.flatMap(({ p50, max }) => [p50 ?? [], max ?? []].flat());
  const highest = Math.max(targetMs ?? 0, ...known, 1);
  return chart((ticksMax) => ({
    label: 'Response times second by second: median, 95th and 99th percentile, maximum',
    x: timeX(times, ticksMax),
    y: timeAxis(Math.min(...known, 100), highest),
    height: 200,
    marks: (field) => [
      ...unjudged(field, times),
      line(
        field,
        series(times, ({ max }) => max),
        'c5',
      ),
      line(
        field,
        series(times, ({ p99 }) => p99),
        'c2',
      ),
      line(
        field,
        series(times, ({ p95 }) => p95),
        'c4',
      ),
      line(
        field,
        series(times, ({ p50 }) => p50),
        'c1',
      ),
      ...(targetMs === undefined
        ? []
        : [mark(field, targetMs, `target ${shortTime(targetMs)}`, 'target')]),
    ],
  }));
}

/** Response against service time by percentile: what lies between them is waiting. */
export function curveFigure(
  curve: NonNullable<LoadReport['curve']>,
  targetMs: number | undefined,
): Html {
  // Each nine is as wide as the one before.
  const nines = (percentile: number): number => 1 / (1 - percentile / 100);
  const last = nines(curve.at(-1)?.percentile ?? 99);
  const ticks = [0, 50, 90, 99, 99.9, 99.99].filter((percentile) => nines(percentile) <= last);
  const x: Axis = {
    min: 1,
    max: Math.max(last, 10),
    spread: 'logarithmic',
    ticks: ticks.map((percentile) => ({ value: nines(percentile), label: `p${percentile}` })),
  };
  const values = curve.flatMap(({ responseMs, serviceMs }) => [responseMs, serviceMs]);
  const through = (key: 'responseMs' | 'serviceMs'): Point[] =>
    curve.map((point) => [nines(point.percentile), point[key]]);
  return chart(() => ({
    label: 'Response and service times by percentile',
    x,
    y: timeAxis(Math.min(...values, 100), Math.max(...values, targetMs ?? 0, 1)),
    height: 200,
    marks: (field) => [
      line(field, through('serviceMs'), 'c3 dashed'),
      line(field, through('responseMs'), 'c1'),
      ...(targetMs === undefined
        ? []
        : [mark(field, targetMs, `target ${shortTime(targetMs)}`, 'target')]),
    ],
  }));
}

/** Errors by kind, stacked. */
export function errorFigure(times: Times, kinds: readonly string[]): Html {
  const sum = (errors: Bin['errors']): number =>
    Object.values(errors).reduce((total, count) => total + count, 0);
  const most = Math.max(...times.bins.map(({ errors }) => sum(errors)));
  return chart((ticksMax) => ({
    label: 'Errors by kind over time',
    x: timeX(times, ticksMax),
    y: evenAxis(most, whole),
    height: 110,
    marks: (field) => [
      ...unjudged(field, times),
      ...times.bins.flatMap((bin) => stack(field, bin, kinds)),
    ],
  }));
}

function stack(field: Field, { second, length, errors }: Bin, kinds: readonly string[]): Html[] {
  let floor = 0;
  return kinds.flatMap((kind, index) => {
    const times = errors[kind] ?? 0;
    if (times === 0) return [];
    const from = floor;
    floor += times;
    return [
      box(field, [second, second + length], [from, floor], {
        className: `bar k${index % 6}`,
        title: `${times} ${kind} (${faultWords[kind as FaultKind]}) at ${second} s`,
      }),
    ];
  });
}

/** How many response times of which size there were when: stalls that lines hide show here. */
export function heatFigure(times: Times, boundsMs: readonly number[]): Html {
  const most = Math.max(1, ...times.bins.flatMap(({ heat }) => heat));
  const classes = boundsMs.length + 1;
  const y: Axis = {
    min: 0,
    max: classes,
    spread: 'even',
    ticks: boundsMs.map((bound, index) => ({ value: index + 1, label: shortTime(bound) })),
  };
  return chart((ticksMax) => ({
    label: 'How many response times of which size there were when',
    x: timeX(times, ticksMax),
    y,
    height: classes * 15,
    marks: (field) =>
      times.bins.flatMap(({ second, length, heat }) =>
        heat.flatMap((count, index) =>
          count === 0
            ? []
            : [
                box(field, [second, second + length], [index, index + 1], {
                  className: 'heat',
                  // Few must be seen beside many: the eye reads the logarithm.
                  opacity:
                    Math.round((0.15 + (0.85 * Math.log1p(count)) / Math.log1p(most)) * 100) / 100,
                  title: `${count} at ${second} s ${classWords(boundsMs, index)}`,
                }),
              ],
        ),
      ),
  }));
}

function classWords(boundsMs: readonly number[], index: number): string {
  const [low, high] = [boundsMs[index - 1], boundsMs[index]];
  if (low === undefined) return `under ${seconds(high ?? 0)}`;
  return high === undefined ? `${seconds(low)} or longer` : `${seconds(low)} to ${seconds(high)}`;
}

/** The steps of a search: the 99th percentile by rate. */
export function stepsFigure({ steps }: NonNullable<LoadReport['findMax']>, targetMs: number): Html {
  const rates = steps.map(({ ratePerSecond }) => ratePerSecond);
  const known = steps.flatMap(({ p99Ms }) => p99Ms ?? []);
  const x: Axis = {
    min: Math.min(...rates) / 1.3,
    max: Math.max(...rates) * 1.3,
    spread: 'logarithmic',
    ticks: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000]
      .filter((rate) => rate >= Math.min(...rates) / 1.3 && rate <= Math.max(...rates) * 1.3)
      .map((value) => ({ value, label: `${value}/s` })),
  };
  return chart(() => ({
    label: 'The 99th percentile of the response time by rate',
    x,
    y: timeAxis(Math.min(...known, 100), Math.max(...known, targetMs)),
    height: 180,
    marks: (field) => [
      mark(field, targetMs, `target ${shortTime(targetMs)}`, 'target'),
      ...steps.map(({ ratePerSecond, p99Ms, holds, reason }) =>
        dot(field, [ratePerSecond, p99Ms ?? targetMs], holds, `${ratePerSecond}/s: ${reason}`),
      ),
    ],
  }));
}

function dot(field: Field, [x, y]: readonly [number, number], holds: boolean, title: string): Html {
  return html`<g class="${holds ? 'good' : 'bad'}"
    ><circle cx="${xOf(field, x)}" cy="${yOf(field, y)}" r="5" /><title>${title}</title></g
  >`;
}
