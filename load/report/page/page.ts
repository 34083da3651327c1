import {
  chatResponseMsTarget,
  healthResponseMsTarget,
  type LoadReport,
} from '../../../src/contract/index.ts';
import { html, type Html } from '../../../src/report-kit/html.ts';
import { instant, seconds, trimmed } from '../../verdict/amounts.ts';
import { showable } from '../showable.ts';
import { hasRun, loadWords } from '../what-ran.ts';
import { binned } from './binned.ts';
import {
  curveFigure,
  errorFigure,
  heatFigure,
  inFlightFigure,
  latencyFigure,
  rateFigure,
  stepsFigure,
  type Times,
} from './figures.ts';
import { style } from './style.ts';
import {
  badge,
  comparisonTable,
  errorsTable,
  stepsTable,
  targetsTable,
  timesTable,
} from './tables.ts';
import { methodSection } from './method.ts';
import { voiceSection } from './voice-section.ts';

/** The report as one page: nothing is fetched, nothing runs, and it prints. */
export function htmlReport(given: LoadReport): string {
  const report = showable(given);
  const { verdict, sentence, sandbox, startedAt, targets } = report;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        />
        <title>${verdict}: load of ${sandbox}</title>
        <style>
          ${style}
        </style>
      </head>
      <body>
        <main>
          ${badge(verdict, 'big')}
          <h1>${sentence}</h1>
          <p class="soft">${sandbox}, ${instant(startedAt)}. ${planWords(report)}</p>
          ${callouts(report)}
          ${
            hasRun(report)
              ? html`<h2>Targets</h2>
                  ${targetsTable(targets)}`
              : html``
          }
          ${notesOf(report)} ${selfCheckSection(report)} ${findMaxSection(report)}
          ${comparisonSection(report)} ${voiceSection(report)} ${chartsSection(report)}
          ${timesSection(report)} ${errorsSection(report)} ${methodSection(report)}
        </main>
      </body>
    </html> `.text;
}

function planWords(report: LoadReport): string {
  const { profile, engine, windowMs } = report.plan;
  const sentBy = profile === 'voice' ? '' : `, engine ${engine}`;
  return `Profile ${profile}, ${loadWords(report)} for ${seconds(windowMs)}${sentBy}.`;
}

function callouts({ blockedBy, aborted }: LoadReport): Html[] {
  return [
    ...(blockedBy
      ? [
          html`<div class="callout fail">
            <strong>${blockedBy.message}</strong><br />${blockedBy.cure}
          </div>`,
        ]
      : []),
    ...(aborted === undefined ? [] : [html`<div class="callout fail">${aborted}</div>`]),
  ];
}

function notesOf({ notes }: LoadReport): Html[] {
  return notes.map((note) => html`<div class="callout">${note}</div>`);
}

function selfCheckSection({ selfCheck }: LoadReport): Html {
  const { valid, reasons, figures } = selfCheck;
  if (figures.length === 0) return html``;
  const rows = figures.map(
    ({ name, value, limit, unit, holds }) =>
      html`<tr>
        <td>${name}</td>
        <td class="number">${trimmed(value, 1)} ${unit}</td>
        <td class="number">${trimmed(limit, 1)}</td>
        <td class="${holds ? 'pass' : 'fail'}">${holds ? '✓' : '✗'}</td>
      </tr>`,
  );
  const says = valid
    ? html`<strong>The generator kept up.</strong> What was measured is the sandbox, and the
        network.`
    : html`<strong>Not to be trusted.</strong> No target is judged. ${reasons.join(' ')}`;
  return html`<h2>The generator's own health</h2>
    <div class="callout ${valid ? 'pass' : 'fail'}">${says}</div>
    <table>
      <thead>
        <tr>
          <th>figure</th>
          <th class="number">here</th>
          <th class="number">allowed</th>
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
  return html`<h2>The rate that is held</h2>
    <p>${findMax.summary}</p>
    <figure>
      <figcaption>The 99th percentile by rate: a full dot held, an empty one did not.</figcaption>
      ${findMax.steps.length === 0 ? html`` : stepsFigure(findMax, chatResponseMsTarget)}
    </figure>
    ${stepsTable(findMax)}`;
}

function comparisonSection({ comparison }: LoadReport): Html {
  if (!comparison) return html``;
  return html`<h2>Against the run of ${instant(comparison.startedAt)}</h2>
    ${comparison.differences.map((difference) => html`<p class="soft">${difference}</p>`)}
    ${comparisonTable(comparison)}
    <p class="soft">Better or worse is said only where the 95 % ranges of both do not meet.</p>`;
}

function chartsSection(report: LoadReport): Html {
  const { timeline, plan, curve = [], heatBoundsMs = [] } = report;
  const [first] = timeline;
  const last = timeline.at(-1);
  if (!first || !last) return html``;
  const times: Times = {
    bins: binned(timeline),
    from: first.second,
    to: last.second + 1,
    windowS: plan.windowMs / 1000,
  };
  const targetMs = plan.profile === 'health' ? healthResponseMsTarget : chatResponseMsTarget;
  return html`<h2>Over time</h2>
    <p class="soft">Shaded: ramp and drain, which are not judged.</p>
    ${figure(
      'Requests a second',
      [key('c1 dash', 'due'), key('c2', 'sent'), key('c3', 'done')],
      rateFigure(times),
    )}
    ${figure('Requests in flight', [], inFlightFigure(times))}
    ${figure(
      'Response time from the intended start, by the second in which it was due',
      [key('c1', 'p50'), key('c4', 'p95'), key('c2', 'p99'), key('c5', 'max')],
      latencyFigure(times, targetMs),
    )}
    ${errorCharts(times)}
    ${figure(
      'How many response times of which size: stalls and two-humped times show here',
      [],
      heatFigure(times, heatBoundsMs),
    )}
    ${
      curve.length < 2
        ? html``
        : html`<h2>By percentile</h2>
            ${figure(
              'The gap between the two is waiting: behind other requests, or for the generator',
              [key('c1', 'from the intended start'), key('c3 dash', 'service')],
              curveFigure(curve, targetMs),
            )}`
    }`;
}

function errorCharts(times: Times): Html {
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

const key = (className: string, words: string): Html =>
  html`<span class="key ${className}">${words}</span>`;

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
  const said = outages
    ? `${outages.incidents} runs of failures, the longest for ${seconds(outages.longestMs)}; ${outages.cleanSeconds} of ${outages.seconds} seconds without a failure.`
    : '';
  return html`<h2>Errors</h2>
    <p>${said}</p>
    ${errorsTable(report)} ${findings(report)}`;
}

function findings({ chat, health, users }: LoadReport): Html {
  const all = [chat, health, users].flatMap((stream) => Object.entries(stream?.findings ?? {}));
  if (all.length === 0) return html``;
  const words = all.map(([id, times]) => `${id} (${times})`).join(', ');
  return html`<p>
    Requirements that answers did not meet: ${words}.
    <code>sandbox-kit explain ${all[0]?.[0]}</code> says what is asked.
  </p>`;
}
