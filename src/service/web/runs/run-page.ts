import type { ScenarioResult } from '../../../contract/index.ts';
import { isoTime } from '../../../platform/clock.ts';
import {
  cutText,
  formatCount,
  formatInstant,
  formatNumber,
  formatShare,
} from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import {
  describeEnd,
  explainSession,
  groupUnpassed,
  listReasons,
  type ExplainedSession,
} from '../../domain/simulation-results/reasons.ts';
import {
  decideRunVerdict,
  describeScenarios,
} from '../../domain/simulation-results/scenario-results.ts';
import type { WatchedSimulation } from '../../operations/simulations.ts';
import type { EvalCounts, Page, RunDetails, Session, SessionKind } from '../../store/store.ts';
import { renderLive, type LiveContent } from '../frame/live.ts';
import {
  linkTo,
  renderNotice,
  renderPages,
  renderServicePage,
  type PageContext,
} from '../frame/page-frame.ts';
import { linkToSession } from '../sessions/session-links.ts';
import { renderSessionTable, SESSION_TABLE_CSS } from '../sessions/session-table.ts';
import { passRateOf } from './pass-rate-chart.ts';
import { isUnderWay, PROGRESS_CSS, renderProgress } from './progress.ts';
import { formatRepeatCommand } from './repeat-command.ts';
import { pathOfRun, renderRate } from './runs-page.ts';
import { renderScenarios } from './scenario-table.ts';
import { numberColumn, renderTable } from '../frame/table.ts';

/** The content of the page of a production run or a simulation. */
export interface RunPage {
  kind: SessionKind;
  details: RunDetails;
  /** A simulation that this service started. */
  watched: WatchedSimulation | undefined;
  /** Simulation only. */
  scenarios: readonly ScenarioResult[];
  /** Sessions that did not pass, by scenario. */
  unpassed: readonly { scenario: ScenarioResult; sessions: readonly Session[] }[];
  list: Page & { sessions: readonly Session[]; total: number; query: URLSearchParams };
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
      css: `${PROGRESS_CSS}${SESSION_TABLE_CSS}${CSS}`,
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
    ${renderFacts(page)}
    <p>
      <a id="compare" href="${linkTo(context, '/compare', { kind, b: run.id })}"
        >Compare with another</a
      >
    </p>
    ${
      watched
        ? renderProgress(watched, context)
        : page.scenarios.length === 0
          ? undefined
          : html`<h2>Scenarios</h2>
              ${renderScenarios(page.scenarios)}`
    }
    ${renderCauses(page, context)}
    <h2>Evals</h2>
    ${renderEvals(evals, page, context)}
    <h2>Sessions</h2>
    ${
      list.total === 0
        ? html`<p>No session has ended yet.</p>`
        : html`<p>${formatCount(list.total, 'session')} stored.</p>
            ${renderSessionTable(list.sessions, listQueryOf(page), context)}`
    }
    ${renderPages({ path: pathOfRun(kind, run.id), ...list })}
    ${
      watched
        ? html`<details id="repeat">
            <summary>Repeat this simulation</summary>
            ${formatRepeatCommand(watched.plan, context)}
          </details>`
        : undefined
    }`;
  return { content, isFinal: watched === undefined || !isUnderWay(watched) };
}

/** Returns the list that the page of a session leads back to. */
const listQueryOf = ({ kind, details: { run } }: RunPage): URLSearchParams =>
  new URLSearchParams({ kind, ...(kind === 'production' && { run: run.name }) });

const HEADLINES = { passed: 'Passed', failed: 'Failed', undecided: 'Undecided' } as const;

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
  return html`<span class="mark ${verdict}">${HEADLINES[verdict]}:</span>
    ${describeScenarios(scenarios)}. ${evals}`;
}

function renderFacts({ details: { run }, watched, list }: RunPage): Html {
  const agent = watched?.plan.agent ?? list.sessions.find((session) => session.agent)?.agent;
  const instant = (ms: number | undefined): string | undefined =>
    ms === undefined ? undefined : formatInstant(isoTime(ms));
  const isEnded = watched === undefined || !isUnderWay(watched);
  const facts: [string, string | undefined][] = [
    ['Agent', agent && `${agent.name}${agent.url === '' ? '' : ` at ${agent.url}`}`],
    ['State', watched && STATES[watched.status]],
    ['Seed', watched?.plan.seed],
    ['Started', instant(watched?.plan.startedAtMs ?? run.oldestStartMs)],
    ['Ended', isEnded ? instant(run.newestEndMs) : undefined],
    ['With an errored eval', countSessions(run.erroredSessions)],
    ['Not completed', countSessions(run.incompleteSessions)],
    ['Being scored', countSessions(run.scoringSessions)],
  ];
  return html`<dl>
    ${facts.flatMap(([name, value]) =>
      value === undefined
        ? []
        : [
            html`<dt>${name}</dt>
              <dd>${value}</dd>`,
          ],
    )}
  </dl>`;
}

const STATES = {
  running: 'running',
  evaluating: 'being scored',
  completed: 'completed',
  cancelled: 'canceled',
} as const;

const countSessions = (count: number): string | undefined =>
  count === 0 ? undefined : formatCount(count, 'session');

/** The most characters of a reason. */
const REASON_LENGTH_MAX = 500;
/** The most groups of sessions of a scenario. */
const GROUPS_MAX = 5;

/** Renders why sessions did not pass, by scenario, with the most frequent reason first. */
function renderCauses({ unpassed }: RunPage, context: PageContext): Html | undefined {
  if (unpassed.length === 0) return undefined;
  return html`<h2>Why sessions did not pass</h2>
    ${unpassed.map(({ scenario, sessions }) => {
      const explained = sessions.map((session) => ({ ...explainSession(session), session }));
      const groups = groupUnpassed(explained);
      const all = scenario.failed + scenario.undecided;
      const omitted = groups.length - GROUPS_MAX;
      return html`<section class="causes">
        <h3>
          ${scenario.scenario_id}
          <span class="soft"
            >${formatNumber(scenario.passed)} of ${formatNumber(scenario.samples)} passed</span
          >
        </h3>
        ${
          sessions.length < all
            ? html`<p class="soft">
                Of ${formatCount(sessions.length, 'session')} of ${formatNumber(all)}:
              </p>`
            : undefined
        }
        <ul>
          ${groups.slice(0, GROUPS_MAX).map((group) => renderGroup(group, context))}
        </ul>
        ${omitted > 0 ? html`<p class="soft">and ${formatCount(omitted, 'more reason')}</p>` : undefined}
      </section>`;
    })}`;
}

function renderGroup(
  group: readonly (ExplainedSession & { session: Session })[],
  context: PageContext,
): Html {
  const [first] = group;
  if (!first) return html``;
  const links = group.map(({ session }) => {
    const sample = session.simulated?.['sample'];
    const name = typeof sample === 'number' ? `#${sample}` : session.id;
    const link = linkToSession(session, context);
    return link === undefined ? html`${name}` : html`<a href="${link}">${name}</a>`;
  });
  return html`<li>
    <span class="mark ${first.verdict}">${first.verdict}</span>
    ${formatCount(group.length, 'session')}, ${describeEnd(first)}
    <span class="samples">${links}</span>
    <ul class="reasons">
      ${listReasons(first).map((reason) => html`<li>${cutText(reason, REASON_LENGTH_MAX)}</li>`)}
    </ul>
  </li>`;
}

