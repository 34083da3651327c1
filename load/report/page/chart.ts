import { html, type Html } from '../../../src/report-kit/html.ts';
import { place, type Axis } from './scale.ts';

/** Where a chart draws: the inner field in units of the drawing. */
export interface Field {
  left: number;
  top: number;
  width: number;
  height: number;
  x: Axis;
  y: Axis;
}

/** What a chart shows. */
export interface Chart {
  /** Said by screen readers. */
  label: string;
  x: Axis;
  y: Axis;
  /** Height of the field. */
  height: number;
  /** Room for the labels on the left; 52. */
  labelWidth?: number;
  marks: (field: Field) => readonly Html[];
}

const WIDE = 760;
const NARROW = 360;
const MARGIN = { left: 52, right: 22, top: 18, bottom: 22 };

/** A chart in two widths, of which the page shows the one that fits: text keeps its size. */
export function chart(draw: (ticksMax: number) => Chart): Html {
  return html`${drawn(draw(10), WIDE, 'wide')}${drawn(draw(5), NARROW, 'narrow')}`;
}

function drawn(given: Chart, width: number, className: string): Html {
  const left = given.labelWidth ?? MARGIN.left;
  const field: Field = {
    left,
    top: MARGIN.top,
    width: width - left - MARGIN.right,
    height: given.height,
    x: given.x,
    y: given.y,
  };
  const height = MARGIN.top + given.height + MARGIN.bottom;
  return html`<svg
    class="${className}"
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-label="${given.label}"
  >
    ${gridOf(field)} ${given.marks(field)}
  </svg>`;
}

function gridOf(field: Field): Html[] {
  const { left, top, width, height, x, y } = field;
  const rows = y.ticks.map(({ value, label }) => {
    const at = yOf(field, value);
    return html`<line class="grid" x1="${left}" x2="${left + width}" y1="${at}" y2="${at}" /><text
        class="tick end"
        x="${left - 6}"
        y="${at + 4}"
        >${label}</text
      >`;
  });
  const columns = x.ticks.map(
    ({ value, label }) =>
      html`<text class="tick middle" x="${xOf(field, value)}" y="${top + height + 16}"
        >${label}</text
      >`,
  );
  return [...rows, ...columns];
}

/** Where a value of x stands. */
export function xOf({ left, width, x }: Field, value: number): number {
  return rounded(left + place(x, value) * width);
}

/** Where a value of y stands. */
export function yOf({ top, height, y }: Field, value: number): number {
  return rounded(top + (1 - place(y, value)) * height);
}

/** A point of a line; null leaves a gap. */
export type Point = readonly [x: number, y: number | null];

/** A line through points. */
export function line(field: Field, points: readonly Point[], className: string): Html {
  return html`<path class="line ${className}" d="${pathOf(field, points)}" />`;
}

/** The area below a line. */
export function area(field: Field, points: readonly Point[], className: string): Html {
  const known = points.filter(([, y]) => y !== null);
  const [first] = known;
  const last = known.at(-1);
  if (!first || !last) return html``;
  const floor = field.top + field.height;
  const d = `${pathOf(field, known)}L${xOf(field, last[0])},${floor}L${xOf(field, first[0])},${floor}Z`;
  return html`<path class="area ${className}" d="${d}" />`;
}

function pathOf(field: Field, points: readonly Point[]): string {
  let pen = 'M';
  return points
    .map(([x, y]) => {
      if (y === null) {
        pen = 'M';
        return '';
      }
      const step = `${pen}${xOf(field, x)},${yOf(field, y)}`;
      pen = 'L';
      return step;
    })
    .join('');
}

/** A line across at a value, with words at its right end. */
export function mark(field: Field, value: number, words: string, className: string): Html {
  const at = yOf(field, value);
  const right = field.left + field.width;
  return html`<line
      class="${className}"
      x1="${field.left}"
      x2="${right}"
      y1="${at}"
      y2="${at}"
    /><text class="mark end" x="${right - 4}" y="${at - 5}">${words}</text>`;
}

/** A stretch of x that is shaded. */
export function shade(field: Field, from: number, to: number): Html {
  const [start, end] = [xOf(field, from), xOf(field, to)];
  if (end - start < 0.5) return html``;
  return html`<rect
    class="shade"
    x="${start}"
    y="${field.top}"
    width="${rounded(end - start)}"
    height="${field.height}"
  />`;
}

/** A box between two corners, with a word for those who point at it. */
export function box(
  field: Field,
  [x1, x2]: readonly [number, number],
  [y1, y2]: readonly [number, number],
  { className, title, opacity = 1 }: { className: string; title: string; opacity?: number },
): Html {
  const [left, right] = [xOf(field, x1), xOf(field, x2)];
  const [bottom, top] = [yOf(field, y1), yOf(field, y2)];
  return html`<rect
    class="${className}"
    x="${left}"
    y="${top}"
    width="${rounded(Math.max(0.5, right - left))}"
    height="${rounded(Math.max(0, bottom - top))}"
    opacity="${opacity}"
    ><title>${title}</title></rect
  >`;
}

const rounded = (value: number): number => Math.round(value * 10) / 10;
