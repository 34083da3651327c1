import type { LoadVerdict, ReadinessPartReport, ReadinessTarget } from '../../../contract/index.ts';
import {
  drawDot,
  drawLine,
  renderSmallChart,
  type Axis,
  type Point,
} from '../../../report-kit/chart.ts';
import { renderFactList } from '../../../report-kit/fact-list.ts';
import {
  formatInstant,
  formatList,
  formatNumber,
  formatQuantity,
} from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { LOAD_STANDINGS } from '../../../report-kit/load-standings.ts';
import { renderItems } from '../../../report-kit/table.ts';
import { renderVerdict, type Standing } from '../../../report-kit/verdict.ts';
import { targetColumns } from './target-columns.ts';

/** Lists what was judged, and by what: "agent version 3", "sandbox-kit 1.0", "requirement set 0.2". */
export const listJudge = ({
  agent_versions: agentVersions,
  kit_version: version,
  requirement_set: set,
}: Pick<ReadinessPartReport, 'agent_versions' | 'kit_version' | 'requirement_set'>): string[] => [
  ...(agentVersions ? [`agent version ${formatList(agentVersions)}`] : []),
  ...(version === undefined ? [] : [`sandbox-kit ${version}`]),
  ...(set === undefined ? [] : [`requirement set ${set}`]),
];

/** Renders a part of the readiness by area, by target, and by scenario. */
export const renderDetails = (part: ReadinessPartReport): Html =>
  html`${renderAreas(part)} ${renderTargets(part)} ${renderHistories(part)} ${renderScenarios(part)}
  ${renderTurnTaking(part)}`;

const renderAreas = ({ areas }: ReadinessPartReport): Html | undefined =>
  areas &&
  renderItems({
    label: 'Areas',
    items: areas,
    columns: [
      { name: 'area', content: ({ area }) => area },
      { name: 'passed', isNumber: true, content: ({ passed }) => formatNumber(passed) },
      { name: 'failed', isNumber: true, content: ({ failed }) => formatNumber(failed) },
      { name: 'warned', isNumber: true, content: ({ warned }) => formatNumber(warned) },
      { name: 'not judged', isNumber: true, content: (row) => formatNumber(row.not_judged) },
    ],
  });

const renderTargets = ({ targets }: ReadinessPartReport): Html | undefined =>
  targets &&
  renderItems({
    label: 'Targets',
    items: targets,
    columns: targetColumns,
  });

/** Renders a small chart for each target that several load tests measured. */
function renderHistories({ targets = [] }: ReadinessPartReport): Html | undefined {
  const charts = targets.flatMap((target) => (target.history ? [renderHistory(target)] : []));
  if (charts.length === 0) return undefined;
  return html`<h3>Over the last load tests</h3>
    <p class="soft">
      A filled dot passed. A hollow red one failed, and a hollow yellow one is not proven. The
      dashed line is the target.
    </p>
    <div class="charts">${charts}</div>`;
}

const DOT_CLASSES: Readonly<Record<Standing, string>> = { pass: 'good', fail: 'bad', warn: 'open' };

function renderHistory({ statement, target, unit, history = [] }: ReadinessTarget): Html {
  const values = history.map(({ measured }) => measured);
  const format = (value: number): string => formatQuantity(value, unit);
  const [first, last] = [history[0], history.at(-1)];
  const dayOf = (endedAt: string): string => formatInstant(endedAt).slice(0, 'YYYY-MM-DD'.length);
  return html`<figure>
    <figcaption>${statement}</figcaption>
    ${renderSmallChart({
      label: `${statement}: ${values.map(format).join(', ')}`,
      x: {
        min: 0.5,
        max: history.length + 0.5,
        scale: 'linear',
        ticks: [
          ...(first ? [{ value: 1, label: dayOf(first.ended_at) }] : []),
          ...(last ? [{ value: history.length, label: dayOf(last.ended_at) }] : []),
        ],
      },
      y: createHistoryAxis(target, values, format),
      height: 90,
      marks: (plot) => [
        drawLine(
          plot,
          [
            [plot.x.min, target],
            [plot.x.max, target],
          ],
          'c5 dashed',
        ),
        drawLine(
          plot,
          values.map((value, index): Point => [index + 1, value]),
          'c1',
        ),
        ...history.map(({ ended_at: endedAt, measured, verdict }, index) =>
          drawDot(plot, [index + 1, measured], {
            className: DOT_CLASSES[LOAD_STANDINGS[verdict as LoadVerdict]],
            title: `${formatInstant(endedAt)}: ${format(measured)}, ${verdict.toLowerCase()}`,
          }),
        ),
      ],
    })}
  </figure>`;
}

/** The part of an axis that stays free below and above the values. */
const FREE_SHARE = 0.2;

/** Returns an axis with the target. It starts at 0 unless all values are near the target. */
function createHistoryAxis(
  target: number,
  values: readonly number[],
  label: (value: number) => string,
): Axis {
  const [low, high] = [Math.min(target, ...values), Math.max(target, ...values)];
  const free = FREE_SHARE * Math.max(high - low, high / 100);
  const min = low - free < high / 2 ? 0 : low - free;
  const ticks = min === 0 && target !== 0 ? [0, target] : [target];
  return {
    min,
    max: high + free,
    scale: 'linear',
    ticks: ticks.map((value) => ({ value, label: label(value) })),
  };
}

const renderScenarios = ({ scenarios }: ReadinessPartReport): Html | undefined =>
  scenarios &&
  renderItems({
    label: 'Scenarios',
    items: scenarios,
    columns: [
      { name: 'scenario', content: (row) => row.scenario_id },
      { name: 'verdict', content: ({ verdict }) => renderVerdict(verdict) },
      {
        name: 'sessions passed',
        isNumber: true,
        content: ({ passed, samples }) => `${passed} of ${samples}`,
      },
    ],
  });

const renderTurnTaking = ({ turn_taking: facts }: ReadinessPartReport): Html | undefined =>
  facts &&
  html`<h3>Turn-taking in calls</h3>
    ${renderFactList(facts.map(({ name, value }) => [name, value]))}`;