/** The most evals to show: those with the most failures first. */
const EVALS_MAX = 200;

function renderEvals(
  evals: readonly EvalCounts[],
  { kind, details: { run } }: RunPage,
  context: PageContext,
): Html {
  if (evals.length === 0) return html`<p>No eval has scored a session of this run.</p>`;
  const urgent = [...evals].sort((left, right) => right.failed - left.failed);
  return renderTable({
    label: 'Evals',
    columns: [
      'eval',
      numberColumn('passed'),
      'pass rate',
      numberColumn('failed'),
      numberColumn('errored'),
    ],
    rows: urgent.slice(0, EVALS_MAX).map(({ name, passed, failed, errored }) => {
      const judged = passed + failed;
      const query = { kind, run: run.name, eval: name, failed_only: 'true' };
      return html`<tr>
        <td>${name}</td>
        <td class="number">${formatNumber(passed)} of ${formatNumber(judged)}</td>
        <td class="rate">${judged === 0 ? '' : renderRate(passed / judged)}</td>
        <td class="number ${failed > 0 ? 'failed' : 'soft'}">
          ${
            failed > 0 && kind === 'production'
              ? html`<a href="${linkTo(context, '/sessions', query)}">${formatNumber(failed)}</a>`
              : formatNumber(failed)
          }
        </td>
        <td class="number ${errored > 0 ? 'undecided' : 'soft'}">${formatNumber(errored)}</td>
      </tr>`;
    }),
  });
}

const CSS = `
.verdict { font-size: 1.1rem; margin: 0.5rem 0; }
h3 { font-size: 1rem; margin: 0.75rem 0 0.25rem; }
.causes li { margin: 0.3rem 0; }
.causes ul.reasons { list-style: disc; padding-left: 1.5rem; }
.samples a { margin-left: 0.4rem; }
`;
