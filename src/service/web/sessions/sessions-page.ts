import { cutText, formatCount, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { ParameterError } from '../../requests/errors.ts';
import type { Session, SessionFilter, SessionKind } from '../../store/store.ts';
import { linkTo, renderPages, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { renderProblem } from '../frame/fields.ts';
import { renderFilterField, renderFilterForm, renderTimeFilters } from '../frame/filter-form.ts';
import { describeField } from '../frame/list-filter.ts';
import { pathOfRun } from '../runs/run-links.ts';
import { OUTCOME_FILTERS } from './session-filter.ts';
import { renderSessionTable, SESSION_TABLE_CSS } from './session-table.ts';
import { renderSessionTabs } from './session-tabs.ts';

/** A page of sessions, and the query that found them. */
export interface SessionList {
  filter: SessionFilter;
  /** The query as sent, for the fields of the form. */
  query: URLSearchParams;
  sessions: readonly Session[];
  total: number;
  /** Set if a search covered only this number of the newest sessions. */
  searched?: number;
  /** Why the query is invalid. The page then has no sessions. */
  problem?: ParameterError | undefined;
}

/** Renders the list of sessions of one kind, newest first, with the filters of the results endpoint. */
export function renderSessionsPage(list: SessionList, context: PageContext): string {
  const { filter, query, problem } = list;
  const title = `${filter.kind === 'production' ? 'Production' : 'Simulation'} sessions`;
  return renderServicePage(
    {
      title,
      section: 'Sessions',
      css: SESSION_TABLE_CSS,
      main: html`<h1>${title}</h1>
        ${renderSessionTabs(context, filter.kind)} ${renderFilters(filter.kind, query, context)}
        ${
          problem === undefined
            ? renderFound(list, context)
            : renderProblem(describeField(problem, LABELS))
        }`,
    },
    context,
  );
}

const LABELS = {
  text: 'Text of the conversation',
  tag: 'Tags',
  run: 'Run contains',
  agent: 'Agent contains',
  eval: 'Eval contains',
  outcome: 'Outcome',
  started_after: 'Started after',
  started_before: 'Started before',
};

function renderFound(list: SessionList, context: PageContext): Html {
  const { filter, query, sessions, total } = list;
  return html`${renderExact(list, context)}
    <p>${describeTotal(list)}</p>
    ${
      sessions.length === 0
        ? renderEmpty(filter.kind, query, context)
        : renderSessionTable(sessions, query, context)
    }
    ${renderPages({ path: '/sessions', query, ...filter, total })}`;
}

function describeTotal({ total, query, searched }: SessionList): string {
  const count = formatCount(total, 'session');
  if (!hasFilter(query)) return `${count}, newest first.`;
  const found = `${count} with these filters, newest first.`;
  if (searched === undefined) return found;
  return (
    `${found} The search covered the newest ${formatNumber(searched)} sessions that match the other ` +
    'filters. To search older ones, set "Started before" or name a run or agent.'
  );
}

/** Filters that links set and that the form keeps. */
const EXACT_FILTERS = ['run_id', 'scenario_id', 'eval_id', 'eval_version'];

const FILTERS = [...Object.keys(LABELS), 'failed_only', ...EXACT_FILTERS];

const hasFilter = (query: URLSearchParams): boolean =>
  FILTERS.some((name) => (query.get(name) ?? '') !== '');

/** Says to which run and eval the list is limited, with the names that the sessions found have. */
function renderExact(
  { filter: { kind, runId, scenarioId, evalId, evalVersion = '' }, query, sessions }: SessionList,
  context: PageContext,
): Html | undefined {
  if (runId === undefined && evalId === undefined) return undefined;
  const [first] = sessions;
  const runName = (first?.run ?? first?.simulation)?.name ?? runId ?? '';
  const evalName = first?.outcomes.find((outcome) => outcome.evalId === evalId)?.evalName ?? evalId;
  const others = [...query].filter(([name]) => ![...EXACT_FILTERS, 'skip'].includes(name));
  const run =
    runId === undefined
      ? undefined
      : html`${kind === 'production' ? 'run' : 'simulation'}
          <a href="${linkTo(context, pathOfRun(kind, runId))}"
            >${cutText(runName, NAME_LENGTH_MAX)}</a
          >${scenarioId !== undefined && `, scenario ${cutText(scenarioId, NAME_LENGTH_MAX)}`}`;
  const ofEval =
    evalName === undefined
      ? undefined
      : html`eval
        ${cutText(evalName, NAME_LENGTH_MAX)}${evalVersion !== '' && `, version ${evalVersion}`}`;
  return html`<p>
    Only ${run}${run && ofEval ? ', ' : ''}${ofEval}.
    <a href="${linkTo(context, '/sessions', Object.fromEntries(others))}">Show all</a>
  </p>`;
}

/** The most characters of the name of a run or an eval. */
const NAME_LENGTH_MAX = 200;

function renderFilters(kind: SessionKind, query: URLSearchParams, context: PageContext): Html {
  const list = { query, labels: LABELS };
  const field = (name: keyof typeof LABELS, placeholder?: string): Html =>
    renderFilterField(list, name, placeholder);
  return renderFilterForm(context, {
    path: '/sessions',
    kind,
    body: html`${EXACT_FILTERS.filter((name) => query.get(name)).map(
        (name) => html`<input type="hidden" name="${name}" value="${query.get(name) ?? ''}" />`,
      )}
      ${field('text')} ${field('tag', 'model=mini, tier=gold')}
      ${field(kind === 'production' ? 'run' : 'agent')} ${field('eval')}
      ${renderOutcomeFilter(query)} ${renderTimeFilters(list)}
      <button class="quiet">Filter</button>`,
  });
}

/** Renders the filter by outcome. `failed_only` of the results endpoint is the same as `failed`. */
function renderOutcomeFilter(query: URLSearchParams): Html {
  const isFailedOnly = ['true', '1'].includes(query.get('failed_only')?.toLowerCase() ?? '');
  const chosen = query.get('outcome') || (isFailedOnly ? 'failed' : '');
  return html`<label
    >Outcome
    <select name="outcome">
      <option value="">any</option>
      ${Object.entries(OUTCOME_FILTERS).map(
        ([value, name]) =>
          html`<option value="${value}" ${value === chosen ? 'selected' : ''}>${name}</option>`,
      )}
    </select></label
  >`;
}

function renderEmpty(kind: SessionKind, query: URLSearchParams, context: PageContext): Html {
  if (hasFilter(query)) {
    return html`<p>
      No session matches. Text and names match in part and in any case; tags match exactly.
      <a href="${linkTo(context, '/sessions', { kind })}">Show all ${kind} sessions</a>
    </p>`;
  }
  if (kind === 'simulation') {
    return html`<p>
      No simulation has run yet. Start one from a
      <a href="${linkTo(context, '/scenarios')}">scenario</a>.
    </p>`;
  }
  return html`<p>
    No scored sessions yet. A conversation appears here when it is closed and an eval has scored it.
    The <a href="${linkTo(context, '/settings')}">settings</a> choose the evals. The
    <a href="${linkTo(context, '/')}">overview</a> shows what arrived and why data is missing.
  </p>`;
}
