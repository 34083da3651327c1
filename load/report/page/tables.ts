import { changeNames } from '../comparison.ts';
import type {
  FaultKind,
  LoadReport,
  LoadTarget,
  LoadVerdict,
} from '../../../src/contract/index.ts';
import { html, type Html } from '../../../src/report-kit/html.ts';
import { formatDuration, formatNumber, formatQuantity } from '../../../src/report-kit/format.ts';
import { numberColumn, renderTable } from '../../../src/report-kit/table.ts';
import { faultDescriptions } from '../../record/fault-descriptions.ts';
import {
  describeStream,
  formatRunTime,
  formatTime,
  requestTimesOf,
  targetColumns,
  describeTraceId,
} from '../wording.ts';

const looks: Record<LoadVerdict, { className: string; icon: string }> = {
  PASS: { className: 'pass', icon: '✓' },
  FAIL: { className: 'fail', icon: '✗' },
  'NOT PROVEN': { className: 'unknown', icon: '?' },
  'INVALID RUN': { className: 'unknown', icon: '!' },
  'NOT TESTED': { className: 'untested', icon: '–' },
};

/** Renders a verdict as a badge with a color, an icon, and text. */
export function badge(verdict: LoadVerdict): Html {
  const { className, icon } = looks[verdict];
  return html`<span class="badge ${className}">${icon} ${verdict}</span>`;
}

/** Formats a value for a narrow column. */
function shortQuantity(value: number, unit: string): string {
  if (unit === 'connections') return formatNumber(value);
  return unit === 'requests/s' ? `${formatNumber(value, 2)}/s` : formatQuantity(value, unit);
}

/** Renders every target with its measurement, its 95% bound, and the verdict. */
export function targetsTable(targets: readonly LoadTarget[]): Html {
  return renderTable({
    className: 'cards',
    columns: ['target', ...Object.values(targetColumns).map(numberColumn), 'verdict'],
    rows: targets.map(targetRow),
  });
}

function targetRow(target: LoadTarget): Html {
  const { statement, section, unit, measured, bound95, samples, verdict, reason } = target;
  const figure = (value: number | null): string =>
    value === null ? '' : shortQuantity(value, unit);
  return html`<tr>
    <td>
      ${statement}
      <span class="soft">${section === undefined ? 'threshold' : `spec ${section}`}</span
      ><br /><span class="soft">${reason}</span>
    </td>
    <td class="number" data-label="${targetColumns.target}">${figure(target.target)}</td>
    <td class="number" data-label="${targetColumns.measured}">${figure(measured)}</td>
    <td class="number" data-label="${targetColumns.bound95}">${figure(bound95)}</td>
    <td class="number" data-label="${targetColumns.samples}">
      ${samples === 0 ? '' : formatNumber(samples)}
    </td>
    <td>${badge(verdict)}</td>
  </tr>`;
}

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

/** Renders a table of times, with a column for each statistic. */
export function timesTable(
  label: string,
  { heading, columns, rows }: { heading: string; columns: readonly TimeColumn[]; rows: Html[] },
): Html {
  return renderTable({
    label,
    columns: [heading, ...columns.map((column) => numberColumn(TIME_TITLES[column]))],
    rows,
  });
}

/** Renders a row of a table of times. */
export function timesRow<Column extends TimeColumn>(
  title: string,
  columns: readonly Column[],
  summary: Readonly<Record<Column, number | null>>,
): Html {
  const cells = columns.map(
    (column) => html`<td class="number">${formatTime(summary[column], '–')}</td>`,
  );
  return html`<tr>
    <td class="name">${title}</td>
    ${cells}
  </tr>`;
}

const REQUEST_COLUMNS = ['p50', 'p90', 'p99', 'p999', 'max', 'mean'] as const;

/** Renders the times of every stream. */
export function requestTimesTable(report: LoadReport): Html {
  const rows = report.streams.flatMap((name) => {
    const stream = report[name];
    if (!stream) return [];
    return [
      html`<tr>
        <th colspan="7">${name}: ${describeStream(name, stream, report.plan)}</th>
      </tr>`,
      ...requestTimesOf(report.plan).map(([key, title]) =>
        timesRow(title, REQUEST_COLUMNS, stream[key]),
      ),
    ];
  });
  return timesTable('Times of requests', { heading: 'requests', columns: REQUEST_COLUMNS, rows });
}

