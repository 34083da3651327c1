import type { CauseExample, CheckReport } from '../../src/contract/index.ts';
import { comparisonSection } from '../../src/report-kit/comparison.ts';
import { renderFactList, type Fact } from '../../src/report-kit/fact-list.ts';
import { formatInstant } from '../../src/report-kit/format.ts';
import { html, withCode, type Html } from '../../src/report-kit/html.ts';
import {
  renderRemark,
  renderRunReport,
  type ReportSection,
} from '../../src/report-kit/run-report.ts';
import { toVisible } from '../../src/report-kit/printable.ts';
import { suiteOf } from '../areas/index.ts';
import type { Exchange, Transcript } from '../engine/transcript/transcript.ts';
import { listChanges } from './comparison.ts';
import { describeCoverage, describeUnjudged } from './coverage.ts';
import { createFindingRules, listDetails, renderFindings } from './html-findings.ts';
import { CHECK_PAGE_CSS } from './html-style.ts';
import { chosenExchanges, timelineSections } from './html-timeline.ts';
import {
  describeMissingFile,
  listSuspectCommands,
  resendCommandOf,
  type ResendFile,
} from './resend-commands.ts';
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
  triedRows,
} from './summary.ts';

/** Renders the report as one HTML page. Oversized content is cut and marked. */
export function htmlReport(
  original: CheckReport,
  recorded: Transcript,
  resendFile?: ResendFile,
  program?: string,
): string {
  const report = toVisible(original);
  const { peer, toShown = (exchange: Exchange) => exchange } = suiteOf(recorded.run);
  const transcript = { ...recorded, exchanges: recorded.exchanges.map(toShown) };
  const exchanges = chosenExchanges(report, transcript);
  const shown = new Set(exchanges.map(({ id }) => id));
  const { seed, kitVersion, startedAt, endedAt } = report;
  return renderRunReport({
    command: commandOf(report),
    headline: headlines[headlineOf(report)],
    standing: standings[report.verdict],
    subject: report.target,
    sentence: report.coverage && describeCoverage(report.coverage),
    tally: countVerdicts(report),
    facts:
      `Suite ${describeSuite(report)}, ${isClientReport(report) ? '' : `seed ${seed}, `}` +
      `sandbox-kit ${kitVersion}, ${formatInstant(startedAt)} to ${formatInstant(endedAt)}.`,
    remarks: remarks(report, resendFile, program),
    sections: [
      causesSection(report),
      changesSection(report),
      {
        id: 'findings',
        title: 'Requirements',
        body: renderFindings(report, {
          shown,
          resendCommand: (row) => resendCommandOf(row.evidence, report, resendFile, program),
        }),
      },
      unjudgedSection(report),
      triedSection(report),
      observedSection(report, peer),
      ...timelineSections(report, transcript, exchanges),
    ],
    css: `${CHECK_PAGE_CSS}${createFindingRules(report)}`,
    json: original,
  });
}

const standings = { conforming: 'pass', 'not-conforming': 'fail', 'not-judged': 'warn' } as const;

/** Renders the remarks on the whole run: blocking cause, waivers, notices, outdated known failures. */
function remarks(report: CheckReport, resendFile: ResendFile, program?: string): Html[] {
  const { blockedBy, waived, notices = [], staleKnownFailures: stale = [] } = report;
  const resendHint = describeMissingFile(report, resendFile, program);
  return [
    ...(blockedBy ? [renderRemark('fail', blocker(blockedBy))] : []),
    ...waived.map((waiver) => renderRemark('warn', `Waived: ${waiver}.`)),
    ...notices.map((notice) => renderRemark('warn', withCode(notice))),
    ...(stale.length > 0 ? [renderRemark('fail', staleSentence(stale))] : []),
    ...listSuspectCommands(report, resendFile, program).map(({ sentence, commands }) =>
      renderRemark(
        'warn',
        html`${sentence}
          <pre>${commands.join('\n')}</pre>`,
      ),
    ),
    ...(resendHint === undefined ? [] : [renderRemark('warn', resendHint)]),
  ];
}

function blocker({ message, cure, evidence }: NonNullable<CheckReport['blockedBy']>): Html {
  return html`<p><b>${message}</b></p>
    <p>${withCode(cure)}</p>
    ${evidence.map(
      ({ exchange, request, outcome, traceId }) =>
        html`<p>
          <a href="#e${exchange}">#${exchange}</a> ${request} &rarr;
          ${outcome}${traceId !== undefined && html`, trace id <code>${traceId}</code>`}
        </p>`,
    )}`;
}

/** Lists why requirements were not judged, and what would let them be judged. */
function unjudgedSection({ coverage, blockedBy }: CheckReport): ReportSection | undefined {
  if (!coverage || blockedBy || coverage.unjudged.length === 0) return undefined;
  const items = describeUnjudged(coverage).map(
    ({ text, ids }) => html`<li>${withCode(text)} <span class="soft">${ids.join(', ')}</span></li>`,
  );
  return {
    id: 'unjudged',
    title: sectionTitles.unjudged,
    body: html`<ul>
      ${items}
    </ul>`,
  };
}

function causesSection(report: CheckReport): ReportSection | undefined {
  const causes = openCauses(report);
  if (causes.length === 0) return undefined;
  const items = causes.map(
    (cause, nth) =>
      html`<li>
        ${withCode(cause.description)}. This ${describeShare(cause, nth, report)}:
        ${cause.clears.map((id) => html`<a href="#${id}">${id}</a>`)}
        ${cause.example && renderExample(cause.example)}
      </li>`,
  );
  const body = html`<ol class="causes">
    ${items}
  </ol>`;
  return { id: 'causes', title: sectionTitles.causes, body };
}

/** Renders one finding that a cause explains. */
function renderExample(example: CauseExample): Html {
  const { requirement, exchange } = example;
  return renderFactList([
    [
      'example',
      html`<a href="#${requirement}">${requirement}</a>,
        <a href="#e${exchange.exchange}">#${exchange.exchange}</a> "${exchange.step}":
        ${exchange.request} &rarr; ${exchange.outcome}`,
    ],
    ...listDetails(example),
  ]);
}

/** Renders the comparison with an earlier run, regressions first. */
function changesSection({ comparison, requirements }: CheckReport): ReportSection | undefined {
  if (!comparison) return undefined;
  const linked = new Set(requirements.map(({ id }) => id));
  const link = (id: string): Html =>
    linked.has(id) ? html`<a href="#${id}">${id}</a> ` : html`${id} `;
  const facts = listChanges(comparison).map(({ name, ids }): Fact => [
    name,
    html`${ids.map(link)}`,
  ]);
  const unchanged: Fact = ['unchanged', String(comparison.unchanged.length)];
  return comparisonSection(comparison, renderFactList([...facts, unchanged]));
}

function triedSection(report: CheckReport): ReportSection | undefined {
  const facts = triedRows(report);
  if (facts.length === 0) return undefined;
  return { id: 'tried', title: sectionTitles.tried, body: renderFactList(facts) };
}

function observedSection({ observedBehavior }: CheckReport, peer: string): ReportSection {
  const facts = Object.entries(observedBehavior);
  const body = html`<p class="soft">
      What the ${peer} does where the specification is silent. It is not judged.
    </p>
    ${facts.length > 0 ? renderFactList(facts) : html`<p>The run observed nothing.</p>`}`;
  return { id: 'observed', title: sectionTitles.observed, body };
}
