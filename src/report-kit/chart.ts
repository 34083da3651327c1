/** Charts as SVG, and the axes that they are drawn on. */
import { html, type Html } from './html.ts';

/** An axis of a chart. */
export interface Axis {
  min: number;
  max: number;
  scale: 'linear' | 'logarithmic';
  ticks: readonly { value: number; label: string }[];
}

/** Returns the position of a value on an axis, from 0 at its start to 1 at its end. */
function positionOn({ min, max, scale }: Axis, value: number): number {
  const at = (number: number): number =>
    scale === 'linear' ? number : Math.log10(Math.max(number, 1e-9));
  const share = (at(value) - at(min)) / Math.max(1e-12, at(max) - at(min));
  return Math.min(1, Math.max(0, share));
}

/** Returns a linear axis from 0 to at least `max`, with three to six round ticks. */
export function createLinearAxis(max: number, label: (value: number) => string): Axis {
  const top = Math.max(max, 1);
  const rough = top / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10));
  const count = Math.ceil(top / step - 1e-9);
  const ticks = Array.from({ length: count + 1 }, (_, index) => index * step);
  return {
    min: 0,
    max: count * step,
    scale: 'linear',
    ticks: ticks.map((value) => ({ value, label: label(value) })),
  };
}

const DECADES = [0.1, 1, 10, 100, 1_000, 10_000, 100_000];

/** Returns a logarithmic axis of times in milliseconds that shows `min` to `max`. */
export function createTimeAxis(min: number, max: number): Axis {
  const low = DECADES.findLast((decade) => decade <= min) ?? 0.1;
  const high = Math.max(max * 1.15, low * 10);
  const ticks = DECADES.filter((decade) => decade >= low && decade <= high);
  return {
    min: low,
    max: high,
    scale: 'logarithmic',
    ticks: ticks.map((value) => ({ value, label: formatTickTime(value) })),
  };
}

/** Formats a round time for an axis: "50 ms", "5 s". */
export function formatTickTime(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
}

/** Returns an axis of seconds, from the ramp-up (below 0) to the end of the drain. */
export function createSecondsAxis(from: number, to: number, ticksMax: number): Axis {
  const span = Math.max(1, to - from);
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400];
  const step = steps.find((seconds) => span / seconds <= ticksMax) ?? 28_800;
  const ticks: Axis['ticks'][number][] = [];
  for (let value = Math.ceil(from / step) * step; value <= to; value += step) {
    ticks.push({ value, label: formatTickSeconds(value) });
  }
  return { min: from, max: from + span, scale: 'linear', ticks };
}

function formatTickSeconds(second: number): string {
  if (Math.abs(second) < 120) return `${second} s`;
  const minutes = second / 60;
  return Number.isInteger(minutes) ? `${minutes} min` : `${minutes.toFixed(1)} min`;
}

/** The plot area of a chart, in units of the drawing. */
export interface Plot {
  left: number;
  top: number;
  width: number;
  height: number;
  x: Axis;
  y: Axis;
}

/** The content of a chart. */
export interface Chart {
  /** For screen readers. */
  label: string;
  x: Axis;
  y: Axis;
  /** What an axis shows, with its unit. */
  titles?: { x: string; y: string };
  /** Height of the plot area. */
  height: number;
  marks: (plot: Plot) => readonly Html[];
}

const WIDE = 760;
const NARROW = 360;
const MARGIN = { left: 52, right: 22, top: 24, bottom: 22 };
/** Height of the title of the x axis. */
const TITLE_HEIGHT = 16;
/** The width of a character of a label: more than the average of a sans-serif font of 11 px. */
const CHARACTER_WIDTH = 6.4;
const LABEL_GAP = 6;

const widthOf = (label: string): number => label.length * CHARACTER_WIDTH;

/** Renders a chart in two widths; the page shows the one that fits, so that text keeps its size. */
export function renderChart(draw: (ticksMax: number) => Chart): Html {
  return html`${renderSvg(draw(10), WIDE, 'wide')}${renderSvg(draw(5), NARROW, 'narrow')}`;
}

/** Renders a chart as wide as a phone, for a list of the class `charts`. */
export const renderSmallChart = (content: Chart): Html => renderSvg(content, NARROW, 'small');

function renderSvg(content: Chart, width: number, className: string): Html {
  const labels = content.y.ticks.map(({ label }) => widthOf(label) + LABEL_GAP);
  const left = roundTenth(Math.max(MARGIN.left, ...labels));
  const plot: Plot = {
    left,
    top: MARGIN.top,
    width: width - left - MARGIN.right,
    height: content.height,
    x: content.x,
    y: content.y,
  };
  const { titles } = content;
  const height = MARGIN.top + content.height + MARGIN.bottom + (titles ? TITLE_HEIGHT : 0);
  return html`<svg
    class="${className}"
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-label="${content.label}"
  >
    ${renderGrid(plot)} ${content.marks(plot)} ${titles && renderTitles(titles, plot, height)}
  </svg>`;
}

