import { changeNames } from '../comparison.ts';
import type {
  FaultKind,
  LoadReport,
  LoadTarget,
  LoadVerdict,
} from '../../../src/contract/index.ts';
import { html, type Html } from '../../../src/report-kit/html.ts';
import { formatDuration, formatNumber, formatQuantity } from '../../../src/report-kit/format.ts';
import { LOAD_STANDINGS, nameTargetVerdict } from '../../../src/report-kit/load-standings.ts';
import { renderItems, type ItemColumn } from '../../../src/report-kit/table.ts';
import { renderVerdict } from '../../../src/report-kit/verdict.ts';
import { addCounts } from '../../record/counts.ts';
import { faultDescriptions } from '../../record/fault-descriptions.ts';
import {
  describeStream,
  formatRunTime,
  formatTime,
  listSentStreams,
  requestTimesOf,
  targetColumns,
  describeTraceId,
} from '../wording.ts';

/** Renders the verdict of a target or a call. */
export const renderTargetVerdict = (verdict: LoadVerdict): Html =>
  renderVerdict(
    verdict === 'NOT TESTED' ? 'untested' : LOAD_STANDINGS[verdict],
    nameTargetVerdict(verdict),
  );

/** Formats a value for a narrow column. */
function shortQuantity(value: number, unit: string): string {
  if (unit === 'connections') return formatNumber(value);
  return unit === 'requests/s' ? `${formatNumber(value, 2)}/s` : formatQuantity(value, unit);
}

/** Renders every target with its measurement, its 95% bound, and the verdict. */
export const targetsTable = (targets: readonly LoadTarget[]): Html =>
  renderItems({
    label: 'Targets',
    className: 'targets',
    items: targets,
    columns: [
      { name: 'target', content: describeTarget },
      columnOfTarget('target'),
      columnOfTarget('measured'),
      columnOfTarget('bound95'),
      {
        name: targetColumns.samples,
        isNumber: true,
        content: ({ samples }) => samples !== 0 && formatNumber(samples),
      },
      { name: 'verdict', content: ({ verdict }) => renderTargetVerdict(verdict) },
    ],
  });

const columnOfTarget = (key: 'target' | 'measured' | 'bound95'): ItemColumn<LoadTarget> => ({
  name: targetColumns[key],
  isNumber: true,
  content: ({ [key]: value, unit }) => value !== null && shortQuantity(value, unit),
});

const describeTarget = ({ statement, section, reason }: LoadTarget): Html =>
  html`${statement}
    <span class="soft">${section === undefined ? 'threshold' : `spec ${section}`}</span><br />
    <span class="soft">${reason}</span>`;

const TIME_TITLES = {
  p50: 'p50',
  p90: 'p90',
  p95: 'p95',
  p99: 'p99',
  p999: 'p99.9',
  max: 'max',
  mean: 'mean',
};

/** A statistic of times. */
export type TimeColumn = keyof typeof TIME_TITLES;

/** Times with a name. */
export interface NamedTimes<Column extends TimeColumn> {
  title: string;
  times: Readonly<Record<Column, number | null>>;
}

/** Renders a table of times, with a column for each statistic. */
export const timesTable = <Column extends TimeColumn>(
  label: string,
  columns: readonly Column[],
  rows: readonly NamedTimes<Column>[],
): Html =>
  renderItems({
    label,
    items: rows,
    columns: [
      { name: 'time', content: ({ title }) => title },
      ...columns.map((column): ItemColumn<NamedTimes<Column>> => ({
        name: TIME_TITLES[column],
        isNumber: true,
        content: ({ times }) => formatTime(times[column], '–'),
      })),
    ],
  });

const REQUEST_COLUMNS = ['p50', 'p90', 'p99', 'p999', 'max', 'mean'] as const;

/** Renders the times of every stream. */
export const requestTimesTables = (report: LoadReport): Html[] =>
  listSentStreams(report).map(({ name, stream }) => {
    const rows = requestTimesOf(report.plan).map(([key, title]) => ({ title, times: stream[key] }));
    return html`<h3>${name}: ${describeStream(name, stream, report.plan)}</h3>
      ${timesTable(`Times of requests: ${name}`, REQUEST_COLUMNS, rows)}`;
  });

/** The errors of a kind, with the first examples. */
export interface ErrorRow {
  kind: string;
  description: string;
  count: number;
  examples: readonly { atMs: number; source: string; detail: string; traceId?: string }[];
}

