import { findPercentile } from '../../../platform/percentile.ts';
import {
  createLinearAxis,
  drawBox,
  formatTickTime,
  renderSmallChart,
} from '../../../report-kit/chart.ts';
import {
  capitalize,
  formatCount,
  formatDuration,
  formatNumber,
} from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { TimedSession } from '../../store/store.ts';
import { describeTarget } from './run-axis.ts';

/** The most agents and channels on a page. */
const TARGETS_MAX = 4;

/**
 * Renders the distributions of response times and of turns per session, for each agent and channel, the most
 * used ones first.
 */
export const renderDistributions = (sessions: readonly TimedSession[]): Html[] =>
  Array.from(Map.groupBy(sessions, describeTarget))
    .sort(([, one], [, other]) => other.length - one.length)
    .slice(0, TARGETS_MAX)
    .flatMap(([target, ofTarget]) => [
      ...renderTimes(
        target,
        ofTarget.flatMap(({ responseMs }) => responseMs),
      ),
      renderTurns(
        target,
        ofTarget.map(({ turns }) => turns),
      ),
    ]);

/** The bounds of the bars of response times. */
const BOUNDS_MS = [
  ...[0, 5, 10, 20, 50, 100, 200, 500],
  ...[1_000, 2_000, 5_000, 10_000, 20_000, 50_000],
];

function renderTimes(target: string, timesMs: readonly number[]): Html[] {
  const [p50, p95] = [findPercentile(timesMs, 50), findPercentile(timesMs, 95)];
  if (p50 === undefined || p95 === undefined) return [];
  const title = nameSubject(target, 'response time');
  const bars = BOUNDS_MS.map((fromMs, index): Bar => {
    const toMs = BOUNDS_MS[index + 1] ?? Infinity;
    return {
      start: formatTickTime(fromMs),
      name:
        toMs === Infinity
          ? `${formatTickTime(fromMs)} or more`
          : `${formatTickTime(fromMs)} to ${formatTickTime(toMs)}`,
      count: timesMs.filter((ms) => ms >= fromMs && ms < toMs).length,
    };
  });
  const facts =
    `${title} of ${formatCount(timesMs.length, 'turn')}, ` +
    `median ${formatDuration(p50)}, 95th percentile ${formatDuration(p95)}`;
  return [renderHistogram(bars, { facts, x: 'response time', noun: 'turn', labelAt: 'start' })];
}

/** The most bars of turns. */
const TURN_BARS_MAX = 20;

function renderTurns(target: string, counts: readonly number[]): Html {
  const title = nameSubject(target, 'turns');
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const width = Math.ceil((most - least + 1) / TURN_BARS_MAX);
  const bars = Array.from({ length: Math.ceil((most - least + 1) / width) }, (_, index): Bar => {
    const from = least + index * width;
    const to = from + width - 1;
    return {
      start: formatNumber(from),
      name: width === 1 ? formatCount(from, 'turn') : `${formatNumber(from)} to ${to} turns`,
      count: counts.filter((count) => count >= from && count <= to).length,
    };
  });
  const range = least === most ? formatNumber(least) : `${formatNumber(least)} to ${most}`;
  const facts = `${title} of ${formatCount(counts.length, 'session')}: ${range}`;
  return renderHistogram(bars, { facts, x: 'turns', noun: 'session', labelAt: 'middle' });
}

/** Names what a chart shows, such as "Shop agent by voice: turns". */
const nameSubject = (target: string, what: string): string =>
  target === '' ? capitalize(what) : `${target}: ${what}`;

/** A range of values, and how often they occur. */
interface Bar {
  /** The lower bound. */
  start: string;
  name: string;
  count: number;
}

interface Histogram {
  /** What the chart shows, in a sentence. */
  facts: string;
  /** Title of the x axis. */
  x: string;
  /** What is counted. */
  noun: string;
  /** Where the label of a bar is: at its lower bound, or below its middle. */
  labelAt: 'start' | 'middle';
}

/** Renders the bars between the first and the last one that is not empty; a single bar is a sentence. */
function renderHistogram(all: readonly Bar[], { facts, x, noun, labelAt }: Histogram): Html {
  const isUsed = ({ count }: Bar): boolean => count > 0;
  const bars = all.slice(all.findIndex(isUsed), all.findLastIndex(isUsed) + 1);
  if (bars.length < 2) return html`<p class="soft">${facts}.</p>`;
  const offset = labelAt === 'start' ? 0 : 0.5;
  return html`<figure>
    <figcaption>${facts}</figcaption>
    ${renderSmallChart({
      label: `${facts}. ${bars.map(({ name, count }) => `${name}: ${formatCount(count, noun)}`).join('; ')}`,
      x: {
        min: 0,
        max: bars.length,
        scale: 'linear',
        ticks: bars.map(({ start }, index) => ({ value: index + offset, label: start })),
      },
      y: createLinearAxis(Math.max(...bars.map(({ count }) => count)), formatNumber),
      titles: { x, y: `${noun}s` },
      height: 110,
      marks: (plot) =>
        bars.map(({ name, count }, index) =>
          drawBox(plot, [index + 0.06, index + 0.94], [0, count], {
            className: 'bar c1',
            title: `${name}: ${formatCount(count, noun)}`,
          }),
        ),
    })}
  </figure>`;
}
