import { isoTime } from '../../../platform/clock.ts';
import {
  CHART_CSS,
  drawDot,
  drawLine,
  renderChart,
  type Axis,
  type Point,
} from '../../../report-kit/chart.ts';
import { cutText, formatCount, formatInstant, formatShare } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems } from '../../../report-kit/table.ts';
import type { RunSummary, SessionKind } from '../../store/store.ts';

/** Returns the share of the outcomes that pass; undefined without outcomes. */
export const passRateOf = ({
  evaluations,
  passedEvaluations,
}: Pick<RunSummary, 'evaluations' | 'passedEvaluations'>): number | undefined =>
  evaluations === 0 ? undefined : passedEvaluations / evaluations;

/**
 * Renders the pass rate of runs over time as a picture, with its figures in a folded table.
 * @param runs Newest first.
 * @param nowMs The days of a chart have a year unless all of them are of the current year.
 */
export function renderPassRates(
  runs: readonly RunSummary[],
  kind: SessionKind,
  nowMs: number,
): Html | undefined {
  const scored = runs.filter(({ evaluations }) => evaluations > 0).reverse();
  // One point shows no change.
  if (scored.length < 2) return undefined;
  const noun = kind === 'production' ? 'production run' : 'simulation';
  const title = `Pass rate of the last ${scored.length} ${noun}s`;
  const rates = scored.map((run) => passRateOf(run) ?? 0);
  const points = rates.map((rate, index): Point => [index + 1, rate]);
  const y = createRateAxis(Math.min(...rates));
  return html`<figure>
    <figcaption>${title}</figcaption>
    ${renderChart((ticksMax) => ({
      label: `${title}, from ${formatShare(rates[0] ?? 0, 1)} to ${formatShare(rates.at(-1) ?? 0, 1)}`,
      x: createRunAxis(scored, ticksMax, nowMs),
      y,
      titles: {
        x: `${noun} by the day of its newest session`,
        y: `passed evals${y.min === 0 ? '' : ` (from ${formatShare(y.min, 0)})`}`,
      },
      height: 140,
      marks: (plot) => [
        drawLine(plot, points, 'c1'),
        ...scored.map((run, index) =>
          drawDot(plot, [index + 1, rates[index] ?? 0], {
            className: 'dot c1',
            title: `${nameRun(run)}: ${formatShare(rates[index] ?? 0, 1)}`,
          }),
        ),
      ],
    }))}
    <details>
      <summary>Figures of the chart</summary>
      ${renderFigures(scored, noun)}
    </details>
  </figure>`;
}

const RATE_STEP = 0.1;

/** Returns an axis up to 100% that starts at a round rate below the lowest one. */
function createRateAxis(lowest: number): Axis {
  const min = lowest < 0.5 ? 0 : Math.floor((lowest - 0.05) / RATE_STEP) * RATE_STEP;
  const step = 1 - min > 0.55 ? 0.25 : RATE_STEP;
  const count = Math.floor((1 - min) / step + 1e-9);
  const ticks = Array.from({ length: count + 1 }, (_, index) => 1 - index * step);
  return {
    ...{ min, max: 1, scale: 'linear' },
    ticks: ticks.map((value) => ({ value, label: formatShare(value, 0) })),
  };
}

/** Returns an axis with the same distance between runs, so that runs of one day do not overlap. */
function createRunAxis(runs: readonly RunSummary[], ticksMax: number, nowMs: number): Axis {
  const days = runs.map(({ newestStartMs }) =>
    newestStartMs === undefined ? '' : isoTime(newestStartMs).slice(0, 'YYYY-MM-DD'.length),
  );
  const thisYear = isoTime(nowMs).slice(0, 'YYYY-'.length);
  const isThisYear = days.every((day) => day === '' || day.startsWith(thisYear));
  const labels = isThisYear ? days.map((day) => day.slice(thisYear.length)) : days;
  const step = Math.ceil(runs.length / (isThisYear ? ticksMax : ticksMax * LONG_LABEL_SHARE));
  // A long label at the end would not fit into the picture.
  const offset = isThisYear ? 0 : Math.floor(step / 2);
  return {
    ...{ min: 0.5, max: runs.length + 0.5, scale: 'linear' },
    ticks: labels.flatMap((label, index) => {
      const isTick = (runs.length - 1 - index) % step === offset;
      return isTick ? [{ value: index + 1, label }] : [];
    }),
  };
}

/** The share of the ticks that fit if their labels have a year. */
const LONG_LABEL_SHARE = 0.6;

const NAME_LENGTH_MAX = 100;
const nameRun = ({ name }: RunSummary): string => cutText(name, NAME_LENGTH_MAX);

function renderFigures(runs: readonly RunSummary[], noun: string): Html {
  return renderItems({
    label: `Figures: ${noun}s`,
    items: runs,
    columns: [
      { name: noun, content: nameRun },
      {
        name: 'newest session',
        className: 'when',
        content: ({ newestStartMs }) =>
          newestStartMs !== undefined && formatInstant(isoTime(newestStartMs)),
      },
      {
        name: 'passed evals',
        isNumber: true,
        content: (run) => `${run.passedEvaluations} of ${formatCount(run.evaluations, 'eval')}`,
      },
      { name: 'pass rate', isNumber: true, content: (run) => formatShare(passRateOf(run) ?? 0, 1) },
    ],
  });
}

/** CSS rules of pages with this chart. */
export const PASS_RATE_CSS = `${CHART_CSS}
.charts svg.wide { display: none; } .charts svg.narrow { display: block; max-width: 30rem; }
figure summary { color: var(--soft-ink); font-size: 0.86rem; }
`;
