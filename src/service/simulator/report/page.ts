import type {
  SimulatedSessionReport,
  SimulationComparison,
  SimulationReport,
} from '../../../contract/index.ts';
import { msBetween } from '../../../platform/clock.ts';
import { CHART_CSS } from '../../../report-kit/chart.ts';
import { comparisonSection } from '../../../report-kit/comparison.ts';
import { FACT_LIST_CSS, renderFactList } from '../../../report-kit/fact-list.ts';
import {
  createFilterRules,
  filterClassesOf,
  renderFilters,
  type Facet,
} from '../../../report-kit/filters.ts';
import {
  cutText,
  formatCount,
  formatDuration,
  formatInstant,
  formatList,
} from '../../../report-kit/format.ts';
import { html, withCode, type Html } from '../../../report-kit/html.ts';
import { toVisible } from '../../../report-kit/printable.ts';
import { RELIABILITY_COLUMNS } from '../../../report-kit/scenario-columns.ts';
import { renderItems } from '../../../report-kit/table.ts';
import {
  renderRemark,
  renderRunReport,
  renderSearch,
  SEARCHABLE,
  type ReportSection,
} from '../../../report-kit/run-report.ts';
import {
  renderTranscript,
  TRANSCRIPT_CSS,
  type ShownTurn,
} from '../../../report-kit/transcript.ts';
import { WAVEFORM_CSS } from '../../../report-kit/waveform.ts';
import {
  changeNames,
  describeEvidence,
  describeStanding,
} from '../../domain/comparison/scenario-changes.ts';
import {
  sortByUrgency,
  VERDICTS_BY_URGENCY,
} from '../../domain/simulation-results/scenario-results.ts';
import {
  describeEnd,
  groupUnpassed,
  listOtherReasons,
  listSharedReasons,
  nameOf,
} from '../../domain/simulation-results/reasons.ts';
import type { CallSummary } from '../../store/store.ts';
import { listHeard, listRunHeard } from '../../domain/heard-facts.ts';
import { listRunTurnTaking, listTurnTaking } from '../../domain/turn-taking-facts.ts';
import { renderCall, type SessionAudio } from './call.ts';
import { listChanges, shortHeading } from './comparison.ts';

/** The most sessions to show. The JSON report has all of them. */
const SESSIONS_MAX = 500;
/** The most characters of one text of a session. */
const TEXT_LENGTH_MAX = 4_000;

const STANDINGS = { passed: 'pass', failed: 'fail', undecided: 'warn' } as const;

const HEADLINES = { passed: 'Passed', failed: 'Failed', undecided: 'Undecided' } as const;

const facets: readonly Facet<SimulatedSessionReport>[] = [
  {
    name: 'verdict',
    valueOf: ({ verdict }) => verdict,
    order: VERDICTS_BY_URGENCY,
    isColored: true,
  },
  { name: 'channel', valueOf: ({ channel }) => channel },
];

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
    headline: HEADLINES[verdict],
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
  ...{ regressed: 'fail', improved: 'pass', unclear: 'warn', not_comparable: 'warn' },
  ...{ new: 'note', gone: 'warn', same: '' },
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
          html`<span class="mark ${verdict}">${verdict}</span
            >${flaky && html` <span class="warn">flaky</span>`}`,
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
        <span class="mark ${first.verdict}">${first.verdict}</span>
        ${formatCount(group.length, 'session')}${describeScenarios(group)},
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
function describeScenarios(group: readonly SimulatedSessionReport[]): string {
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
  return { id: 'heard', title: 'What was heard of the agent', body };
}

