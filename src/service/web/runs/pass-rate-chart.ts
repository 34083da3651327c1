import {
  drawDot,
  drawLine,
  renderSmallChart,
  type Axis,
  type Point,
} from '../../../report-kit/chart.ts';
import { formatShare } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { RunSummary, SessionKind } from '../../store/store.ts';
import { createRunAxis, describeTarget, nameRun } from './run-axis.ts';

/** Returns the share of the outcomes that pass; undefined without outcomes. */
export const passRateOf = ({
  evaluations,
  passedEvaluations,
}: Pick<RunSummary, 'evaluations' | 'passedEvaluations'>): number | undefined =>
  evaluations === 0 ? undefined : passedEvaluations / evaluations;

/** The most charts of a page. */
const CHARTS_MAX = 6;

/**
 * Renders the pass rates of runs over time as pictures: one of all production runs, or one for each agent and
 * channel of simulations, those with the newest simulations first.
 * @param runs Newest first.
 * @param nowMs The days of a chart have a year unless all of them are of the current year.
 */
export function renderPassRates(
  runs: readonly RunSummary[],
  kind: SessionKind,
  nowMs: number,
): Html[] {
  const scored = runs.filter(({ evaluations }) => evaluations > 0);
  // One point shows no change.
  const groups = [...Map.groupBy(scored, describeTarget).entries()].filter(
    ([, { length }]) => length > 1,
  );
  const noun = kind === 'production' ? 'production run' : 'simulation';
  return groups
    .slice(0, CHARTS_MAX)
    .map(([target, ofTarget]) => renderTargetChart(ofTarget.reverse(), { target, noun, nowMs }));
}

/** @param runs Oldest first, of one target. */
function renderTargetChart(
  runs: readonly RunSummary[],
  { target, noun, nowMs }: { target: string; noun: string; nowMs: number },
): Html {
  const rates = runs.map((run) => passRateOf(run) ?? 0);
  const points = rates.map((rate, index): Point => [index + 1, rate]);
  const [first = 0, last = 0] = [rates[0], rates.at(-1)];
  const subject = target === '' ? 'Pass rate' : `${target}: pass rate`;
  const title =
    `${subject} of the last ${runs.length} ${noun}s, ` +
    `from ${formatShare(first, 1)} to ${formatShare(last, 1)}`;
  const y = createRateAxis(Math.min(...rates));
  return html`<figure>
    <figcaption>${title}</figcaption>
    ${renderSmallChart({
      label: title,
      x: createRunAxis(runs, nowMs),
      y,
      titles: {
        x: `${noun} by the day of its newest session`,
        y: `passed evals${y.min === 0 ? '' : ` (from ${formatShare(y.min, 0)})`}`,
      },
      height: 110,
      marks: (plot) => [
        drawLine(plot, points, 'c1'),
        ...runs.map((run, index) =>
          drawDot(plot, [index + 1, rates[index] ?? 0], {
            className: 'dot c1',
            title: `${nameRun(run)}: ${formatShare(rates[index] ?? 0, 1)}`,
          }),
        ),
      ],
    })}
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
    min,
    max: 1,
    scale: 'linear',
    ticks: ticks.map((value) => ({ value, label: formatShare(value, 0) })),
  };
}
