/**
 * Draws goodput and p99 over the offered load. Usage: `node bench/overload-chart.ts JSON SVG`, with the
 * file that `overload.ts --json` has written.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  createLinearAxis,
  createTimeAxis,
  drawLine,
  drawTick,
  type Axis,
  type Chart,
  type Point,
} from '../src/report-kit/chart.ts';
import { PLOT_HEIGHT, renderChartFile, type ChartRow } from './chart-file.ts';
import type { InterfaceResult } from './overload.ts';

const TITLES: Record<InterfaceResult['name'], string> = {
  agent: 'Agent: chat requests',
  ingest: 'Traces, SQLite',
  'ingest-postgres': 'Traces, PostgreSQL',
  results: 'Results, SQLite',
  pages: 'Pages, SQLite',
};

type Load = InterfaceResult['loads'][number];

const createLoadAxis = (loads: readonly Load[]): Axis => ({
  min: 0.5,
  max: 3,
  scale: 'linear',
  ticks: loads.map(({ factor }) => ({ value: factor, label: `${factor}x` })),
});

/** Missing numbers are null in JSON. */
const pointsOf = (loads: readonly Load[], name: keyof Load): Point[] =>
  loads.map((load) => [load.factor, load[name] as number | null]);

/** What a chart shows over the offered load: a solid line and a dashed one. */
interface LoadChart {
  shown: string;
  title: string;
  y: Axis;
  solid: keyof Load;
  dashed: keyof Load;
}

function describeChart(
  { name, loads, kneeFactor }: InterfaceResult,
  { shown, title, y, solid, dashed }: LoadChart,
): Chart {
  return {
    label: `${TITLES[name]}: ${shown} over the offered load`,
    x: createLoadAxis(loads),
    y,
    titles: { x: 'offered load, in multiples of the capacity', y: title },
    height: PLOT_HEIGHT,
    marks: (plot) => [
      drawLine(plot, pointsOf(loads, solid), 'c1'),
      drawLine(plot, pointsOf(loads, dashed), 'c2 dashed'),
      drawTick(plot, kneeFactor, 'knee', 'knee'),
    ],
  };
}

function describeGoodput(result: InterfaceResult): Chart {
  const top = Math.max(...result.loads.map(({ goodput, refused }) => Math.max(goodput, refused)));
  return describeChart(result, {
    shown: 'goodput and refused requests per second',
    title: 'per second',
    y: createLinearAxis(top, (value) => value.toLocaleString('en-US')),
    solid: 'goodput',
    dashed: 'refused',
  });
}

function describeP99(result: InterfaceResult): Chart {
  const times = result.loads.flatMap(({ p99Ms, refusalP99Ms }) => [p99Ms, refusalP99Ms]);
  const known = times.filter((ms) => Number.isFinite(ms));
  return describeChart(result, {
    shown: 'p99 of successes and of refusals',
    title: 'p99',
    y: createTimeAxis(Math.min(...known), Math.max(...known)),
    solid: 'p99Ms',
    dashed: 'refusalP99Ms',
  });
}

function describeRow(result: InterfaceResult): ChartRow {
  const { name, capacity } = result;
  return {
    title: `${TITLES[name]} (capacity ${Math.round(capacity).toLocaleString('en-US')}/s)`,
    charts: [describeGoodput(result), describeP99(result)],
  };
}

const [source = '', target = ''] = process.argv.slice(2);
const results = JSON.parse(readFileSync(source, 'utf8')) as InterfaceResult[];
const drawing = renderChartFile({
  label: 'Goodput and p99 over the offered load',
  key: [
    ['c1', 'goodput, and p99 of successes'],
    ['c2 dashed', 'refused requests, and p99 of refusals'],
  ],
  rows: results.map(describeRow),
});
writeFileSync(target, drawing);