function renderTitles(
  { x, y }: NonNullable<Chart['titles']>,
  { left, width }: Plot,
  height: number,
): Html {
  const below = drawText(left + width / 2, height - 3, x, 'tick middle');
  return html`${drawText(2, 11, y, 'tick')}${below}`;
}

function renderGrid(plot: Plot): Html[] {
  const { left, top, width, height, y } = plot;
  const rows = y.ticks.map(({ value, label }) => {
    const at = yOf(plot, value);
    const line = drawSegment([left, left + width], [at, at], 'grid');
    return html`${line}${drawText(left - LABEL_GAP, at + 4, label, 'tick end')}`;
  });
  const columns = placeLabels(plot).map(({ at, label }) =>
    drawText(at, top + height + 16, label, 'tick middle'),
  );
  return [...rows, ...columns];
}

/** Returns where the labels of the x axis are: inside the drawing, without those that would touch a later one. */
function placeLabels(plot: Plot): { at: number; label: string }[] {
  const { left, width, x } = plot;
  const placed: { at: number; label: string }[] = [];
  let free = left + width + MARGIN.right;
  for (const { value, label } of x.ticks.toReversed()) {
    const half = widthOf(label) / 2;
    const at = Math.min(Math.max(xOf(plot, value), half), left + width + MARGIN.right - half);
    if (at + half > free) continue;
    placed.unshift({ at: roundTenth(at), label });
    free = at - half - LABEL_GAP;
  }
  return placed;
}

/** Returns the horizontal position of a value. */
export function xOf({ left, width, x }: Plot, value: number): number {
  return roundTenth(left + positionOn(x, value) * width);
}

/** Returns the vertical position of a value. */
export function yOf({ top, height, y }: Plot, value: number): number {
  return roundTenth(top + (1 - positionOn(y, value)) * height);
}

/** A point of a line; a null leaves a gap. */
export type Point = readonly [x: number, y: number | null];

/** Draws a line through points. */
export function drawLine(plot: Plot, points: readonly Point[], className: string): Html {
  return html`<path class="line ${className}" d="${buildPath(plot, points)}" />`;
}

/** Fills the area below a line. */
export function fillArea(plot: Plot, points: readonly Point[], className: string): Html {
  const known = points.filter(([, y]) => y !== null);
  const [first] = known;
  const last = known.at(-1);
  if (!first || !last) return html``;
  const floor = plot.top + plot.height;
  const d = `${buildPath(plot, known)}L${xOf(plot, last[0])},${floor}L${xOf(plot, first[0])},${floor}Z`;
  return html`<path class="area ${className}" d="${d}" />`;
}

function buildPath(plot: Plot, points: readonly Point[]): string {
  let pen = 'M';
  return points
    .map(([x, y]) => {
      if (y === null) {
        pen = 'M';
        return '';
      }
      const step = `${pen}${xOf(plot, x)},${yOf(plot, y)}`;
      pen = 'L';
      return step;
    })
    .join('');
}

/** How a dot looks. The shape tells it apart without its color. */
interface DotLook {
  className: string;
  title: string;
  shape?: 'circle' | 'square';
}

/** Draws a dot with a tooltip. */
export function drawDot(
  plot: Plot,
  [x, y]: readonly [x: number, y: number],
  { className, title, shape = 'circle' }: DotLook,
): Html {
  const [at, height] = [xOf(plot, x), yOf(plot, y)];
  const mark =
    shape === 'circle'
      ? html`<circle cx="${at}" cy="${height}" r="${DOT_RADIUS}" />`
      : html`<rect
          x="${roundTenth(at - DOT_RADIUS)}"
          y="${roundTenth(height - DOT_RADIUS)}"
          width="${2 * DOT_RADIUS}"
          height="${2 * DOT_RADIUS}"
        />`;
  return html`<g class="${className}">${mark}<title>${title}</title></g>`;
}

const DOT_RADIUS = 4;

/** Draws a horizontal line at the target of a time, with a label at its right end. */
export function drawTarget(plot: Plot, targetMs: number): Html {
  const at = yOf(plot, targetMs);
  const label = `target ${formatTickTime(targetMs)}`;
  const right = plot.left + plot.width;
  const line = drawSegment([plot.left, right], [at, at], 'target');
  return html`${line}${drawText(right - 4, at - 5, label, 'limit end')}`;
}

/** Draws a vertical line at a value, with a label above it. */
export function drawTick(plot: Plot, value: number, label: string, className: string): Html {
  const at = xOf(plot, value);
  const line = drawSegment([at, at], [plot.top, plot.top + plot.height], className);
  return html`${line}${drawText(at, plot.top - 5, label, 'tick middle')}`;
}

/** Draws a straight line between two points of the drawing. */
const drawSegment = (
  [x1, x2]: readonly [number, number],
  [y1, y2]: readonly [number, number],
  className: string,
): Html => html`<line class="${className}" x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}" />`;

