import { CHART_CSS } from '../../../report-kit/chart.ts';
import { formatCount, formatNumber, formatShare } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems, type ItemColumn } from '../../../report-kit/table.ts';
import { createTimeColumn } from '../../../report-kit/time.ts';
import type { ParameterError } from '../../requests/errors.ts';
import type { RunFilter, RunSummary, SessionKind } from '../../store/store.ts';
import {
  linkTo,
  renderKindTabs,
  renderPages,
  renderServicePage,
  type PageContext,
} from '../frame/page-frame.ts';
import { renderProblem } from '../frame/fields.ts';
import {
  renderFilterField,
  renderFilterForm,
  renderScope,
  renderTimeFilters,
} from '../frame/filter-form.ts';
import { describeField } from '../frame/list-filter.ts';
import { pathOfRun } from './run-links.ts';
import { HEAT_MAP_CSS, renderHeatMap } from './heat-map.ts';
import type { JudgedRun } from './judge-runs.ts';
import { renderPassRates } from './pass-rate-chart.ts';
import { renderResponseTimes, type TimesByRun } from './response-time-chart.ts';
import { scenarioLinks, type StoredDefinitions } from './stored-definitions.ts';
import { TIMED_SESSIONS_MAX } from './time-runs.ts';

/** A page of production runs or simulations, and the query that found them. */
export interface RunList {
  filter: RunFilter;
  query: URLSearchParams;
  runs: readonly RunSummary[];
  /** The newest simulations with the results of their scenarios. */
  judged: readonly JudgedRun[];
  /** How fast the newest sessions were, and how the evals scored them. */
  times: TimesByRun;
  stored: StoredDefinitions;
  total: number;
  nowMs: number;
  /** Why the query is invalid. The page then has no runs. */
  problem?: ParameterError | undefined;
}

/** Renders the production runs or the simulations, with their pass rates. */
export function renderRunsPage(list: RunList, context: PageContext): string {
  const { filter, query, problem } = list;
  const { kind } = filter;
  const title = kind === 'production' ? 'Runs' : 'Simulations';
  return renderServicePage(
    {
      title,
      section: 'Runs',
      css: `${CHART_CSS}${HEAT_MAP_CSS}${RUNS_CSS}`,
      main: html`<h1>${title}</h1>
        ${renderKindTabs(context, '/runs', kind)} ${renderFilters(kind, query, context)}
        ${
          problem === undefined
            ? renderFound(list, context)
            : renderProblem(describeField(problem, LABELS))
        }`,
    },
    context,
  );
}

function renderFound(
  { filter, query, runs, judged, times, stored, total, nowMs }: RunList,
  context: PageContext,
): Html {
  const { kind } = filter;
  const noun = kind === 'production' ? 'run' : 'simulation';
  return html`<p>
      ${formatCount(total, noun)}${hasFilter(query) ? ' with these filters' : ''}, newest session
      first.
    </p>
    ${
      runs.length === 0
        ? renderEmpty(kind, query, context)
        : html`<div class="charts">
              ${renderPassRates(runs, times, { kind, nowMs })}
              ${renderResponseTimes(runs, times, { kind, nowMs })}
            </div>
            ${describeTimed(runs, kind)} ${renderChoice(runs, kind, context)}
            ${renderPages({ path: '/runs', query, ...filter, total })}
            ${renderHeatMap(judged, context, scenarioLinks(stored, context))}`
    }`;
}

/** Says which sessions the charts leave out, if any. */
function describeTimed(runs: readonly RunSummary[], kind: SessionKind): Html | false {
  const most = TIMED_SESSIONS_MAX[kind];
  if (runs.every(({ sessions }) => sessions <= most)) return false;
  const charts = kind === 'production' ? 'Charts of one agent or channel, and' : 'Charts';
  return html`<p class="soft">
    ${charts} of response times count the newest ${most} sessions of each
    ${kind === 'production' ? 'run' : 'simulation'}.
  </p>`;
}

const LABELS = {
  name: 'Name contains',
  started_after: 'With a session after',
  started_before: 'With a session before',
};

const hasFilter = (query: URLSearchParams): boolean =>
  Object.keys(LABELS).some((name) => (query.get(name) ?? '') !== '');

function renderFilters(kind: SessionKind, query: URLSearchParams, context: PageContext): Html {
  const list = { query, labels: LABELS };
  return renderFilterForm(context, {
    path: '/runs',
    kind,
    body: html`${renderFilterField(list, 'name')} ${renderTimeFilters(list)}
      <button class="quiet">Filter</button>`,
  });
}

