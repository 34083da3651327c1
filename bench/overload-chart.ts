/**
 * Draws goodput and p99 over the offered load. Usage: `node bench/overload-chart.ts JSON SVG`, with the
 * file that `overload.ts --json` has written.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  CHART_CSS,
  createLinearAxis,
  createTimeAxis,
  drawLine,
  drawTick,
  renderSmallChart,
  type Axis,
  type Chart,
  type Point,
} from '../src/report-kit/chart.ts';
import { Html, html } from '../src/report-kit/html.ts';
import type { InterfaceResult } from './overload.ts';

const TITLES: Record<InterfaceResult['name'], string> = {
  agent: 'Agent: chat requests',
  ingest: 'Traces, SQLite',
  'ingest-postgres': 'Traces, PostgreSQL',
  results: 'Results, SQLite',
  pages: 'Pages, SQLite',
};

const [CHART_WIDTH, PLOT_HEIGHT, CHART_HEIGHT] = [360, 100, 162];
const [WIDTH, ROW_HEIGHT, HEAD] = [760, 200, 40];

/** Colors of pages, for a file without a page around it. */
const CSS = `
:root { --paper: #fff; --ink: #1a1a1a; --soft-ink: #555; --line: #ddd; --bad: #c62828; }
@media (prefers-color-scheme: dark) { :root { --paper: #0d1117; --ink: #e6edf3;
  --soft-ink: #a0a8b2; --line: #30363d; --bad: #ff7b72; } }
${CHART_CSS.replaceAll(/^svg.*\n/gm, '')}
.paper { fill: var(--paper); } .title { fill: var(--ink); font: bold 14px system-ui, sans-serif; }
.knee { stroke: var(--soft-ink); stroke-dasharray: 2 3; }
`;

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

/** Returns a chart at a place. Pages set the size of charts, and a file has to. */
function placeChart(x: number, y: number, chart: Chart): Html {
  const size = `x="${x}" y="${y}" width="${CHART_WIDTH}" height="${CHART_HEIGHT}"`;
  return new Html(renderSmallChart(chart).text.replace('<svg', `<svg ${size}`));
}

function drawRow(result: InterfaceResult, top: number): Html {
  const { name, capacity } = result;
  const title = `${TITLES[name]} (capacity ${Math.round(capacity).toLocaleString('en-US')}/s)`;
  return html`<text class="title" x="2" y="${top + 14}">${title}</text>
    ${placeChart(0, top + 24, describeGoodput(result))}
    ${placeChart(WIDTH - CHART_WIDTH, top + 24, describeP99(result))}`;
}

const drawKey = (x: number, className: string, text: string): Html =>
  html`<path class="line ${className}" d="M${x},16h26" />
    <text class="tick" x="${x + 32}" y="20">${text}</text>`;

const [source = '', target = ''] = process.argv.slice(2);
const results = JSON.parse(readFileSync(source, 'utf8')) as InterfaceResult[];
const height = HEAD + results.length * ROW_HEIGHT;
const drawing = html`<svg
  xmlns="http://www.w3.org/2000/svg"
  viewBox="0 0 ${WIDTH} ${height}"
  width="${WIDTH}"
  height="${height}"
  role="img"
  aria-label="Goodput and p99 over the offered load"
>
  <style>
    ${new Html(CSS)}
  </style>
  <rect class="paper" width="${WIDTH}" height="${height}" />
  ${drawKey(2, 'c1', 'goodput, and p99 of successes')}
  ${drawKey(WIDTH - CHART_WIDTH, 'c2 dashed', 'refused requests, and p99 of refusals')}
  ${results.map((result, index) => drawRow(result, HEAD + index * ROW_HEIGHT))}
</svg>`;
writeFileSync(target, `${drawing.text}\n`);