const drawText = (x: number, y: number, text: string, className: string): Html =>
  html`<text class="${className}" x="${x}" y="${y}">${text}</text>`;

/** Shades a range of x. */
export function shadeRange(plot: Plot, from: number, to: number): Html {
  const [start, end] = [xOf(plot, from), xOf(plot, to)];
  if (end - start < 0.5) return html``;
  return html`<rect
    class="shade"
    x="${start}"
    y="${plot.top}"
    width="${roundTenth(end - start)}"
    height="${plot.height}"
  />`;
}

/** Draws a box between two corners, with a tooltip. */
export function drawBox(
  plot: Plot,
  [x1, x2]: readonly [number, number],
  [y1, y2]: readonly [number, number],
  { className, title, opacity = 1 }: { className: string; title: string; opacity?: number },
): Html {
  const [left, right] = [xOf(plot, x1), xOf(plot, x2)];
  const [bottom, top] = [yOf(plot, y1), yOf(plot, y2)];
  return html`<rect
    class="${className}"
    x="${left}"
    y="${top}"
    width="${roundTenth(Math.max(0.5, right - left))}"
    height="${roundTenth(Math.max(0, bottom - top))}"
    opacity="${opacity}"
    ><title>${title}</title></rect
  >`;
}

const roundTenth = (value: number): number => Math.round(value * 10) / 10;

/** CSS rules for charts. */
export const CHART_CSS = `
:root { --shade: #8881; --c1: #1565c0; --c2: #d9730d; --c3: #17803d; --c4: #7b4fc9; --c5: #9aa0a6;
  --k0: #c62828; --k1: #d9730d; --k2: #7b4fc9; --k3: #1565c0; --k4: #00838f; --k5: #80868b; }
@media (prefers-color-scheme: dark) { :root { --c1: #6cb0ff; --c2: #ffa657; --c3: #4ac26b;
  --c4: #c4a3ff; --c5: #70777f; --k0: #ff7b72; --k1: #ffa657; --k2: #c4a3ff; --k3: #6cb0ff;
  --k4: #4dd0e1; --k5: #9aa2ab; } }
figure { margin: 1rem 0 0; break-inside: avoid; }
figcaption { color: var(--soft-ink); font-size: 0.875rem; margin-bottom: 0.2rem; }
svg { display: block; width: 100%; height: auto; }
svg.narrow { display: none; }
svg.small { max-width: 24rem; }
.charts { display: grid; gap: 0 2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); }
.charts > p { margin-top: 1rem; }
@media (max-width: 640px) { svg.wide { display: none; } svg.narrow { display: block; } }
.grid { stroke: var(--line); stroke-width: 1; }
.tick, .limit { fill: var(--soft-ink); font: 11px system-ui, sans-serif; }
.limit { fill: var(--bad); }
.end { text-anchor: end; } .middle { text-anchor: middle; }
.line { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.area { opacity: 0.18; }
.dashed { stroke-dasharray: 5 4; } .dotted { stroke-dasharray: 1.5 3; }
.line.c1 { stroke: var(--c1); } .line.c2 { stroke: var(--c2); } .line.c3 { stroke: var(--c3); }
.line.c4 { stroke: var(--c4); } .line.c5 { stroke: var(--c5); } .area.c4 { fill: var(--c4); }
.target { stroke: var(--bad); stroke-width: 1.4; stroke-dasharray: 2 3; }
.shade { fill: var(--shade); }
.heat, .bar.c1 { fill: var(--c1); }
.bar.k0 { fill: var(--k0); } .bar.k1 { fill: var(--k1); } .bar.k2 { fill: var(--k2); }
.bar.k3 { fill: var(--k3); } .bar.k4 { fill: var(--k4); } .bar.k5 { fill: var(--k5); }
.good circle { fill: var(--good); } .bad circle { fill: none; stroke: var(--bad); stroke-width: 2; }
.open circle { fill: none; stroke: var(--warn); stroke-width: 2; }
.dot.c1 { fill: var(--c1); } .dot.c2 { fill: var(--c2); }
.key { white-space: nowrap; margin-right: 0.8rem; }
.key::before { content: ''; display: inline-block; width: 1.1em; height: 0; margin-right: 0.35em;
  border-top: 3px solid; vertical-align: middle; }
.key.dash::before { border-top-style: dashed; } .key.dot::before { border-top-style: dotted; }
.key.c1::before { border-color: var(--c1); } .key.c2::before { border-color: var(--c2); }
.key.c3::before { border-color: var(--c3); } .key.c4::before { border-color: var(--c4); }
.key.c5::before { border-color: var(--c5); }
.key.k0::before { border-color: var(--k0); } .key.k1::before { border-color: var(--k1); }
.key.k2::before { border-color: var(--k2); } .key.k3::before { border-color: var(--k3); }
.key.k4::before { border-color: var(--k4); } .key.k5::before { border-color: var(--k5); }
`;
