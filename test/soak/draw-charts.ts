/**
 * Judges long runs again, and draws their most telling measures: `node test/soak/draw-charts.ts SVG
 * DIR…`, each with the directory of its samples. Draws docs/soak.svg.
 */
import { writeFileSync } from 'node:fs';
import { PLOT_HEIGHT, renderChartFile, type ChartRow } from '../../bench/chart-file.ts';
import {
  createLinearAxis,
  drawLine,
  shadeRange,
  type Axis,
  type Chart,
} from '../../src/report-kit/chart.ts';
import { judgeAgain } from '../support/soak/run-soak.ts';
import type { SoakReport } from '../support/soak/soak-report.ts';

const CHARTS: Record<SoakReport['unit'], readonly string[]> = {
  minutes: [
    'service: heap of the main thread',
    'service: resident memory',
    'service: file descriptors',
    'agent: resident memory',
    'database file',
    'write-ahead log',
    'traces: p50',
    'results: p50',
  ],
  days: [
    'service: heap of the main thread',
    'service: resident memory',
    'database file',
    'rows of spans',
  ],
};
const LOOKS: Record<SoakReport['store'], string> = { sqlite: 'c1', postgres: 'c2 dashed' };
const BYTES_PER_MB = 1e6;

/** Returns an axis that ends with the run. */
function createRunAxis({ duration, unit }: SoakReport): Axis {
  const { ticks } = createLinearAxis(duration, (value) => `${value} ${unit}`);
  const shown = ticks.filter(({ value }) => value <= duration);
  return { min: 0, max: duration, scale: 'linear', ticks: shown };
}

/** Describes a measure of runs that took the same time, with a shade over the warm-up. */
function describeChart(name: string, reports: readonly SoakReport[], longest: SoakReport): Chart {
  const lines = reports.flatMap(({ store, judgments }) => {
    const judgment = judgments.find((each) => each.name === name);
    if (!judgment) return [];
    const { unit, blocks } = judgment;
    const scale = unit === 'bytes' ? BYTES_PER_MB : 1;
    const points = blocks.map(({ at, value }) => [at, value / scale] as const);
    return [{ look: LOOKS[store], points, unit: { bytes: ' (MB)', ms: ' (ms)', count: '' }[unit] }];
  });
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value));
  return {
    label: `${name} over the run`,
    x: createRunAxis(longest),
    y: createLinearAxis(Math.max(...values, 1), (value) => value.toLocaleString('en-US')),
    titles: { x: 'since the start', y: `${name}${lines[0]?.unit ?? ''}` },
    height: PLOT_HEIGHT,
    marks: (plot) => [
      shadeRange(plot, 0, longest.warmUp),
      ...lines.map(({ look, points }) => drawLine(plot, points, look)),
    ],
  };
}

function describeRows(all: readonly SoakReport[], unit: SoakReport['unit']): ChartRow[] {
  const reports = all.filter((report) => report.unit === unit);
  const longest = reports.toSorted((a, b) => b.duration - a.duration)[0];
  if (!longest) return [];
  const kind = unit === 'days' ? 'simulated days' : 'minutes in real time';
  const charts = CHARTS[unit].map((name) => describeChart(name, reports, longest));
  return charts.flatMap((_, nth) => {
    if (nth % 2 === 1) return [];
    const title = `${longest.duration} ${kind} (shaded: warm-up)`;
    return [{ ...(nth === 0 && { title }), charts: charts.slice(nth, nth + 2) }];
  });
}

const [target = '', ...folders] = process.argv.slice(2);
const reports = folders.map(judgeAgain);
const drawing = renderChartFile({
  label: 'Memory, handles, sizes, and latencies over long runs',
  key: [
    [LOOKS.sqlite, 'SQLite'],
    [LOOKS.postgres, 'PostgreSQL; a second replica comes and goes'],
  ],
  rows: [...describeRows(reports, 'minutes'), ...describeRows(reports, 'days')],
});
writeFileSync(target, drawing);
