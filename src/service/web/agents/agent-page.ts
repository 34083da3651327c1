import type { ReadinessReport } from '../../../contract/index.ts';
import { isLoopbackUrl } from '../../../platform/loopback.ts';
import { quoteArgument } from '../../../platform/shell.ts';
import { CHART_CSS } from '../../../report-kit/chart.ts';
import { formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems } from '../../../report-kit/table.ts';
import { createTimeColumn, renderAge } from '../../../report-kit/time.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import { reportKindNames } from '../../operations/read-agent-report.ts';
import type { AgentReadiness } from '../../operations/agent-readiness.ts';
import type { WatchedTest } from '../../operations/agent-tests.ts';
import type { ReadinessPart } from '../../operations/readiness-part.ts';
import type { AgentReport, Page, RunSummary, StoredAgent } from '../../store/store.ts';
import { formatCurl, renderKeyHint } from '../frame/commands.ts';
import { renderDeletion } from '../frame/deletion.ts';
import { isFlawless } from '../frame/field-problems.ts';
import { renderField } from '../frame/fields.ts';
import { renderForm } from '../frame/forms.ts';
import { renderLive, type LiveContent } from '../frame/live.ts';
import {
  linkTo,
  renderNotice,
  renderPages,
  renderServicePage,
  type PageContext,
} from '../frame/page-frame.ts';
import { PROGRESS_CSS } from '../runs/progress.ts';
import { HEAT_MAP_CSS, renderHeatMap } from '../runs/heat-map.ts';
import { renderDistributions } from '../runs/distribution-charts.ts';
import type { JudgedRun } from '../runs/judge-runs.ts';
import { renderResponseTimes, type TimesByRun } from '../runs/response-time-chart.ts';
import { linkToScenario, linkToScenarioSessions } from '../runs/run-links.ts';
import { renderRuns } from '../runs/runs-page.ts';
import { scenarioLinks, type StoredDefinitions } from '../runs/stored-definitions.ts';
import { withRequirementLinks } from '../requirements/requirement-links.ts';
import { renderAdvice } from './advice.ts';
import {
  EDITED_PARAMETER,
  renderAgentForm,
  renderSettingLink,
  type AgentDraft,
} from './agent-form.ts';
import { describeEvidenceTimes } from './evidence-times.ts';
import { FIX_FIRST_CSS, renderFixFirst, type ReasonLinks } from './fix-first.ts';
import { pathOfCall } from './call-page.ts';
import { pathOfPlayground } from './playground-page.ts';
import { listJudge, renderDetails } from './readiness-details.ts';
import { renderReadiness } from './readiness-words.ts';
import { pathOfTest, renderTest, TEST_LINKS } from './test-pages.ts';

/** What changes on the page of an agent while a test runs. */
export interface AgentNews extends Page {
  readiness: AgentReadiness;
  /** What the newest reports say in detail; undefined while a test runs, which would wait for it. */
  report: ReadinessReport | undefined;
  nowMs: number;
  /** The test that runs, or that ended without a report. */
  test: WatchedTest | undefined;
  /** Whether the service can check connections and run tests. */
  canTest: boolean;
  /** Its newest simulations with the results of their scenarios. */
  judged: readonly JudgedRun[];
  stored: StoredDefinitions;
  /** How long and how fast the newest sessions of these simulations were. */
  times: TimesByRun;
  reports: readonly AgentReport[];
  total: number;
  query: URLSearchParams;
}

/** The content of the page of an agent. */
export interface AgentPage extends AgentNews {
  draft: AgentDraft;
  /** The problem with an uploaded report. */
  uploadProblem?: string | undefined;
}

/** The most simulations in the table. */
const RUNS_SHOWN_MAX = 5;

const NOTICES = {
  added: 'The agent was added. Check its connection next.',
  saved: 'The agent was saved.',
  attached: 'The report was attached.',
  outdated:
    'The report was attached, but does not count: it is older than another report of its kind.',
  foreign: 'The report was attached, but does not count: it is about another URL.',
  unjudged: 'The report was attached, but does not count: its run judged nothing.',
  unproven:
    'The report was attached, but does not count: it proves less than an earlier report about the same version.',
  checked: 'The connection was checked.',
};

