import type { LoadReport } from '../../../src/contract/index.ts';
import { comparisonSection } from '../../../src/report-kit/comparison.ts';
import { html, type Html } from '../../../src/report-kit/html.ts';
import { formatInstant, formatQuantity } from '../../../src/report-kit/format.ts';
import { LOAD_STANDINGS, nameTargetVerdict } from '../../../src/report-kit/load-standings.ts';
import { toPrintable } from '../../../src/report-kit/printable.ts';
import {
  renderRemark,
  renderRunReport,
  type ReportSection,
} from '../../../src/report-kit/run-report.ts';
import { renderItems } from '../../../src/report-kit/table.ts';
import {
  describeLoad,
  describeOutages,
  describeSelfCheck,
  hasRun,
  listSentStreams,
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
  comparisonTable,
  requestErrorsTable,
  slowestTable,
  callStepsTable,
  stepsTable,
  targetsTable,
  requestTimesTables,
} from './tables.ts';
import { methodSection } from './method.ts';
import { voiceSection } from './voice-section.ts';
import { isClosedLoop } from '../../closed-loop.ts';
import { profiles, sendsRequests } from '../../profiles/profiles.ts';
import { findResponseTarget, targetTable } from '../../verdict/targets.ts';

/** Renders the report as one HTML page. */
export function htmlReport(original: LoadReport): string {
  const report = toPrintable(original);
  const { verdict, sentence, sandbox, startedAt, targets, notes, kitVersion, seed } = report;
  return renderRunReport({
    command: 'sandbox-kit load',
    headline: verdict,
    standing: LOAD_STANDINGS[verdict],
    subject: sandbox,
    sentence,
    tally: countTargets(report),
    facts: `${planSentence(report)} Seed ${seed}, sandbox-kit ${kitVersion}, ${formatInstant(startedAt)}.`,
    remarks: [...callouts(report), ...notes.map((note) => renderRemark('warn', note))],
    sections: [
      hasRun(report) ? { id: 'targets', title: 'Targets', body: targetsTable(targets) } : undefined,
      selfCheckSection(report),
      findMaxSection(report),
      findMaxCallsSection(report),
      changesSection(report),
      voiceSection(report),
      ...chartsSections(report),
      timesSection(report),
      errorsSection(report),
      methodSection(report),
    ],
    css: LOAD_PAGE_CSS,
    json: original,
  });
}

/** Counts the targets by verdict; a run that was blocked has no counts. */
function countTargets(report: LoadReport): (readonly [className: string, text: string])[] {
  if (!hasRun(report)) return [];
  const byVerdict = Map.groupBy(report.targets, ({ verdict }) => verdict);
  return [...byVerdict].map(
    ([verdict, { length }]) =>
      [LOAD_STANDINGS[verdict], `${length} ${nameTargetVerdict(verdict)}`] as const,
  );
}

function planSentence(report: LoadReport): string {
  const { profile, engine } = report.plan;
  const sentBy = sendsRequests(profile) ? `, engine ${engine}` : '';
  return `Profile ${profile}, ${describeLoad(report)}${sentBy}.`;
}

function callouts({ blockedBy, aborted }: LoadReport): Html[] {
  return [blockedBy?.cure, aborted].flatMap((text) =>
    text === undefined ? [] : [renderRemark('fail', text)],
  );
}

function selfCheckSection(report: LoadReport): ReportSection | undefined {
  const { valid, figures } = report.selfCheck;
  if (figures.length === 0) return undefined;
  const summary = describeSelfCheck(report);
  const table = renderItems({
    label: 'Load generator',
    items: figures,
    columns: [
      { name: 'figure', content: ({ name }) => name },
      {
        name: 'measured',
        isNumber: true,
        content: ({ value, unit }) => formatQuantity(value, unit),
      },
      {
        name: 'limit',
        isNumber: true,
        content: ({ limit, unit }) => formatQuantity(limit, unit),
      },
      {
        name: 'holds',
        className: (row) => (row.holds ? 'pass' : 'fail'),
        content: (row) => (row.holds ? '✓' : '✗'),
      },
    ],
  });
  const remark =
    summary !== undefined &&
    renderRemark(valid ? 'pass' : 'fail', html`<strong>${summary}</strong>`);
  const body = html`${remark} ${table}`;
  return { id: 'generator', title: 'Load generator', body };
}

