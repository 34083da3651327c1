import type {
  SimulatedSessionReport,
  SimulationComparison,
  SimulationReport,
} from '../../../contract/index.ts';
import { CHART_CSS } from '../../../report-kit/chart.ts';
import { comparisonSection } from '../../../report-kit/comparison.ts';
import { FACT_LIST_CSS, renderFactList } from '../../../report-kit/fact-list.ts';
import { createFilterRules, renderFilters } from '../../../report-kit/filters.ts';
import { formatCount, formatInstant, formatList } from '../../../report-kit/format.ts';
import { html, withCode, type Html } from '../../../report-kit/html.ts';
import { toVisible } from '../../../report-kit/printable.ts';
import { RELIABILITY_COLUMNS } from '../../../report-kit/scenario-columns.ts';
import { renderItems } from '../../../report-kit/table.ts';
import {
  renderRemark,
  renderRunReport,
  renderSearch,
  type ReportSection,
} from '../../../report-kit/run-report.ts';
import { TRANSCRIPT_CSS } from '../../../report-kit/transcript.ts';
import { WAVEFORM_CSS } from '../../../report-kit/waveform.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import {
  changeNames,
  describeEvidence,
  describeStanding,
} from '../../runs/comparison/scenario-changes.ts';
import {
  RUN_VERDICT_WORDS,
  sortByUrgency,
  VERDICTS_BY_URGENCY,
} from '../../runs/scenario-results.ts';
import { describeEnd, groupUnpassed, listSharedReasons, nameOf } from '../../runs/reasons.ts';
import type { CallSummary } from '../../store/store.ts';
import { listRunHeard } from '../../runs/heard-facts.ts';
import { listRunTurnTaking } from '../../runs/turn-taking-facts.ts';
import type { SessionAudio } from './call.ts';
import { listChanges, shortHeading } from './comparison.ts';
import { putExampleFirst } from './failed-turn.ts';
import { anchorOf, cut, facets, renderSession } from './session-article.ts';

/** The most sessions to show. The JSON report has all of them. */
const SESSIONS_MAX = 500;

const STANDINGS = { passed: 'pass', failed: 'fail', undecided: 'warn' } as const;

/** Finds what was recorded of the calls. */
export interface RecordedCalls {
  /** Finds the saved audio of a session. */
  audioOf?: (session: SimulatedSessionReport) => SessionAudio | undefined;
  /** Finds the levels of a session. */
  summaryOf?: (session: SimulatedSessionReport) => CallSummary | undefined;
}

/** Renders the report as one HTML page. */
export function htmlReport(original: SimulationReport, calls: RecordedCalls = {}): string {
  const report = toVisible(original);
  const { verdict, sentence, sandbox, seed, kitVersion, startedAt, endedAt, counts } = report;
  const shown = selectSessions(report.sessions);
  return renderRunReport({
    command: 'sandbox-kit simulate',
    headline: RUN_VERDICT_WORDS[verdict],
    standing: STANDINGS[verdict],
    subject: sandbox,
    sentence,
    tally: VERDICTS_BY_URGENCY.filter((name) => counts[name] > 0).map((name) => [
      name,
      `${formatCount(counts[name], 'session')} ${name}`,
    ]),
    facts: `Seed ${seed}, sandbox-kit ${kitVersion}, ${formatInstant(startedAt)} to ${formatInstant(endedAt)}.`,
    remarks: remarks(report),
    sections: [
      changesSection(report.comparison),
      scenariosSection(report, shown),
      reasonsSection(report, shown),
      turnTakingSection(report),
      heardSection(report),
      sessionsSection(report, shown, calls),
    ],
    css: `${FACT_LIST_CSS}${TRANSCRIPT_CSS}${CHART_CSS}${WAVEFORM_CSS}${CSS}${createFilterRules(shown, facets)}`,
    scripts: ['play-timelines'],
    json: original,
  });
}

