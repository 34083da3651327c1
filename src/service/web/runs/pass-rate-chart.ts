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
import { createRunAxis, describeTarget, nameRun, nounOf } from './run-axis.ts';
import type { TimesByRun } from './response-time-chart.ts';

/** Returns the share of the outcomes that pass; undefined without outcomes. */
export const passRateOf = ({
  evaluations,
  passedEvaluations,
}: Pick<RunSummary, 'evaluations' | 'passedEvaluations'>): number | undefined =>
  evaluations === 0 ? undefined : passedEvaluations / evaluations;

/** The most charts of a page. */
const CHARTS_MAX = 6;

/** The outcomes of one agent by one channel in one run. */
interface RatedRun {
  run: RunSummary;
  target: string;
  rate: number;
}

/**
 * Renders the pass rates of runs over time as pictures: one for each agent and channel, those with the newest
 * runs first. Production runs, which can have several of them, also get one of all sessions.
 * @param runs Newest first.
 * @param times The newest sessions of production runs.
 * @param nowMs The days of a chart have a year unless all of them are of the current year.
 */
export function renderPassRates(
  runs: readonly RunSummary[],
  times: TimesByRun,
  { kind, nowMs }: { kind: SessionKind; nowMs: number },
): Html[] {
  const whole = runs.map((run) => ({ ...run, run, target: describeTarget(run) }));
  const split = kind === 'production' ? splitByTarget(runs, times) : [];
  const rated = [...whole, ...split].flatMap(({ run, target, ...counts }): RatedRun[] => {
    const rate = passRateOf(counts);
    return rate === undefined ? [] : [{ run, target, rate }];
  });
  // One point shows no change.
  return [...Map.groupBy(rated, ({ target }) => target).values()]
    .filter(({ length }) => length > 1)
    .slice(0, CHARTS_MAX)
    .map((ofTarget) => renderTargetChart(ofTarget.reverse(), { kind, nowMs }));
}

/**
 * Returns the outcomes of each run by agent and channel, those with the most outcomes first, unless all
 * sessions have the same ones.
 */
function splitByTarget(runs: readonly RunSummary[], times: TimesByRun) {
  const split = runs.flatMap((run) =>
    Array.from(Map.groupBy(times.get(run.id) ?? [], describeTarget), ([target, sessions]) => ({
      run,
      target,
      evaluations: sumOf(sessions, 'evaluations'),
      passedEvaluations: sumOf(sessions, 'passedEvaluations'),
    })),
  );
  const byTarget = [...Map.groupBy(split, ({ target }) => target).values()];
  if (byTarget.length < 2) return [];
  return byTarget
    .sort((one, other) => sumOf(other, 'evaluations') - sumOf(one, 'evaluations'))
    .flat()
    .filter(({ target }) => target !== '');
}

const sumOf = <Key extends string>(items: readonly Record<Key, number>[], key: Key): number =>
  items.reduce((sum, item) => sum + item[key], 0);

/** @param rated Oldest first, of one target. */
function renderTargetChart(
  rated: readonly RatedRun[],
  shown: { kind: SessionKind; nowMs: number },
): Html {
  const noun = nounOf(shown.kind);
  const target = rated[0]?.target ?? '';
  const runs = rated.map(({ run }) => run);
  const rates = rated.map(({ rate }) => rate);
  const points = rates.map((rate, index): Point => [index + 1, rate]);
  const [first = 0, last = 0] = [rates[0], rates.at(-1)];
  const subject = target === '' ? 'Pass rate' : `${target}: pass rate`;
  const title =
    `${subject} of the last ${runs.length} ${noun}s, ` +
    `from ${formatShare(first, 1)} to ${formatShare(last, 1)}`;
  const axis = createRunAxis(runs, shown);
  const y = createRateAxis(Math.min(...rates));
  return html`<figure>
    <figcaption>${title}</figcaption>
    ${renderSmallChart({
      label: title,
      x: axis.x,
      y,
      titles: {
        x: axis.title,
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
  // Steps that start at the minimum, so that the lowest line of the grid is the bottom.
  const [min, step] =
    lowest < 0.5
      ? [0, 0.25]
      : lowest < 0.55
        ? [0.5, 0.25]
        : [Math.floor((lowest - 0.05) / RATE_STEP) * RATE_STEP, RATE_STEP];
  const count = Math.floor((1 - min) / step + 1e-9);
  const ticks = Array.from({ length: count + 1 }, (_, index) => 1 - index * step);
  return {
    min,
    max: 1,
    scale: 'linear',
    ticks: ticks.map((value) => ({ value, label: formatShare(value, 0) })),
  };
}