function renderEmpty(kind: SessionKind, query: URLSearchParams, context: PageContext): Html {
  if (hasFilter(query)) {
    return html`<p>
      Nothing matches. Text matches part of a name, in any case.
      <a href="${linkTo(context, '/runs', { kind })}">Remove the filters</a>
    </p>`;
  }
  return kind === 'production'
    ? html`<p>No runs yet. A conversation joins the run of its day when it is closed.</p>`
    : html`<p>
        No simulation has run yet. Start one from
        <a href="${linkTo(context, '/scenarios')}">the scenarios</a>.
      </p>`;
}

/** Renders runs in a form that leads to the comparison of two of them; by default, the newest two. */
export function renderChoice(
  runs: readonly RunSummary[],
  kind: SessionKind,
  context: PageContext,
  given: { a?: string | undefined; b?: string | undefined } = {},
): Html {
  const others = runs.filter(({ id }) => id !== given.a && id !== given.b);
  const b = given.b ?? others.shift()?.id;
  const chosen = { a: given.a ?? others[0]?.id, b };
  if (runs.length < 2) return renderRuns(runs, kind, context);
  return html`<form action="/compare" class="choice">
    ${renderScope(context, kind)}
    <p>
      <button>Compare</button>
      <span class="soft">Choose an earlier run under "before" and a later one under "after".</span>
    </p>
    ${renderRuns(runs, kind, context, chosen)}
  </form>`;
}

/**
 * Renders runs as a table, with a bar for each pass rate.
 * @param chosen The runs that are chosen for a comparison; without it, none can be chosen.
 */
export function renderRuns(
  runs: readonly RunSummary[],
  kind: SessionKind,
  context: PageContext,
  chosen?: { a: string | undefined; b: string | undefined },
): Html {
  const renderName = ({ id, name, state }: RunSummary): Html =>
    html`<a href="${linkTo(context, pathOfRun(kind, id))}">${name}</a>
      ${state === 'running' && html`<span class="undecided">running</span>`}
      ${state === 'canceled' && html`<span class="soft">canceled</span>`}`;
  return renderItems({
    label: 'Runs',
    items: runs,
    columns: [
      { name: kind === 'production' ? 'run' : 'simulation', content: renderName },
      ...(chosen
        ? [columnOfChoice('a', 'before', chosen), columnOfChoice('b', 'after', chosen)]
        : []),
      { name: 'sessions', isNumber: true, content: ({ sessions }) => formatNumber(sessions) },
      { name: 'with a failed eval', count: ({ failedSessions }) => failedSessions, mark: 'failed' },
      {
        name: 'with an errored eval',
        count: ({ erroredSessions }) => erroredSessions,
        mark: 'undecided',
      },
      { name: 'not completed', count: ({ incompleteSessions }) => incompleteSessions, mark: '' },
      {
        name: 'passed evals',
        content: ({ passedEvaluations, evaluations }) => renderRate(passedEvaluations, evaluations),
      },
      createTimeColumn<RunSummary>({
        name: 'newest session',
        msOf: ({ newestStartMs }) => newestStartMs,
      }),
    ],
  });
}

/** Returns the column where one run of a comparison is chosen. */
const columnOfChoice = (
  field: 'a' | 'b',
  name: 'before' | 'after',
  chosen: { a: string | undefined; b: string | undefined },
): ItemColumn<RunSummary> => ({
  name,
  headingClass: 'when',
  content: (run) =>
    html`<input
      type="radio"
      name="${field}"
      value="${run.id}"
      aria-label="${name === 'before' ? 'Before' : 'After'}: ${run.name}"
      ${chosen[field] === run.id ? 'checked' : ''}
    />`,
});

/** Renders how many outcomes passed as numbers and a bar. */
export function renderRate(passed: number, judged: number): Html {
  if (judged === 0) return html`<span class="soft">none</span>`;
  const rate = passed / judged;
  return html`<div class="rate">
    <span class="soft">${formatNumber(passed)} of ${formatNumber(judged)}</span>
    ${formatShare(rate, 1)}
    <svg aria-hidden="true"><rect width="${Math.round(rate * 100)}%" height="6" /></svg>
  </div>`;
}

/** CSS rules of tables of runs. */
export const RUNS_CSS = `
.choice { margin-top: 1.5rem; }
.choice :is(th.when, td:has(input)) { min-width: 3.5rem; }
.choice tbody th { min-width: 10rem; }
`;