/** Selects the sessions to show, in the order of the report; passed sessions are omitted first. */
function selectSessions(sessions: readonly SimulatedSessionReport[]): SimulatedSessionReport[] {
  const kept = new Set(sortByUrgency(sessions).slice(0, SESSIONS_MAX));
  return sessions.filter((session) => kept.has(session));
}

function remarks({ blockedBy, counts }: SimulationReport): Html[] {
  const { deviated } = counts;
  return [
    ...(blockedBy
      ? [
          renderRemark(
            'fail',
            html`<p><b>${blockedBy.message}</b></p>
              <p>${withCode(blockedBy.cure)}</p>`,
          ),
        ]
      : []),
    ...(deviated === 0
      ? []
      : [
          renderRemark(
            'warn',
            `In ${formatCount(deviated, 'session')} the simulated user did not follow its scenario. ` +
              'The verdict of such a session is less reliable.',
          ),
        ]),
  ];
}

function changesSection(comparison: SimulationComparison | undefined): ReportSection | undefined {
  if (!comparison) return undefined;
  const { changed, unchanged } = listChanges(comparison);
  const changes = html`${changed.length > 0 && renderChanges(changed)}
    <p class="soft">${formatCount(unchanged, 'scenario')} with the same pass rate.</p>`;
  return comparisonSection(comparison, changes, shortHeading(comparison));
}

function renderChanges(rows: SimulationComparison['rows']): Html {
  return renderItems({
    label: 'Changed scenarios',
    items: rows,
    columns: [
      { name: 'scenario', content: (row) => row.scenario_id },
      {
        name: 'change',
        className: ({ change }) => CLASSES_BY_CHANGE[change],
        content: ({ change }) => changeNames[change],
      },
      { name: 'before', content: ({ before }) => describeStanding(before) },
      { name: 'now', content: ({ now }) => describeStanding(now) },
      { name: 'evidence', content: describeEvidence },
    ],
  });
}

const CLASSES_BY_CHANGE = {
  regressed: 'fail',
  improved: 'pass',
  unclear: 'warn',
  not_comparable: 'warn',
  new: 'note',
  gone: 'warn',
  same: '',
} as const;

function scenariosSection(
  { scenarios, sessions }: SimulationReport,
  shown: readonly SimulatedSessionReport[],
): ReportSection | undefined {
  if (scenarios.length === 0) return undefined;
  const samplesOf = Map.groupBy(sessions, (session) => session.scenario_id);
  const linked = new Set(shown);
  const table = renderItems({
    label: 'Results of the scenarios',
    items: scenarios,
    columns: [
      {
        name: 'scenario',
        content: ({ scenario_id: id, scenario, persona }) =>
          html`<b>${id}</b> <span class="soft">${scenario}, ${persona}</span>`,
      },
      {
        name: 'verdict',
        content: ({ verdict, flaky }) =>
          html`${renderVerdict(verdict)}${flaky && html` <span class="warn">flaky</span>`}`,
      },
      {
        name: 'samples',
        className: 'samples',
        content: ({ scenario_id: id }) => renderSamples(samplesOf.get(id) ?? [], linked),
      },
      {
        name: 'passed',
        isNumber: true,
        content: ({ passed, samples }) => `${passed} of ${samples}`,
      },
      ...RELIABILITY_COLUMNS,
    ],
  });
  const body = html`${table}
    <p class="soft">
      pass^k estimates the probability that k sessions in a row pass. k is the number of judged
      sessions, at most 10.
    </p>`;
  return { id: 'scenarios', title: 'Scenarios', body };
}

/** Renders a mark for each session of a scenario, with a link to it if it is shown. */
const renderSamples = (
  sessions: readonly SimulatedSessionReport[],
  linked: ReadonlySet<SimulatedSessionReport>,
): Html[] =>
  sessions.map((session) => {
    const label = `Sample ${session.sample}: ${session.verdict}`;
    const icon = ICONS[session.verdict];
    return linked.has(session)
      ? html`<a class="${session.verdict}" href="#${anchorOf(session)}" title="${label}"
          ><span aria-hidden="true">${icon}</span><span class="unseen">${label}</span></a
        >`
      : html`<span class="${session.verdict}" title="${label}">${icon}</span>`;
  });

