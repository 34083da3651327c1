import {
  CHAT_RESPONSE_MS_TARGET,
  HEALTH_RESPONSE_MS_TARGET,
  type LoadReport,
} from '../../../src/contract/index.ts';
import { html, type Html } from '../../../src/report-kit/html.ts';
import { formatInstant, formatQuantity } from '../../../src/report-kit/format.ts';
import { renderPage } from '../../../src/report-kit/page.ts';
import { toPrintable } from '../../../src/report-kit/printable.ts';
import {
  COMPARISON_HEADING,
  describeLoad,
  describeOutages,
  describeSelfCheck,
  hasRun,
} from '../wording.ts';
import {
  curveFigure,
  errorFigure,
  groupSeconds,
  heatFigure,
  inFlightFigure,
  latencyFigure,
  rateFigure,
  stepsFigure,
  type TimeRange,
} from './figures.ts';
import { LOAD_PAGE_CSS } from './style.ts';
import {
  badge,
  comparisonTable,
  errorsTable,
  slowestTable,
  stepsTable,
  targetsTable,
  timesTable,
} from './tables.ts';
import { methodSection } from './method.ts';
import { voiceSection } from './voice-section.ts';

/** Renders the report as one HTML page. */
export function htmlReport(original: LoadReport): string {
  const report = toPrintable(original);
  const { verdict, sentence, sandbox, startedAt, targets } = report;
  const body = html`<main>
    ${badge(verdict, 'big')}
    <h1>Load test of ${sandbox}</h1>
    <p class="sentence">${sentence}</p>
    <p class="soft">${formatInstant(startedAt)}. ${planSentence(report)}</p>
    ${callouts(report)}
    ${
      hasRun(report)
        ? html`<h2>Targets</h2>
            ${targetsTable(targets)}`
        : html``
    }
    ${noteCallouts(report)} ${selfCheckSection(report)} ${findMaxSection(report)}
    ${comparisonSection(report)} ${voiceSection(report)} ${chartsSection(report)}
    ${timesSection(report)} ${errorsSection(report)} ${methodSection(report)}
  </main>`;
  return renderPage({ title: `${verdict}: load of ${sandbox}`, css: LOAD_PAGE_CSS, body });
}

function planSentence(report: LoadReport): string {
  const { profile, engine } = report.plan;
  const sentBy = profile === 'voice' ? '' : `, engine ${engine}`;
  return `Profile ${profile}, ${describeLoad(report)}${sentBy}.`;
}

function callouts({ blockedBy, aborted }: LoadReport): Html[] {
  return [
    ...(blockedBy ? [html`<div class="callout fail">${blockedBy.cure}</div>`] : []),
    ...(aborted === undefined ? [] : [html`<div class="callout fail">${aborted}</div>`]),
  ];
}

function noteCallouts({ notes }: LoadReport): Html[] {
  return notes.map((note) => html`<div class="callout">${note}</div>`);
}

