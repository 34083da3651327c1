import type { ScenarioResult } from '../../../contract/index.ts';
import { CHART_CSS } from '../../../report-kit/chart.ts';
import { renderFactList, type Fact } from '../../../report-kit/fact-list.ts';
import { formatCount, formatNumber, formatShare } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems } from '../../../report-kit/table.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import { renderTime } from '../../../report-kit/time.ts';
import {
  decideRunVerdict,
  describeScenarios,
  RUN_VERDICT_WORDS,
} from '../../runs/scenario-results.ts';
import type { WatchedSimulation } from '../../operations/simulations.ts';
import type {
  EvalCounts,
  Page,
  RunDetails,
  RunNeighbors,
  Session,
  SessionKind,
  TimedSession,
} from '../../store/store.ts';
import { renderLive, type LiveContent } from '../frame/live.ts';
import {
  linkTo,
  renderNotice,
  renderPages,
  renderServicePage,
  type PageContext,
} from '../frame/page-frame.ts';
import { renderSessionTable, SESSION_TABLE_CSS } from '../sessions/session-table.ts';
import { CAUSES_CSS, renderCauses, type Unpassed } from './causes.ts';
import { renderDistributions } from './distribution-charts.ts';
import { createEvalNames } from './eval-names.ts';
import { passRateOf } from './pass-rate-chart.ts';
import { isUnderWay, PROGRESS_CSS, renderProgress } from './progress.ts';
import { formatRepeatCommand } from './repeat-command.ts';
import { linkToScenarioSessions, pathOfRun } from './run-links.ts';
import { evalLinks, scenarioLinks, type StoredDefinitions } from './stored-definitions.ts';
import { renderRate } from './runs-page.ts';
import { renderScenarios } from './scenario-table.ts';

/** The content of the page of a production run or a simulation. */
export interface RunPage {
  kind: SessionKind;
  details: RunDetails;
  /** A simulation that this service started. */
  watched: WatchedSimulation | undefined;
  /** Simulation only. */
  scenarios: readonly ScenarioResult[];
  stored: StoredDefinitions;
  /** Sessions that did not pass, by scenario. */
  unpassed: readonly Unpassed[];
  /** How many further scenarios have sessions that did not pass. */
  omittedCauses: number;
  /** How long and how fast the newest sessions were; none while the simulation runs. */
  times: readonly TimedSession[];
  list: Page & { sessions: readonly Session[]; total: number; query: URLSearchParams };
  neighbors: RunNeighbors;
  /** The tested agent, with its id if it is stored. */
  agent: { name: string; url: string; id: string | undefined } | undefined;
}

const NOTICES = {
  canceled: 'The simulation was canceled. Sessions that had ended keep their results.',
};

/** Renders the page of a run: verdict, results by scenario and eval, reasons, and sessions. */
export function renderRunPage(page: RunPage, context: PageContext): string {
  const { kind, details, list } = page;
  const { run } = details;
  const path = pathOfRun(kind, run.id);
  const { skip, limit } = list;
  const parameters = { skip: String(skip), limit: String(limit) };
  return renderServicePage(
    {
      title: run.name,
      section: 'Runs',
      css: `${CHART_CSS}${PROGRESS_CSS}${CAUSES_CSS}${SESSION_TABLE_CSS}${CSS}`,
      main: html`<p class="soft">
          <a href="${linkTo(context, '/runs', { kind })}"
            >${kind === 'production' ? 'Production runs' : 'Simulations'}</a
          >
        </p>
        <h1>${run.name}</h1>
        ${renderNotice(context, NOTICES)}
        ${renderLive(
          linkTo(context, `${path}/progress`, parameters),
          renderRunContent(page, context),
        )}`,
    },
    context,
  );
}

/** Renders everything below the heading: it changes while a simulation runs. */
export function renderRunContent(page: RunPage, context: PageContext): LiveContent {
  const { kind, details, watched, list } = page;
  const { run, evals } = details;
  const content = html`<p class="verdict">${describeVerdict(page)}</p>
    ${renderFacts(page, context)} ${renderComparisons(page, context)}
    ${
      watched &&
      !isUnderWay(watched) &&
      context.token !== undefined &&
      html`<p>
        <a href="${linkTo(context, `${pathOfRun(kind, run.id)}/again`)}">Run again</a>
        ${
          page.agent?.id !== undefined &&
          html`·
            <a href="${linkTo(context, `/agents/${encodeURIComponent(page.agent.id)}`)}"
              >Is ${page.agent.name} ready?</a
            >`
        }
      </p>`
    }
    ${renderUnpassed(page, context)}
    ${
      watched
        ? renderProgress(watched, page.stored, context)
        : page.scenarios.length === 0
          ? undefined
          : html`<h2>Scenarios</h2>
              ${renderScenarios(page.scenarios, {
                linkToSessions: (id) => linkToScenarioSessions(run.id, id, context),
                linkToPage: scenarioLinks(page.stored, context),
              })}`
    }
    <h2>Evals</h2>
    ${renderEvals(evals, page, context)} ${renderTimes(page)}
    <h2>Sessions</h2>
    ${
      list.total === 0
        ? html`<p>No session has ended yet.</p>`
        : html`<p>${formatCount(list.total, 'session')} stored.</p>
            ${renderSessionTable(list.sessions, listQueryOf(page), context)}`
    }
    ${renderPages({ path: pathOfRun(kind, run.id), ...list })}
    ${
      watched &&
      html`<details id="repeat">
        <summary>Repeat this simulation</summary>
        ${formatRepeatCommand(watched.plan, context)}
      </details>`
    }`;
  return { content, isFinal: watched === undefined || !isUnderWay(watched) };
}

