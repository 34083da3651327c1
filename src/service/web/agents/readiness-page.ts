import type {
  ReadinessPartReport,
  ReadinessReport,
  ReadinessTarget,
} from '../../../contract/index.ts';
import {
  CHART_CSS,
  drawDot,
  drawLine,
  renderSmallChart,
  type Axis,
  type Point,
} from '../../../report-kit/chart.ts';
import {
  formatAge,
  formatInstant,
  formatNumber,
  formatQuantity,
} from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { toVisible } from '../../../report-kit/printable.ts';
import { renderRunReport, type Standing } from '../../../report-kit/run-report.ts';
import { renderItems } from '../../../report-kit/table.ts';
import { renderAdvice } from './advice.ts';
import { describeEvidenceTimes } from './evidence-times.ts';

/** The words and the color of each readiness. */
const LOOKS: Readonly<Record<ReadinessReport['readiness'], { word: string; standing: Standing }>> =
  {
    ready: { word: 'Ready', standing: 'pass' },
    not_ready: { word: 'Not ready', standing: 'fail' },
    not_judged: { word: 'Not judged yet', standing: 'warn' },
  };

/** Renders the readiness of an agent as one HTML page that needs no server. */
export function renderReadinessPage(original: ReadinessReport, nowMs: number): string {
  const { agent, readiness, sentence, parts } = toVisible(original);
  const { word, standing } = LOOKS[readiness];
  const times = parts.flatMap(({ ended_at: endedAt }) => (endedAt ? Date.parse(endedAt) : []));
  const count = (of: Standing): number => parts.filter((part) => part.standing === of).length;
  return renderRunReport({
    command: 'Readiness of an agent, by sandbox-kit',
    headline: `${word}: ${agent.name}`,
    standing,
    subject: agent.url,
    sentence,
    tally: [
      ['pass', `${count('pass')} passed`],
      ['fail', `${count('fail')} failed`],
      ['warn', `${count('warn')} open`],
    ],
    facts: describeEvidenceTimes(times) || 'Nothing has been judged yet.',
    sections: parts.map((part) => ({
      id: part.id,
      title: part.name,
      body: renderPart(part, nowMs),
    })),
    css: CSS,
    json: original,
  });
}

function renderPart(part: ReadinessPartReport, nowMs: number): Html {
  const { standing, verdict, detail, newest_attempt: attempt } = part;
  const { next_step: nextStep, fix_first: fixFirst } = part;
  return html`<p><b class="${standing}">${verdict}</b></p>
    <p>${detail}</p>
    ${
      attempt &&
      html`<p>
        A newer run, which ended ${formatInstant(attempt.ended_at)}, judged nothing:
        ${attempt.detail}
      </p>`
    }
    ${renderFacts(part, nowMs)} ${renderAreas(part)} ${renderTargets(part)} ${renderHistories(part)}
    ${renderScenarios(part)}
    ${
      fixFirst &&
      html`<h3>Fix first</h3>
        <ol>
          ${fixFirst.map((cause) => html`<li>${renderAdvice(cause)}</li>`)}
        </ol>`
    }
    ${nextStep !== undefined && html`<p class="next">${renderAdvice(nextStep)}</p>`}`;
}

function renderFacts(
  { ended_at: endedAt, kit_version: version, requirement_set: set }: ReadinessPartReport,
  nowMs: number,
): Html | undefined {
  const facts = [
    ...(endedAt === undefined
      ? []
      : [`Ended ${formatInstant(endedAt)}, ${formatAge(nowMs - Date.parse(endedAt))}`]),
    ...(version === undefined ? [] : [`sandbox-kit ${version}`]),
    ...(set === undefined ? [] : [`requirement set ${set}`]),
  ];
  return facts.length === 0 ? undefined : html`<p class="soft">${facts.join(', ')}.</p>`;
}

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
    columns: [
      { name: 'target', content: ({ statement }) => statement },
      { name: 'verdict', content: ({ verdict }) => verdict.toLowerCase() },
      {
        name: 'required',
        isNumber: true,
        content: ({ target, unit }) => formatQuantity(target, unit),
      },
      {
        name: 'measured',
        isNumber: true,
        content: ({ measured, unit }) => measured !== null && formatQuantity(measured, unit),
      },
    ],
  });

/** Renders a small chart for each target that several load tests measured. */
function renderHistories({ targets = [] }: ReadinessPartReport): Html | undefined {
  const charts = targets.flatMap((target) => (target.history ? [renderHistory(target)] : []));
  if (charts.length === 0) return undefined;
  return html`<h3>Over the last load tests</h3>
    <p class="soft">A filled dot passed, a hollow one did not. The dashed line is the target.</p>
    <div class="charts">${charts}</div>`;
}

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
            className: verdict === 'PASS' ? 'dot c1' : 'bad',
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
      { name: 'verdict', content: ({ verdict }) => verdict },
      {
        name: 'sessions passed',
        isNumber: true,
        content: ({ passed, samples }) => `${passed} of ${samples}`,
      },
    ],
  });

const CSS = `${CHART_CSS}
.next { border-left: 4px solid var(--warn); padding: 0.2rem 0.75rem; }
h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
`;

/** The width of a character of the badge, in pixels: an average of a sans-serif font of 11 px. */
const CHARACTER_PX = 6.6;
const PADDING_PX = 8;
const HEIGHT_PX = 20;

/** Shapes, so that the badge can be told apart without its color. */
const MARKS: Readonly<Record<Standing, { mark: string; color: string }>> = {
  pass: { mark: '✓', color: '#116329' },
  fail: { mark: '✗', color: '#a40e26' },
  warn: { mark: '–', color: '#57606a' },
};

/** Renders the readiness of an agent as an SVG badge, for READMEs and dashboards. */
export function renderBadge({ readiness }: ReadinessReport): string {
  const { word, standing } = LOOKS[readiness];
  const { mark, color } = MARKS[standing];
  const [label, value] = ['sandbox', `${mark} ${word.toLowerCase()}`];
  const widthOf = (text: string): number => Math.round(text.length * CHARACTER_PX) + 2 * PADDING_PX;
  const [left, right] = [widthOf(label), widthOf(value)];
  const text = (x: number, content: string): Html => html`<text x="${x}" y="14">${content}</text>`;
  return html`<svg
    xmlns="http://www.w3.org/2000/svg"
    width="${left + right}"
    height="${HEIGHT_PX}"
    role="img"
    aria-label="${label}: ${word.toLowerCase()}"
  >
    <title>${label}: ${word.toLowerCase()}</title>
    <rect width="${left + right}" height="${HEIGHT_PX}" rx="3" fill="${color}" />
    <path d="M3 0h${left - 3}v${HEIGHT_PX}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#24292f" />
    <g fill="#ffffff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">
      ${text(PADDING_PX, label)} ${text(left + PADDING_PX, value)}
    </g>
  </svg>`.text;
}