function selfCheckSection(report: LoadReport): Html {
  const { valid, figures } = report.selfCheck;
  if (figures.length === 0) return html``;
  const rows = figures.map(
    ({ name, value, limit, unit, holds }) =>
      html`<tr>
        <td>${name}</td>
        <td class="number">${formatQuantity(value, unit)}</td>
        <td class="number">${formatQuantity(limit, unit)}</td>
        <td class="${holds ? 'pass' : 'fail'}">${holds ? '✓' : '✗'}</td>
      </tr>`,
  );
  return html`<h2>Load generator</h2>
    <div class="callout ${valid ? 'pass' : 'fail'}">
      <strong>${describeSelfCheck(report)}</strong>
    </div>
    <table>
      <thead>
        <tr>
          <th>figure</th>
          <th class="number">measured</th>
          <th class="number">limit</th>
          <th></th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}

function findMaxSection({ findMax }: LoadReport): Html {
  if (!findMax) return html``;
  return html`<h2>Maximum rate</h2>
    <p>${findMax.summary}</p>
    <figure>
      <figcaption>99th percentile by rate. Filled: sustained. Hollow: failed.</figcaption>
      ${findMax.steps.length === 0 ? html`` : stepsFigure(findMax, CHAT_RESPONSE_MS_TARGET)}
    </figure>
    ${stepsTable(findMax)}`;
}

function comparisonSection({ comparison }: LoadReport): Html {
  if (!comparison) return html``;
  return html`<h2>${COMPARISON_HEADING} ${formatInstant(comparison.startedAt)}</h2>
    ${comparison.differences.map((difference) => html`<p class="soft">${difference}</p>`)}
    ${comparisonTable(comparison)}
    <p class="soft">
      A target is better or worse only if the 95% ranges of both runs do not overlap.
    </p>`;
}

function chartsSection(report: LoadReport): Html {
  const { timeline, plan, curve = [], heatBoundsMs = [] } = report;
  const [first] = timeline;
  const last = timeline.at(-1);
  if (!first || !last) return html``;
  const times: TimeRange = {
    bins: groupSeconds(timeline),
    from: first.second,
    to: last.second + 1,
    windowS: plan.windowMs / 1000,
  };
  const targetMs = plan.profile === 'health' ? HEALTH_RESPONSE_MS_TARGET : CHAT_RESPONSE_MS_TARGET;
  return html`<h2>Over time</h2>
    <p class="soft">Shaded: ramp-up and drain, which are not judged.</p>
    ${figure(
      'Requests per second',
      [key('c1 dash', 'due'), key('c2', 'sent'), key('c3', 'completed')],
      rateFigure(times),
    )}
    ${figure('Requests in flight', [], inFlightFigure(times))}
    ${figure(
      'Response time from the intended start, by due time',
      [key('c1', 'p50'), key('c4', 'p95'), key('c2', 'p99'), key('c5', 'max')],
      latencyFigure(times, targetMs),
    )}
    ${errorCharts(times)}
    ${figure('Distribution of response times', [], heatFigure(times, heatBoundsMs))}
    ${
      curve.length < 2
        ? html``
        : html`<h2>By percentile</h2>
            ${figure(
              'The difference is time spent waiting: behind other requests or for the load generator',
              [key('c1', 'response time'), key('c3 dash', 'service time')],
              curveFigure(curve, targetMs),
            )}`
    }`;
}

function errorCharts(times: TimeRange): Html {
  const kinds = [...new Set(times.bins.flatMap(({ errors }) => Object.keys(errors)))];
  if (kinds.length === 0) return html``;
  const keys = kinds.map((kind, index) => key(`k${index % 6}`, kind));
  return figure('Errors by kind', keys, errorFigure(times, kinds));
}

function figure(title: string, keys: readonly Html[], drawing: Html): Html {
  return html`<figure>
    <h3>${title}</h3>
    <figcaption>${keys}</figcaption>
    ${drawing}
  </figure>`;
}

const key = (className: string, label: string): Html =>
  html`<span class="key ${className}">${label}</span>`;

function timesSection(report: LoadReport): Html {
  if (report.streams.length === 0) return html``;
  return html`<h2>Times</h2>
    ${timesTable(report)}`;
}

function errorsSection(report: LoadReport): Html {
  const { outages, streams } = report;
  if (streams.every((name) => Object.keys(report[name]?.errors ?? {}).length === 0)) {
    return html``;
  }
  return html`<h2>Errors</h2>
    <p>${outages && `${describeOutages(outages)}.`}</p>
    ${errorsTable(report)} ${violations(report)} ${slowestTable(report)}`;
}

function violations({ chat, health, users }: LoadReport): Html {
  const all = [chat, health, users].flatMap((stream) => Object.entries(stream?.findings ?? {}));
  if (all.length === 0) return html``;
  const counts = all.map(([id, times]) => `${id} (${times})`).join(', ');
  return html`<p>
    Requirements that responses violated: ${counts}. For details, run
    <code>sandbox-kit explain ${all[0]?.[0]}</code>.
  </p>`;
}