/** Renders errors by kind. */
export const errorsTable = (counted: string, errors: readonly ErrorRow[]): Html =>
  renderItems({
    label: 'Errors',
    items: errors,
    columns: [
      {
        name: 'error',
        content: ({ kind, description }) =>
          html`<strong>${kind}</strong><br /><span class="soft">${description}</span>`,
      },
      { name: counted, isNumber: true, content: ({ count }) => formatNumber(count) },
      {
        name: 'first examples',
        className: 'why',
        content: ({ examples }) =>
          examples.map(
            ({ atMs, source, detail, traceId }) =>
              html`<div>
                ${formatRunTime(atMs)}, ${source}: ${detail}${describeTraceId(traceId)}
              </div>`,
          ),
      },
    ],
  });

/** Renders the errors of all streams. */
export function requestErrorsTable(report: LoadReport): Html {
  const counts: Record<string, number> = {};
  for (const name of report.streams) addCounts(counts, report[name]?.errors ?? {});
  const rows = Object.entries(counts).map(([kind, count]) => ({
    kind,
    count,
    description: faultDescriptions[kind as FaultKind],
    examples: report.faultSamples
      .filter((sample) => sample.kind === kind)
      .map(({ stream, session, ...sample }) => ({
        ...sample,
        source: nameSource(stream, session),
      })),
  }));
  return errorsTable('count', rows);
}

const nameSource = (stream: string, session: string | undefined): string =>
  session === undefined ? stream : `${stream}, ${session}`;

/** Renders the slowest requests with their trace ids. */
export function slowestTable({ slowest = [] }: LoadReport): Html {
  if (slowest.length === 0) return html``;
  const table = renderItems({
    label: 'Slowest requests',
    items: slowest,
    columns: [
      { name: 'due at', content: ({ atMs }) => formatRunTime(atMs) },
      { name: 'request', content: ({ stream, session }) => nameSource(stream, session) },
      {
        name: 'response time',
        isNumber: true,
        content: ({ responseMs, fault }) =>
          `${formatTime(responseMs, '')}${fault === undefined ? '' : ` (${fault})`}`,
      },
      { name: 'trace id', content: ({ traceId }) => html`<code>${traceId}</code>` },
    ],
  });
  return html`<details>
    <summary>Slowest requests</summary>
    ${table}
  </details>`;
}

/** Renders the comparison with an earlier run. */
export function comparisonTable({ rows }: NonNullable<LoadReport['comparison']>): Html {
  const styles = { better: 'pass', worse: 'fail', unchanged: 'untested', unknown: 'unknown' };
  const figure = (value: number | null, unit: string): string =>
    value === null ? '–' : shortQuantity(value, unit);
  return renderItems({
    label: 'Changes of the targets',
    items: rows,
    columns: [
      { name: 'target', content: ({ id }) => id },
      { name: 'before', isNumber: true, content: ({ before, unit }) => figure(before, unit) },
      { name: 'now', isNumber: true, content: ({ now, unit }) => figure(now, unit) },
      {
        name: 'change',
        className: ({ change }) => styles[change],
        content: ({ change }) => changeNames[change],
      },
    ],
  });
}

/** The common properties of the steps of a search. */
interface SearchStep {
  durationMs: number;
  holds: boolean;
  reason: string;
}

const renderSteps = <Step extends SearchStep>(
  steps: readonly Step[],
  name: string,
  content: (step: Step) => string,
): Html =>
  renderItems({
    label: 'Steps of the search',
    items: steps,
    columns: [
      { name, content },
      {
        name: 'duration',
        isNumber: true,
        content: ({ durationMs }) => formatDuration(durationMs),
      },
      {
        name: 'result',
        className: ({ holds }) => (holds ? 'pass' : 'fail'),
        content: ({ holds }) => (holds ? '✓ sustained' : '✗ failed'),
      },
      { name: 'details', className: 'why', content: ({ reason }) => reason },
    ],
  });

/** Renders the steps of a search for the maximum rate. */
export const stepsTable = ({ steps }: NonNullable<LoadReport['findMax']>): Html =>
  renderSteps(steps, 'rate', ({ ratePerSecond }) => `${formatNumber(ratePerSecond, 1)}/s`);

/** Renders the steps of a search for the most concurrent calls. */
export const callStepsTable = ({ steps }: NonNullable<LoadReport['findMaxCalls']>): Html =>
  renderSteps(steps, 'calls', ({ calls }) => formatNumber(calls));
