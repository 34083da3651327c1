import type { CheckReport } from '../../src/contract/index.ts';
import { formatInstant } from '../../src/report-kit/format.ts';
import { html, type Html } from '../../src/report-kit/html.ts';
import { renderPage } from '../../src/report-kit/page.ts';
import { toVisible } from '../../src/report-kit/printable.ts';
import { suiteOf } from '../areas/index.ts';
import type { Exchange, Transcript } from '../engine/transcript/transcript.ts';
import { changeNames, comparisonHeading } from './comparison.ts';
import { filterRules, filters } from './html-filters.ts';
import { findings, withCode } from './html-findings.ts';
import { CHECK_PAGE_CSS } from './html-style.ts';
import { chosenExchanges, timeline } from './html-timeline.ts';
import {
  commandOf,
  countVerdicts,
  describeShare,
  describeSuite,
  headlineOf,
  headlines,
  isClientReport,
  openCauses,
  sectionTitles,
  staleSentence,
} from './summary.ts';

/** Renders the report as one HTML page. Oversized content is cut and marked. */
export function htmlReport(original: CheckReport, recorded: Transcript): string {
  const report = toVisible(original);
  const { peer, toShown = (exchange: Exchange) => exchange } = suiteOf(recorded.run);
  const transcript = { ...recorded, exchanges: recorded.exchanges.map(toShown) };
  const exchanges = chosenExchanges(report, transcript);
  const shown = new Set(exchanges.map(({ id }) => id));
  const body = html`<header>${head(report)}</header>
    <nav aria-label="Sections of the report">
      <a href="#findings">Requirements</a> <a href="#observed">${sectionTitles.observed}</a>
      <a href="#timeline">Timeline</a>
    </nav>
    <main>
      ${remarks(report)} ${comparisonSection(report)} ${filters(report)} ${findings(report, shown)}
      ${observedSection(report, peer)} ${timeline(report, transcript, exchanges)}
    </main>`;
  return renderPage({
    title: `${headlines[headlineOf(report)]}: ${report.target}`,
    css: `${CHECK_PAGE_CSS}${filterRules(report)}`,
    body,
  });
}

function head(report: CheckReport): Html {
  const { verdict, target, seed, kitVersion, startedAt, endedAt } = report;
  const tally = countVerdicts(report).map(([name, text]) => html`<li class="${name}">${text}</li>`);
  return html`<p class="kind">${commandOf(report)}</p>
    <h1 class="verdict ${verdict}">${headlines[headlineOf(report)]}</h1>
    <p class="target">${target}</p>
    <ul class="tally" aria-label="Requirements by verdict">
      ${tally}
    </ul>
    <p class="soft">
      Suite ${describeSuite(report)}, ${isClientReport(report) ? '' : `seed ${seed}, `}sandbox-kit
      ${kitVersion}, ${formatInstant(startedAt)} to ${formatInstant(endedAt)}.
    </p>`;
}

/** Renders the remarks on the whole run: blocking cause, waivers, notices, and what to fix first. */
function remarks(report: CheckReport): Html {
  const { blockedBy, waived, notices = [], staleKnownFailures: stale = [] } = report;
  const causes = openCauses(report);
  return html`${
    blockedBy &&
    html`<section class="blocking" aria-label="Cause">
      <p><b>${blockedBy.message}</b></p>
      <p>${withCode(blockedBy.cure)}</p>
      ${blockedBy.evidence.map(
        ({ exchange, request, outcome, traceId }) =>
          html`<p>
            <a href="#e${exchange}">#${exchange}</a> ${request} &rarr;
            ${outcome}${traceId === undefined ? undefined : html`, trace id <code>${traceId}</code>`}
          </p>`,
      )}
    </section>`
  }
  ${waived.map((waiver) => html`<p class="waiver">Waived: ${waiver}.</p>`)}
  ${notices.map((notice) => html`<p class="waiver">${withCode(notice)}</p>`)}
  ${stale.length > 0 ? html`<p class="blocking">${staleSentence(stale)}</p>` : undefined}
  ${
    causes.length > 0
      ? html`<section class="causes" aria-labelledby="causes">
          <h2 id="causes">${sectionTitles.causes}</h2>
          <ol>
            ${causes.map(
              (cause, nth) =>
                html`<li>
                  ${withCode(cause.description)}. This ${describeShare(cause, nth, report)}:
                  ${cause.clears.map((id) => html`<a href="#${id}">${id}</a>`)}
                </li>`,
            )}
          </ol>
        </section>`
      : undefined
  }`;
}

/** Renders the comparison with an earlier run, regressions first. */
function comparisonSection({ comparison, requirements }: CheckReport): Html | undefined {
  if (!comparison) return undefined;
  const linked = new Set(requirements.map(({ id }) => id));
  const link = (id: string): Html =>
    linked.has(id) ? html`<a href="#${id}">${id}</a> ` : html`${id} `;
  const rows = changeNames.flatMap(([change, name]) => {
    const ids = comparison[change];
    if (ids.length === 0) return [];
    return [
      html`<tr>
        <th scope="row">${name}</th>
        <td>${ids.map(link)}</td>
      </tr>`,
    ];
  });
  return html`<section aria-labelledby="comparison">
    <h2 id="comparison">${comparisonHeading(comparison)}</h2>
    ${comparison.differences.map((difference) => html`<p class="soft">${difference}</p>`)}
    <table>
      <tbody>
        ${rows}
        <tr>
          <th scope="row">unchanged</th>
          <td>${comparison.unchanged.length}</td>
        </tr>
      </tbody>
    </table>
  </section>`;
}

function observedSection({ observedBehavior }: CheckReport, peer: string): Html {
  const rows = Object.entries(observedBehavior).map(
    ([name, value]) =>
      html`<tr>
        <th scope="row">${name}</th>
        <td>${value}</td>
      </tr>`,
  );
  return html`<section aria-labelledby="observed">
    <h2 id="observed">${sectionTitles.observed}</h2>
    <p class="soft">What the ${peer} does where the specification is silent. It is not judged.</p>
    ${
      rows.length > 0
        ? html`<table>
            <tbody>
              ${rows}
            </tbody>
          </table>`
        : html`<p>The run observed nothing.</p>`
    }
  </section>`;
}
