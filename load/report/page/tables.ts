import type {
  FaultKind,
  LatencySummary,
  LoadReport,
  LoadTarget,
  LoadVerdict,
} from '../../../src/contract/index.ts';
import { html, type Html } from '../../../src/report-kit/html.ts';
import { formatDuration, formatNumber, formatQuantity } from '../../../src/report-kit/format.ts';
import { faultDescriptions } from '../../record/fault-descriptions.ts';
import {
  describeStream,
  formatTime,
  requestTimes,
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
  return html`<table class="cards">
    <thead>
      <tr>
        <th>target</th>
        ${Object.values(targetColumns).map((title) => html`<th class="number">${title}</th>`)}
        <th>verdict</th>
      </tr>
    </thead>
    <tbody>
      ${targets.map(targetRow)}
    </tbody>
  </table>`;
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

const columns = ['p50', 'p90', 'p99', 'p999', 'max', 'mean'] as const;
const columnTitles = {
  p50: 'p50',
  p90: 'p90',
  p99: 'p99',
  p999: 'p99.9',
  max: 'max',
  mean: 'mean',
};

/** Renders the times of every stream. */
export function timesTable(report: LoadReport): Html {
  const rows = report.streams.flatMap((name) => {
    const stream = report[name];
    if (!stream) return [];
    return [
      html`<tr>
        <th colspan="7">${name}: ${describeStream(name, stream)}</th>
      </tr>`,
      ...requestTimes.map(([key, title]) => timesRow(title, stream[key])),
    ];
  });
  return html`<div class="scroll" tabindex="0">
    <table>
      <thead>
        <tr>
          <th>requests</th>
          ${columns.map((column) => html`<th class="number">${columnTitles[column]}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function timesRow(title: string, summary: LatencySummary): Html {
  const cells = columns.map(
    (column) => html`<td class="number">${formatTime(summary[column], '–')}</td>`,
  );
  return html`<tr>
    <td class="name">${title}</td>
    ${cells}
  </tr>`;
}

/** Renders the errors by kind, with the first examples of each. */
export function errorsTable(report: LoadReport): Html {
  const counts = new Map<string, number>();
  for (const name of report.streams) {
    for (const [kind, times] of Object.entries(report[name]?.errors ?? {})) {
      counts.set(kind, (counts.get(kind) ?? 0) + times);
    }
  }
  const rows = [...counts].map(
    ([kind, times]) =>
      html`<tr>
        <td>
          <strong>${kind}</strong><br /><span class="soft"
            >${faultDescriptions[kind as FaultKind]}</span
          >
        </td>
        <td class="number">${formatNumber(times)}</td>
        <td class="why">${samplesOf(report, kind)}</td>
      </tr>`,
  );
  return html`<table>
    <thead>
      <tr>
        <th>error</th>
        <th class="number">count</th>
        <th>first examples</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function samplesOf({ faultSamples }: LoadReport, kind: string): Html[] {
  return faultSamples
    .filter((sample) => sample.kind === kind)
    .map(({ stream, atMs, session, detail, traceId }) => {
      const where = session === undefined ? stream : `${stream}, ${session}`;
      return html`<div>
        ${formatNumber(atMs / 1000, 1)} s, ${where}: ${detail}${describeTraceId(traceId)}
      </div>`;
    });
}

/** Renders the slowest requests with their trace ids. */
export function slowestTable({ slowest = [] }: LoadReport): Html {
  if (slowest.length === 0) return html``;
  return html`<details>
    <summary>Slowest requests</summary>
    <div class="scroll" tabindex="0">
      <table>
        <thead>
          <tr>
            <th>due at</th>
            <th>request</th>
            <th class="number">response time</th>
            <th>trace id</th>
          </tr>
        </thead>
        <tbody>
          ${slowest.map(
            ({ atMs, stream, session, responseMs, fault, traceId }) =>
              html`<tr>
                <td>${formatNumber(atMs / 1000, 1)} s</td>
                <td>${session === undefined ? stream : `${stream}, ${session}`}</td>
                <td class="number">
                  ${formatTime(responseMs, '')}${fault === undefined ? '' : ` (${fault})`}
                </td>
                <td><code>${traceId}</code></td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
}

/** Renders the comparison with an earlier run. */
export function comparisonTable({ rows }: NonNullable<LoadReport['comparison']>): Html {
  const styles = { better: 'pass', worse: 'fail', unchanged: 'untested', unknown: 'unknown' };
  const figure = (value: number | null, unit: string): string =>
    value === null ? '–' : shortQuantity(value, unit);
  return html`<table>
    <thead>
      <tr>
        <th>target</th>
        <th class="number">before</th>
        <th class="number">now</th>
        <th>change</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        ({ id, unit, before, now, change }) =>
          html`<tr>
            <td class="name">${id}</td>
            <td class="number">${figure(before, unit)}</td>
            <td class="number">${figure(now, unit)}</td>
            <td class="${styles[change]}">${change}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** Renders the steps of a search for the maximum rate. */
export function stepsTable({ steps }: NonNullable<LoadReport['findMax']>): Html {
  return html`<table>
    <thead>
      <tr>
        <th class="number">rate</th>
        <th class="number">duration</th>
        <th>result</th>
        <th>details</th>
      </tr>
    </thead>
    <tbody>
      ${steps.map(
        ({ ratePerSecond, durationMs, holds, reason }) =>
          html`<tr>
            <td class="number">${formatNumber(ratePerSecond, 1)}/s</td>
            <td class="number">${formatDuration(durationMs)}</td>
            <td class="${holds ? 'pass' : 'fail'}">${holds ? '✓ sustained' : '✗ failed'}</td>
            <td class="why">${reason}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}
