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

function describeGoodput({ name, loads, kneeFactor }: InterfaceResult): Chart {
  const top = Math.max(...loads.map(({ goodput, refused }) => Math.max(goodput, refused)));
  return {
    label: `${TITLES[name]}: goodput and refused requests per second over the offered load`,
    x: createLoadAxis(loads),
    y: createLinearAxis(top, (value) => value.toLocaleString('en-US')),
    titles: { x: 'offered load, in multiples of the capacity', y: 'per second' },
    height: PLOT_HEIGHT,
    marks: (plot) => [
      drawLine(plot, pointsOf(loads, 'goodput'), 'c1'),
      drawLine(plot, pointsOf(loads, 'refused'), 'c2 dashed'),
      drawTick(plot, kneeFactor, 'knee', 'knee'),
    ],
  };
}

function describeP99({ name, loads, kneeFactor }: InterfaceResult): Chart {
  const times = loads.flatMap(({ p99Ms, refusalP99Ms }) => [p99Ms, refusalP99Ms]);
  const known = times.filter((ms) => Number.isFinite(ms));
  return {
    label: `${TITLES[name]}: p99 of successes and of refusals over the offered load`,
    x: createLoadAxis(loads),
    y: createTimeAxis(Math.min(...known), Math.max(...known)),
    titles: { x: 'offered load, in multiples of the capacity', y: 'p99' },
    height: PLOT_HEIGHT,
    marks: (plot) => [
      drawLine(plot, pointsOf(loads, 'p99Ms'), 'c1'),
      drawLine(plot, pointsOf(loads, 'refusalP99Ms'), 'c2 dashed'),
      drawTick(plot, kneeFactor, 'knee', 'knee'),
    ],
  };
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