const ICONS = { passed: '✓', failed: '✗', undecided: '?' } as const;

/** Renders why sessions did not pass, with the most frequent reason first. */
function reasonsSection(
  { sessions }: SimulationReport,
  shown: readonly SimulatedSessionReport[],
): ReportSection | undefined {
  const groups = groupUnpassed(sessions);
  if (groups.length === 0) return undefined;
  const linked = new Set(shown);
  const items = groups.slice(0, SESSIONS_MAX).flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const links = group
      .filter((session) => linked.has(session))
      .map((session) => html`<a href="#${anchorOf(session)}">${nameOf(session)}</a>`);
    return [
      html`<li>
        ${renderVerdict(first.verdict)}
        ${formatCount(group.length, 'session')}${listScenarios(group)},
        <span class="soft">${describeEnd(first)}</span>
        <ul>
          ${listSharedReasons(group).map((reason) => html`<li>${cut(reason)}</li>`)}
        </ul>
        <p class="links">${links}</p>
      </li>`,
    ];
  });
  const body = html`<ol class="reasons">
    ${items}
  </ol>`;
  return { id: 'reasons', title: 'Why sessions did not pass', body };
}

/** The most scenarios that a reason names. */
const SCENARIOS_MAX = 10;

/** Names the scenarios of sessions with the same reason, if there are several. */
function listScenarios(group: readonly SimulatedSessionReport[]): string {
  const ids = [...new Set(group.map((session) => session.scenario_id))];
  if (ids.length < 2) return '';
  return ` of ${ids.length} scenarios (${formatList(ids, SCENARIOS_MAX)})`;
}

function turnTakingSection({ turn_taking: measured }: SimulationReport): ReportSection | undefined {
  const facts = listRunTurnTaking(measured);
  if (facts.length === 0) return undefined;
  return { id: 'turn-taking', title: 'Turn-taking', body: renderFactList(facts) };
}

function heardSection({ heard, sessions }: SimulationReport): ReportSection | undefined {
  const facts = listRunHeard(heard, sessions);
  if (facts.length === 0) return undefined;
  const body =
    heard?.skipped === undefined
      ? renderFactList(facts.map(([name, figure]) => [name, cut(figure)]))
      : html`<p>${heard.skipped}</p>`;
  return { id: 'heard', title: 'Speech of the agent, transcribed', body };
}

function sessionsSection(
  { sessions }: SimulationReport,
  shown: readonly SimulatedSessionReport[],
  { audioOf, summaryOf }: RecordedCalls,
): ReportSection | undefined {
  if (sessions.length === 0) return undefined;
  const omitted = sessions.length - shown.length;
  // One open session of each kind of failure is enough to read.
  const examples = new Set(groupUnpassed(shown).map((group) => putExampleFirst(group)[0]));
  const body = html`${renderFilters(shown, facets, 'sessions')} ${renderSearch('sessions')}
  ${
    omitted > 0 &&
    renderRemark(
      'warn',
      `${formatCount(omitted, 'session')} omitted. --json FILE writes all of them.`,
    )
  }
  ${shown.map((session) =>
    renderSession(session, {
      audio: audioOf?.(session),
      summary: summaryOf?.(session),
      isOpen: examples.has(session),
    }),
  )}`;
  return { id: 'sessions', title: 'Sessions', body };
}

const CSS = `
.samples a { padding: 0 0.15rem; text-decoration: none; }
.unseen { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; width: 1px; }
.session { border-top: 1px solid var(--line); padding: 0.5rem 0; }
.outcomes { margin: 0.5rem 0; padding-left: 1.25rem; }
.links a { margin-right: 0.75rem; }
.audio { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; }
.audio audio { display: block; max-width: 100%; }
@media print { .session { break-inside: avoid-page; } .audio { display: none; } }
`;
