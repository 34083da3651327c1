/** A drawing of charts in two columns, for a page of docs: an SVG file with its own colors. */
import { CHART_CSS, renderSmallChart, type Chart } from '../src/report-kit/chart.ts';
import { Html, html } from '../src/report-kit/html.ts';

/** Two charts side by side. */
export interface ChartRow {
  title?: string;
  charts: readonly Chart[];
}

/** What a drawing shows. */
export interface ChartFile {
  /** For screen readers. */
  label: string;
  /** The class of a line, and what it shows; one for each column. */
  key: readonly (readonly [className: string, text: string])[];
  rows: readonly ChartRow[];
}

/** The height of the plot area that fits. */
export const PLOT_HEIGHT = 100;

const [CHART_WIDTH, CHART_HEIGHT] = [360, 162];
const [WIDTH, HEAD, TITLE, GAP] = [760, 40, 24, 14];

/** Colors of pages, for a file without a page around it. */
const CSS = `
:root { --paper: #fff; --ink: #1a1a1a; --soft-ink: #555; --line: #ddd; --bad: #c62828; }
@media (prefers-color-scheme: dark) { :root { --paper: #0d1117; --ink: #e6edf3;
  --soft-ink: #a0a8b2; --line: #30363d; --bad: #ff7b72; } }
${CHART_CSS.replaceAll(/^svg.*\n/gm, '')}
.paper { fill: var(--paper); } .title { fill: var(--ink); font: bold 14px system-ui, sans-serif; }
.knee { stroke: var(--soft-ink); stroke-dasharray: 2 3; }
`;

const columnX = (column: number): number => column * (WIDTH - CHART_WIDTH);

/** Returns a chart at a place. Pages set the size of charts, and a file has to. */
function placeChart(x: number, y: number, chart: Chart): Html {
  const size = `x="${x}" y="${y}" width="${CHART_WIDTH}" height="${CHART_HEIGHT}"`;
  return new Html(renderSmallChart(chart).text.replace('<svg', `<svg ${size}`));
}

const titleHeight = ({ title }: ChartRow): number => (title === undefined ? 0 : TITLE);
const rowHeight = (row: ChartRow): number => titleHeight(row) + CHART_HEIGHT + GAP;

function drawRow(row: ChartRow, top: number): Html {
  const title =
    row.title !== undefined && html`<text class="title" x="2" y="${top + 14}">${row.title}</text>`;
  const y = top + titleHeight(row);
  return html`${title} ${row.charts.map((chart, nth) => placeChart(columnX(nth), y, chart))}`;
}

function drawKey([className, text]: ChartFile['key'][number], column: number): Html {
  const x = columnX(column) + 2;
  return html`<path class="line ${className}" d="M${x},16h26" />
    <text class="tick" x="${x + 32}" y="20">${text}</text>`;
}

/** Renders a drawing, which is legible on light and on dark pages. */
export function renderChartFile({ label, key, rows }: ChartFile): string {
  let height = HEAD;
  const drawn = rows.map((row) => {
    const top = height;
    height += rowHeight(row);
    return drawRow(row, top);
  });
  const drawing = html`<svg
    xmlns="http://www.w3.org/2000/svg"
    viewBox="0 0 ${WIDTH} ${height}"
    width="${WIDTH}"
    height="${height}"
    role="img"
    aria-label="${label}"
  >
    <style>
      ${new Html(CSS)}
    </style>
    <rect class="paper" width="${WIDTH}" height="${height}" />
    ${key.map(drawKey)} ${drawn}
  </svg>`;
  return `${drawing.text}\n`;
}