/** The errors of a kind, with the first examples. */
export interface ErrorRow {
  kind: string;
  description: string;
  count: number;
  examples: readonly { atMs: number; source: string; detail: string; traceId?: string }[];
}

/** Renders errors by kind. */
export function errorsTable(counted: string, errors: readonly ErrorRow[]): Html {
  return renderTable({
    columns: ['error', numberColumn(counted), 'first examples'],
    rows: errors.map(
      ({ kind, description, count, examples }) =>
        html`<tr>
          <td><strong>${kind}</strong><br /><span class="soft">${description}</span></td>
          <td class="number">${formatNumber(count)}</td>
          <td class="why">
            ${examples.map(
              ({ atMs, source, detail, traceId }) =>
                html`<div>
                  ${formatRunTime(atMs)}, ${source}: ${detail}${describeTraceId(traceId)}
                </div>`,
            )}
          </td>
        </tr>`,
    ),
  });
}

/** Renders the errors of all streams. */
export function requestErrorsTable(report: LoadReport): Html {
  const counts = new Map<string, number>();
  for (const name of report.streams) {
    for (const [kind, times] of Object.entries(report[name]?.errors ?? {})) {
      counts.set(kind, (counts.get(kind) ?? 0) + times);
    }
  }
  const rows = [...counts].map(([kind, count]) => ({
    ...{ kind, count, description: faultDescriptions[kind as FaultKind] },
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
  const table = renderTable({
    label: 'Slowest requests',
    columns: ['due at', 'request', numberColumn('response time'), 'trace id'],
    rows: slowest.map(
      ({ atMs, stream, session, responseMs, fault, traceId }) =>
        html`<tr>
          <td>${formatRunTime(atMs)}</td>
          <td>${nameSource(stream, session)}</td>
          <td class="number">
            ${formatTime(responseMs, '')}${fault === undefined ? '' : ` (${fault})`}
          </td>
          <td><code>${traceId}</code></td>
        </tr>`,
    ),
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
  return renderTable({
    columns: ['target', numberColumn('before'), numberColumn('now'), 'change'],
    rows: rows.map(
      ({ id, unit, before, now, change }) =>
        html`<tr>
          <td class="name">${id}</td>
          <td class="number">${figure(before, unit)}</td>
          <td class="number">${figure(now, unit)}</td>
          <td class="${styles[change]}">${changeNames[change]}</td>
        </tr>`,
    ),
  });
}

/** Renders the steps of a search for the maximum rate. */
export function stepsTable({ steps }: NonNullable<LoadReport['findMax']>): Html {
  return renderTable({
    columns: [numberColumn('rate'), numberColumn('duration'), 'result', 'details'],
    rows: steps.map(
      ({ ratePerSecond, durationMs, holds, reason }) =>
        html`<tr>
          <td class="number">${formatNumber(ratePerSecond, 1)}/s</td>
          <td class="number">${formatDuration(durationMs)}</td>
          <td class="${holds ? 'pass' : 'fail'}">${holds ? '✓ sustained' : '✗ failed'}</td>
          <td class="why">${reason}</td>
        </tr>`,
    ),
  });
}

/** Renders the steps of a search for the most concurrent calls. */
export function callStepsTable({ steps }: NonNullable<LoadReport['findMaxCalls']>): Html {
  return renderTable({
    columns: [numberColumn('calls'), numberColumn('duration'), 'result', 'details'],
    rows: steps.map(
      ({ calls, durationMs, holds, reason }) =>
        html`<tr>
          <td class="number">${formatNumber(calls)}</td>
          <td class="number">${formatDuration(durationMs)}</td>
          <td class="${holds ? 'pass' : 'fail'}">${holds ? '✓ sustained' : '✗ failed'}</td>
          <td class="why">${reason}</td>
        </tr>`,
    ),
  });
}