const renderUnpassed = ({ unpassed, omittedCauses }: RunPage, context: PageContext): Html =>
  html`${renderCauses(unpassed, context)}
  ${
    omittedCauses > 0 &&
    html`<p class="soft">
      and ${formatCount(omittedCauses, 'more scenario')}: the ids under "Scenarios" lead to the
      sessions.
    </p>`
  }`;

function renderTimes({ times }: RunPage): Html | undefined {
  if (times.length === 0) return undefined;
  return html`<h2>Response times and turns</h2>
    <div class="charts">${renderDistributions(times)}</div>`;
}

/** Returns the list that the page of a session leads back to. */
const listQueryOf = ({ kind, details: { run } }: RunPage): URLSearchParams =>
  new URLSearchParams({ kind, run_id: run.id });

function renderComparisons(
  { kind, details: { run }, neighbors: { older, newer } }: RunPage,
  context: PageContext,
): Html {
  const noun = kind === 'production' ? 'run' : 'simulation';
  const link = (parameters: { a?: string; b: string }): string =>
    linkTo(context, '/compare', { kind, ...parameters });
  return html`<ul class="comparisons">
    ${
      older &&
      html`<li>
        <a href="${link({ a: older.id, b: run.id })}">Compare with the previous ${noun}</a>
      </li>`
    }
    ${
      newer &&
      html`<li><a href="${link({ a: run.id, b: newer.id })}">Compare with the next ${noun}</a></li>`
    }
    <li><a id="compare" href="${link({ b: run.id })}">Compare with another</a></li>
  </ul>`;
}

function describeVerdict({ kind, details: { run }, scenarios, watched }: RunPage): Html {
  const rate = passRateOf(run);
  const evals =
    rate === undefined
      ? 'No eval has scored a session.'
      : `${formatShare(rate, 1)} of the evals passed.`;
  if (kind === 'production') {
    const good = run.sessions - run.failedSessions;
    return html`${formatNumber(good)} of ${formatCount(run.sessions, 'session')} with results
    ${good === 1 ? 'has' : 'have'} no failed eval. ${evals}`;
  }
  if (watched && isUnderWay(watched)) return html`No verdict yet: sessions or evals are missing.`;
  const verdict = decideRunVerdict(scenarios);
  return html`${renderVerdict(verdict, RUN_VERDICT_WORDS[verdict])} ${describeScenarios(scenarios)}.
  ${evals}`;
}

function renderFacts(
  { kind, details: { run }, watched, agent }: RunPage,
  context: PageContext,
): Html {
  const instant = (ms: number | undefined): Html | undefined =>
    ms === undefined ? undefined : renderTime(ms);
  const isEnded = watched === undefined || !isUnderWay(watched);
  const facts: Fact[] = [
    ['Agent', agent && renderAgent(agent, context)],
    ['Seed', watched?.plan.seed],
    ['Started', instant(watched?.plan.startedAtMs ?? run.oldestStartMs)],
    ['Ended', isEnded ? instant(run.newestEndMs) : undefined],
    ['With an errored eval', countSessions(run.erroredSessions)],
    ['Not completed', describeIncomplete(run.incompleteSessions, kind)],
    ['Being scored', countSessions(run.scoringSessions)],
  ];
  return renderFactList(facts);
}

function renderAgent({ id, name, url }: NonNullable<RunPage['agent']>, context: PageContext): Html {
  const path = `/agents/${encodeURIComponent(id ?? '')}`;
  return html`${id === undefined ? name : html`<a href="${linkTo(context, path)}">${name}</a>`}${
    url === '' ? '' : ` at ${url}`
  }`;
}

const countSessions = (count: number): string | undefined =>
  count === 0 ? undefined : formatCount(count, 'session');

/** A simulation whose sessions have all ended can have sessions that were not completed. */
function describeIncomplete(count: number, kind: SessionKind): string | undefined {
  const sessions = countSessions(count);
  if (sessions === undefined || kind === 'production') return sessions;
  return `${sessions}: an error or a cancellation stopped them, so no eval scored them`;
}

/** The most evals to show: those with the most failures first. */
const EVALS_MAX = 200;

function renderEvals(
  evals: readonly EvalCounts[],
  { kind, details: { run }, stored }: RunPage,
  context: PageContext,
): Html {
  if (evals.length === 0) return html`<p>No eval has scored a session of this run.</p>`;
  const renderName = createEvalNames(evals, evalLinks(stored, context));
  const urgent = [...evals].sort((left, right) => right.failed - left.failed);
  const linkToFailed = ({ id, name, version, failed }: EvalCounts): Html | undefined => {
    if (failed === 0) return undefined;
    const query = {
      kind,
      run_id: run.id,
      eval_id: id,
      failed_only: 'true',
      ...(version !== '' && { eval_version: version }),
      // The evals of scenarios may share an id.
      ...(kind === 'simulation' && { eval: name }),
    };
    return html`<a href="${linkTo(context, '/sessions', query)}">${formatNumber(failed)}</a>`;
  };
  return renderItems({
    label: 'Evals',
    items: urgent.slice(0, EVALS_MAX),
    columns: [
      { name: 'eval', content: renderName },
      { name: 'passed', content: ({ passed, failed }) => renderRate(passed, passed + failed) },
      { name: 'failed', count: ({ failed }) => failed, mark: 'failed', content: linkToFailed },
      { name: 'errored', count: ({ errored }) => errored, mark: 'undecided' },
    ],
  });
}

const CSS = `
ul.comparisons { display: flex; flex-wrap: wrap; gap: 0 1rem; list-style: none; margin: 0.75rem 0;
  padding: 0; }
`;