function sessionsSection(
  { sessions }: SimulationReport,
  shown: readonly SimulatedSessionReport[],
  { audioOf, summaryOf }: RecordedCalls,
): ReportSection | undefined {
  if (sessions.length === 0) return undefined;
  const omitted = sessions.length - shown.length;
  // One open session of each kind of failure is enough to read.
  const examples = new Set(groupUnpassed(shown).map(([first]) => first));
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
      ...{ audio: audioOf?.(session), summary: summaryOf?.(session) },
      isOpen: examples.has(session),
    }),
  )}`;
  return { id: 'sessions', title: 'Sessions', body };
}

function renderSession(
  session: SimulatedSessionReport,
  {
    audio,
    summary,
    isOpen,
  }: { audio: SessionAudio | undefined; summary: CallSummary | undefined; isOpen: boolean },
): Html {
  const { verdict, channel, traces, user_id: userId, trace_ids: traceIds = [] } = session;
  const durationMs = msBetween(session.started_at, session.ended_at);
  const facts = [
    `${session.scenario}, ${session.persona}`,
    `${formatCount(traces.length, 'turn')} by ${channel} in ${formatDuration(durationMs)}`,
    describeEnd(session),
  ];
  const lastTrace = traceIds.at(-1);
  return html`<article
    id="${anchorOf(session)}"
    class="session ${SEARCHABLE} ${filterClassesOf(session, facets)}"
  >
    <details ${isOpen ? 'open' : ''}>
      <summary>
        <span class="mark ${verdict}">${verdict}</span>
        <b>${nameOf(session)}</b>
        <span class="soft">${facts.join('; ')}</span>
      </summary>
      ${renderEvals(session)} ${renderCall(session, audio, summary)}
      ${session.turn_taking && renderFactList(listTurnTaking(session.turn_taking))}
      ${session.heard && renderFactList(listHeard(session.heard))} ${renderOther(session)}
      ${renderTranscript(traces.map(toTurn(session)))}
      <p class="soft">
        Session
        ${session.id}${userId === null ? '' : `, user ${userId}`}${
          lastTrace === undefined ? '' : `, trace id of the last request ${lastTrace}`
        }
      </p>
    </details>
  </article>`;
}

/** Renders the session of the other user. */
function renderOther({ other_session: other }: SimulatedSessionReport): Html | undefined {
  if (!other) return undefined;
  const turns = other.traces.map(({ session_sequence: sequence, ...turn }) => ({
    ...{ sequence, userInput: turn.user_input, agentResponse: turn.agent_response },
  }));
  return html`<p class="soft">First, another user says in a separate session (${other.id}):</p>
    ${renderTranscript(turns)}
    <p class="soft">Then, in this session:</p>`;
}

/** Renders the outcomes of the evals, and the other reasons for the verdict. */
function renderEvals(session: SimulatedSessionReport): Html {
  const outcomes = session.eval_outcomes.map(
    ({ eval_name: name, outcome, reasoning, reason }) =>
      html`<li>
        <span class="${outcome}">${outcome}</span> ${name}: ${cut(reasoning)}
        ${outcome === 'fail' && reason !== undefined && `Why it matters: ${reason}`}
      </li>`,
  );
  const others = listOtherReasons(session).map((reason) => html`<li>${cut(reason)}</li>`);
  return html`<ul class="outcomes">
    ${outcomes} ${others}
  </ul>`;
}

const toTurn =
  ({ turn_latency_ms: latencies }: SimulatedSessionReport) =>
  (turn: SimulatedSessionReport['traces'][number], index: number): ShownTurn => ({
    sequence: turn.session_sequence,
    scenarioLine: turn.scenario_line,
    userInput: cut(turn.user_input),
    userReason: turn.user_reason,
    agentResponse: cut(turn.agent_response),
    ...(latencies[index] !== undefined && { latencyMs: latencies[index] }),
    toolCalls: turn.tool_calls ?? [],
  });

const anchorOf = ({ scenario_id: id, sample }: SimulatedSessionReport): string =>
  `${id.replaceAll(/[^A-Za-z0-9_-]/g, '-')}-${sample}`;

const cut = (text: string): string => cutText(text, TEXT_LENGTH_MAX);

const CSS = `
.samples a { padding: 0 0.15rem; text-decoration: none; }
.unseen { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; width: 1px; }
.session { border-top: 1px solid var(--line); padding: 0.5rem 0; }
.outcomes { margin: 0.5rem 0; padding-left: 1.25rem; }
/* Charts have marks, too. */
span.mark { font: inherit; font-size: 0.8125rem; font-weight: 600; }
.links a { margin-right: 0.75rem; }
.audio { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; }
.audio audio { display: block; max-width: 100%; }
@media print { .session { break-inside: avoid-page; } .audio { display: none; } }
`;