function findMaxSection({ findMax }: LoadReport): ReportSection | undefined {
  if (!findMax) return undefined;
  const body = html`<p>${findMax.summary}</p>
    <figure>
      <figcaption>99th percentile by rate. Filled: sustained. Hollow: failed.</figcaption>
      ${findMax.steps.length > 0 && stepsFigure(findMax, targetTable.chatLatency.row.target)}
    </figure>
    ${stepsTable(findMax)}`;
  return { id: 'maximum', title: 'Maximum rate', body };
}

function findMaxCallsSection({ findMaxCalls }: LoadReport): ReportSection | undefined {
  if (!findMaxCalls) return undefined;
  const body = html`<p>${findMaxCalls.summary}</p>
    ${callStepsTable(findMaxCalls)}`;
  return { id: 'maximum', title: 'Most concurrent calls', body };
}

function changesSection({ comparison }: LoadReport): ReportSection | undefined {
  if (!comparison) return undefined;
  const changes = html`${comparisonTable(comparison)}
    <p class="soft">
      A target is better or worse only if the 95% ranges of both runs do not overlap.
    </p>`;
  return comparisonSection(comparison, changes);
}

function chartsSections(report: LoadReport): ReportSection[] {
  const { timeline, plan, curve = [], heatBoundsMs = [] } = report;
  const [first] = timeline;
  const last = timeline.at(-1);
  if (!first || !last) return [];
  const times: TimeRange = {
    bins: groupSeconds(timeline),
    from: first.second,
    to: last.second + 1,
    windowS: plan.windowMs / 1000,
  };
  const isClosed = isClosedLoop(plan);
  const targetMs = targetTimeOf(plan);
  const overTime = html`<p class="soft">Shaded: ramp-up and drain, which are not judged.</p>
    ${figure(
      'Requests per second',
      [...(isClosed ? [] : [key('c1 dash', 'due')]), key('c2 dot', 'sent'), key('c3', 'completed')],
      rateFigure(times, { hasSchedule: !isClosed }),
    )}
    ${!isClosed && figure('Requests in flight', [], inFlightFigure(times))}
    ${figure(
      isClosed
        ? 'Service time, by the time of sending'
        : 'Response time from the intended start, by due time',
      [key('c1', 'p50'), key('c4 dash', 'p95'), key('c2 dot', 'p99'), key('c5', 'max')],
      latencyFigure(times, targetMs),
    )}
    ${errorCharts(times)}
    ${figure(
      `Distribution of ${isClosed ? 'service' : 'response'} times`,
      [],
      heatFigure(times, heatBoundsMs),
    )}`;
  const byPercentile = figure(
    'The difference is time spent waiting: behind other requests or for the load generator',
    [key('c1', 'response time'), key('c3 dash', 'service time')],
    curveFigure(curve, targetMs),
  );
  return [
    // One second shows no change.
    ...(times.bins.length < 2 ? [] : [{ id: 'over-time', title: 'Over time', body: overTime }]),
    ...(curve.length < 2
      ? []
      : [{ id: 'percentiles', title: 'By percentile', body: byPercentile }]),
  ];
}

/** Returns the target of response times; undefined for a closed loop, which does not measure them. */
function targetTimeOf(plan: LoadReport['plan']): number | undefined {
  const { main } = profiles[plan.profile];
  return isClosedLoop(plan) || !main ? undefined : findResponseTarget(main)?.row.target;
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

function timesSection(report: LoadReport): ReportSection | undefined {
  if (listSentStreams(report).length === 0) return undefined;
  return { id: 'times', title: 'Times', body: html`${requestTimesTables(report)}` };
}

function errorsSection(report: LoadReport): ReportSection | undefined {
  const { outages, streams } = report;
  if (streams.every((name) => Object.keys(report[name]?.errors ?? {}).length === 0)) {
    return undefined;
  }
  const body = html`<p>${outages && `${describeOutages(outages)}.`}</p>
    ${requestErrorsTable(report)} ${violations(report)} ${slowestTable(report)}`;
  return { id: 'errors', title: 'Errors', body };
}

function violations(report: LoadReport): Html {
  const all = report.streams.flatMap((name) => Object.entries(report[name]?.findings ?? {}));
  if (all.length === 0) return html``;
  const counts = all.map(([id, times]) => `${id} (${times})`).join(', ');
  return html`<p>
    Requirements that responses violated: ${counts}. For details, run
    <code>sandbox-kit explain ${all[0]?.[0]}</code>.
  </p>`;
}
