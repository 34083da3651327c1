import { findPercentile } from '../../../platform/percentile.ts';
import {
  createLinearAxis,
  drawDot,
  drawLine,
  formatTickTime,
  renderSmallChart,
  type Plot,
  type Point,
} from '../../../report-kit/chart.ts';
import { formatCount, formatDuration } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { RunSummary, SessionKind, TimedSession } from '../../store/store.ts';
import { createRunAxis, describeTarget, nameRun, nounOf } from './run-axis.ts';

/** The sessions of each run whose times are known, by the id of the run. */
export type TimesByRun = ReadonlyMap<string, readonly TimedSession[]>;

/** The most charts of a page. */
const CHARTS_MAX = 6;

/** The response times of one agent by one channel in one run. */
interface TimedRun {
  run: RunSummary;
  target: string;
  responses: number;
  p50: number;
  p95: number;
}

/**
 * Renders how fast the agents responded from run to run: one chart for each agent and channel, those with the
 * newest runs first. A single run has no chart.
 * @param runs Newest first.
 */
export function renderResponseTimes(
  runs: readonly RunSummary[],
  times: TimesByRun,
  { kind, nowMs }: { kind: SessionKind; nowMs: number },
): Html[] {
  const timed = runs.flatMap((run) => timeRun(run, times.get(run.id) ?? []));
  return [...Map.groupBy(timed, ({ target }) => target).values()]
    .filter(({ length }) => length > 1)
    .slice(0, CHARTS_MAX)
    .map((ofTarget) => renderTargetChart(ofTarget.toReversed(), { kind, nowMs }));
}

function timeRun(run: RunSummary, sessions: readonly TimedSession[]): TimedRun[] {
  return Array.from(Map.groupBy(sessions, describeTarget), ([target, ofTarget]) => {
    const times = ofTarget.flatMap(({ responseMs }) => responseMs);
    const [p50, p95] = [findPercentile(times, 50), findPercentile(times, 95)];
    if (p50 === undefined || p95 === undefined) return [];
    return [{ run, target, responses: times.length, p50, p95 }];
  }).flat();
}

/** @param timed Oldest first, of one target. */
function renderTargetChart(
  timed: readonly TimedRun[],
  shown: { kind: SessionKind; nowMs: number },
): Html {
  const target = timed[0]?.target ?? '';
  const title = target === '' ? 'Response time' : `${target}: response time`;
  const [first, last] = [timed[0]?.p50 ?? 0, timed.at(-1)?.p50 ?? 0];
  const label =
    `${title} of the last ${timed.length} ${nounOf(shown.kind)}s, ` +
    `median from ${formatDuration(first)} to ${formatDuration(last)}`;
  const runs = timed.map(({ run }) => run);
  const axis = createRunAxis(runs, shown);
  return html`<figure>
    <figcaption>${label}. ${RESPONSE_TIME_KEYS}</figcaption>
    ${renderSmallChart({
      label,
      x: axis.x,
      y: createLinearAxis(Math.max(...timed.map(({ p95 }) => p95)), formatTickTime),
      titles: { x: axis.title, y: 'response time' },
      height: 110,
      marks: (plot) => [...drawSeries(plot, timed, 'p95'), ...drawSeries(plot, timed, 'p50')],
    })}
  </figure>`;
}

/** Shapes and dashes tell the lines apart without their colors. */
const SERIES = {
  p50: { name: 'median', line: 'c1', dot: 'dot c1', shape: 'circle' },
  p95: { name: '95th percentile', line: 'c2 dashed', dot: 'dot c2', shape: 'square' },
} as const;

const RESPONSE_TIME_KEYS = html`<span class="key c1">● median</span>
  <span class="key c2 dash">■ 95th percentile</span>`;

function drawSeries(plot: Plot, timed: readonly TimedRun[], key: keyof typeof SERIES): Html[] {
  const { name, line, dot, shape } = SERIES[key];
  const points = timed.map((each, index): Point => [index + 1, each[key]]);
  return [
    drawLine(plot, points, line),
    ...timed.map((each, index) =>
      drawDot(plot, [index + 1, each[key]], {
        className: dot,
        shape,
        title: `${nameRun(each.run)}: ${name} ${formatDuration(each[key])} of ${formatCount(each.responses, 'turn')}`,
      }),
    ),
  ];
}