/** Renders the page of an agent: whether it is ready, its simulations, its reports, and its settings. */
export function renderAgentPage(content: AgentPage, context: PageContext): string {
  const { agent } = content.readiness;
  const parameters = { skip: String(content.skip) };
  return renderServicePage(
    {
      title: agent.name,
      section: 'Agents',
      css: `${PROGRESS_CSS}${HEAT_MAP_CSS}${CHART_CSS}${FIX_FIRST_CSS}${CSS}`,
      main: html`<h1>${agent.name}</h1>
        <p class="soft">${agent.url}</p>
        ${isPlain(agent) && html`<p class="remark">${agent.has_api_key ? 'Its key and its conversations' : 'Its conversations'} are sent unencrypted to another machine, because the URL starts with <code>http://</code>. Use <code>https://</code> if the sandbox has it.</p>`}
        ${renderNotice(context, NOTICES)}
        ${renderLive(linkTo(context, `/agents/${agent.id}/live`, parameters), renderAgentNews(content, context))}
        ${context.token !== undefined && renderChanges(content, context)}`,
    },
    context,
  );
}

/** Whether an agent is on another machine and reached without encryption. */
const isPlain = ({ url }: StoredAgent): boolean => url.startsWith('http:') && !isLoopbackUrl(url);

/** Renders the forms that change an agent. */
function renderChanges(content: AgentPage, context: PageContext): Html {
  const { readiness, draft, query } = content;
  const { agent } = readiness;
  const edited = query.get(EDITED_PARAMETER);
  const path = `/agents/${agent.id}`;
  return html`${renderUpload(content, context)}
    <details
      ${isFlawless(draft.problems) && !draft.changed && edited === null ? '' : 'open'}
      id="settings"
    >
      <summary>Settings</summary>
      ${renderAgentForm(context, { draft, action: path, stored: agent, edited })}
    </details>
    ${renderDeletion(context, {
      summary: 'Delete this agent',
      consequences:
        'This deletes the agent, its key, and its reports. Its simulated sessions are kept.',
      button: 'Delete the agent',
      action: `${path}/delete`,
    })}`;
}

/** Renders what changes while a test runs: whether the agent is ready, the progress, and the reports. */
export function renderAgentNews(content: AgentNews, context: PageContext): LiveContent {
  const { readiness, test } = content;
  const { agent, parts, runs } = readiness;
  const path = `/agents/${agent.id}/readiness`;
  const times = describeEvidenceTimes(parts.flatMap(({ atMs }) => atMs ?? []));
  const links: ReasonLinks = {
    linkToReport: (id) => {
      const found = parts.find((part) => part.id === id);
      return found?.report && linkTo(context, pathOf(found.report));
    },
    linkToScenario: (id) => linkToScenario(id, context),
    linkToSessions: (runId, id) => linkToScenarioSessions(runId, id, context),
    linkRequirements: (text) => withRequirementLinks(text, context),
  };
  return {
    content: html`<p class="ready">
        ${renderReadiness(readiness)} ${times !== '' && html`<span class="soft">${times}</span>`}
      </p>
      ${parts.flatMap((part) => renderAttempt(part, content.nowMs, context) ?? [])}
      ${content.report && renderFixFirst(content.report, links)}
      ${test && renderTest(agent.id, test, context)} ${renderNext(content, context)}
      <p>
        <a href="${linkTo(context, pathOfPlayground(agent.id))}">Chat with the agent</a> ·
        <a href="${linkTo(context, pathOfCall(agent.id))}">Call the agent</a>
      </p>
      <ul class="parts" aria-label="Readiness">
        ${parts.map((part) => renderPart(part, content, context))}
      </ul>
      ${content.report && renderReadinessDetails(content.report)}
      <p class="soft">
        <a href="${linkTo(context, path)}">Readiness as one page</a>. Export:
        <a href="${linkTo(context, path, { format: 'html' })}">page</a>,
        <a href="${linkTo(context, path, { format: 'json' })}">JSON</a>,
        <a href="${linkTo(context, `/agents/${agent.id}/badge.svg`)}">badge</a>
      </p>
      <h2 id="simulations">Simulations</h2>
      ${renderHeatMap(content.judged, context, scenarioLinks(content.stored, context))}
      ${renderTimes(content)}
      ${runs.length === 0 ? html`<p>No simulation with this agent has ended yet.</p>` : renderNewestRuns(runs, context)}
      <h2 id="reports">Reports</h2>
      ${renderHistory(content, context)}`,
    isFinal: test?.end !== 'running',
  };
}

/** Renders the newest simulations, folded if the heat map shows their results. */
function renderNewestRuns(runs: readonly RunSummary[], context: PageContext): Html {
  const shown = runs.slice(0, RUNS_SHOWN_MAX);
  const table = renderRuns(shown, 'simulation', context);
  if (runs.length < 2) return table;
  return html`<details>
    <summary>The newest ${formatNumber(shown.length)} simulations</summary>
    ${table}
  </details>`;
}

/** Renders how fast the agent responded from simulation to simulation, and how the times are distributed. */
function renderTimes({ readiness: { runs }, times, nowMs }: AgentNews): Html | undefined {
  const sessions = runs.flatMap(({ id }) => times.get(id) ?? []);
  if (sessions.length === 0) return undefined;
  return html`<div class="charts">
      ${renderResponseTimes(runs, times, { kind: 'simulation', nowMs })}
    </div>
    <details>
      <summary>Distribution of response times and turns</summary>
      <div class="charts">${renderDistributions(sessions)}</div>
    </details>`;
}

/** Renders the next step of finding out whether the agent is ready. */
function renderNext(
  { report, readiness: { agent }, canTest }: AgentNews,
  context: PageContext,
): Html | undefined {
  const next = report?.parts.find(({ standing }) => standing !== 'pass');
  if (next?.next_step === undefined || context.token === undefined) return undefined;
  const { id, next_step: step } = next;
  if (id === 'connection' || (id !== 'simulations' && !canTest)) {
    const { standing, verdict } = next;
    const isDown = id === 'connection' && standing === 'fail';
    return html`<p>
      <b>Next:</b> ${renderAdvice(step)}
      ${isDown && renderSettingLink({ id: agent.id, verdict }, context)}
    </p>`;
  }
  const link =
    id === 'simulations'
      ? linkTo(context, '/scenarios', { agent: agent.id })
      : linkTo(context, pathOfTest(agent.id, id));
  return html`<p><b>Next:</b> <a class="button" href="${link}">${step.replace(/\.$/, '')}</a></p>`;
}

/** Renders the conformance by area, the load by target, and the turn-taking in calls. */
const renderReadinessDetails = ({ parts }: ReadinessReport): Html[] =>
  parts
    .filter(({ areas, targets, turn_taking: facts }) => areas ?? targets ?? facts)
    .map(
      // The heat map shows the scenarios.
      ({ scenarios: _, ...part }) =>
        html`<details>
          <summary>${part.name} in detail</summary>
          ${renderDetails(part)}
        </details>`,
    );

function renderPart(part: ReadinessPart, content: AgentNews, context: PageContext): Html {
  const { name, standing, verdict, detail, report, run, atMs } = part;
  const endMs = report ? Date.parse(report.summary.endedAt) : (atMs ?? run?.newestEndMs);
  const path = report ? pathOf(report) : `/simulation/${run?.id ?? ''}`;
  return html`<li>
    <h2>${name}</h2>
    <p>${renderVerdict(standing, verdict)}</p>
    <p>${detail}</p>
    ${
      endMs !== undefined &&
      html`<p class="soft">
        <a href="${linkTo(context, path)}">ended ${renderAge(endMs, content.nowMs)}</a
        >${describeJudge(part, content)}
      </p>`
    }
    ${part.id === 'connection' && standing === 'fail' && html`<p>${renderSettingLink({ id: content.readiness.agent.id, verdict }, context)}</p>`}
    ${renderContradiction(part, content.nowMs, context)} ${renderNextStep(part, content, context)}
  </li>`;
}

/** Says what judged a part of the readiness: ", sandbox-kit 1.0, requirement set 0.2". */
function describeJudge({ id }: ReadinessPart, { report }: AgentNews): string {
  const reported = report?.parts.find((part) => part.id === id);
  return listJudge(reported ?? {})
    .map((each) => `, ${each}`)
    .join('');
}

/** Says at the top that the newest run of a kind judged nothing, or proved less than an earlier one. */
function renderAttempt(
  { id, name, attempt }: ReadinessPart,
  nowMs: number,
  context: PageContext,
): Html | undefined {
  if (attempt?.kind !== id) return undefined;
  const { standing, verdict, detail } = attempt.summary;
  return html`<p class="remark">
    ${renderVerdict(standing, verdict)} ${detail} This is the newest ${name.toLowerCase()} run,
    ${renderEnd(attempt, nowMs, context)}. It does not replace the earlier result.
  </p>`;
}

/** Says that a later run of another kind shows the state of the connection. */
function renderContradiction(
  { id, attempt }: ReadinessPart,
  nowMs: number,
  context: PageContext,
): Html | undefined {
  if (!attempt || attempt.kind === id) return undefined;
  const kind = reportKindNames[attempt.kind].toLowerCase();
  return html`<p class="soft">
    Found later by a ${kind} run, ${renderEnd(attempt, nowMs, context)}.
  </p>`;
}

const renderEnd = (report: AgentReport, nowMs: number, context: PageContext): Html =>
  html`<a href="${linkTo(context, pathOf(report))}"
    >ended ${renderAge(Date.parse(report.summary.endedAt), nowMs)}</a
  >`;

/** Renders what to do about a part of the readiness. */
function renderNextStep(
  { id, report, standing }: ReadinessPart,
  { readiness, canTest, test }: AgentNews,
  context: PageContext,
): Html | undefined {
  const { agent } = readiness;
  if (id === 'simulations') {
    const link = linkTo(context, '/scenarios', { agent: agent.id });
    return html`<p><a href="${link}">Run scenarios</a></p>`;
  }
  if (id === 'connection') {
    if (!canTest) return undefined;
    return renderForm(context, {
      action: `/agents/${agent.id}/connection`,
      className: 'action',
      // The next step toward Ready is the primary action.
      body: html`<button ${standing === 'pass' && html`class="quiet"`}>Check connection</button>
        <p class="soft">
          Sends one request per endpoint. One reaches the model. Takes up to 30 s.
        </p>`,
    });
  }
  if (context.token === undefined) return undefined;
  const isRunning = test?.end === 'running';
  return html`${
    canTest &&
    !isRunning &&
    html`<p><a href="${linkTo(context, pathOfTest(agent.id, id))}">${TEST_LINKS[id]}</a></p>`
  }
  ${report ? undefined : html`<p><a href="#attach">Attach a report</a></p>`}`;
}

const pathOf = ({ agentId, id }: AgentReport): string => `/agents/${agentId}/reports/${id}`;

function renderHistory({ reports, ...list }: AgentNews, context: PageContext): Html {
  if (list.total === 0) return html`<p>No reports yet.</p>`;
  const path = `/agents/${list.readiness.agent.id}`;
  return html`${renderItems({
    label: 'Reports',
    items: reports,
    columns: [
      createTimeColumn<AgentReport>({
        name: 'ended',
        msOf: ({ summary }) => Date.parse(summary.endedAt),
        link: (report, time) => html`<a href="${linkTo(context, pathOf(report))}">${time}</a>`,
      }),
      { name: 'kind', className: 'when', content: ({ kind }) => reportKindNames[kind] },
      {
        name: 'verdict',
        className: 'when',
        content: ({ summary }) => renderVerdict(summary.standing, summary.verdict),
      },
      { name: 'result', content: ({ summary }) => summary.detail },
      { name: 'kit', className: 'when', content: ({ summary }) => summary.kitVersion },
    ],
  })}
  ${renderPages({ path, ...list })}`;
}

function renderUpload(content: AgentPage, context: PageContext): Html {
  const { uploadProblem, readiness } = content;
  const { agent } = readiness;
  const url = quoteArgument(agent.url);
  const upload = linkTo(context, `/__admin/agents/${agent.id}/reports`);
  const curl = `${formatCurl(context)} \\\n  --data-binary @check.json ${quoteArgument(context.serviceUrl + upload)}`;
  return html`<details ${uploadProblem === undefined ? '' : 'open'}>
      <summary>Attach a report</summary>
      <div id="attach"></div>
      ${renderForm(context, {
        action: `/agents/${agent.id}/reports`,
        hasFiles: true,
        body: html`${renderField(
            {
              name: 'report',
              label: 'Report',
              type: 'file',
              problem: uploadProblem,
              hint: 'The JSON report of a check or a load test that ran elsewhere, such as in CI; at most 4 MB.',
            },
            html`accept=".json,application/json"`,
          )}
          <p><button>Attach</button></p>`,
      })}
    </details>
    <details>
      <summary>Commands that write and attach a report, for CI</summary>
      ${renderKeyHint(context)}
      ${agent.has_api_key && html`<p>First set <code>SANDBOX_KIT_API_KEY</code> to the key of the sandbox.</p>`}
      <pre>
npx sandbox-kit check ${url} --json check.json
npx sandbox-kit load ${url} --duration 60s --json load.json

${curl}</pre>
    </details>`;
}

const CSS = `
.test { margin: 0.75rem 0; }
.parts { display: grid; gap: 0.75rem; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr));
  margin: 0.75rem 0; }
.parts li { background: var(--box); border: 1px solid var(--line); border-radius: 0.5rem;
  padding: 0.75rem 1rem; }
.parts h2 { color: var(--soft-ink); font-size: 0.875rem; font-weight: 550; margin: 0; }
.action { margin: 0.5rem 0 0; }
@media (max-width: 40rem) {
  .parts { gap: 0.5rem; }
  .parts li { padding: 0.5rem 0.75rem; }
  .parts h2, .parts h2 + p { display: inline; margin-right: 0.5rem; }
}
`;
