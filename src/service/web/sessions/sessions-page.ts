import { formatCount, formatInstant, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { isoTime } from '../../../platform/clock.ts';
import { decideVerdict, makeDeepLink } from '../../domain/sessions.ts';
import type { Session, SessionFilter, SessionKind } from '../../store/store.ts';
import {
  linkTo,
  renderKindTabs,
  renderPages,
  renderServicePage,
  type PageContext,
} from '../frame/page-frame.ts';

/** A page of sessions, and the query that found them. */
export interface SessionList {
  filter: SessionFilter;
  /** The query as sent, for the fields of the form. */
  query: URLSearchParams;
  sessions: readonly Session[];
  total: number;
  /** Why the query is invalid. The page then has no sessions. */
  problem?: string | undefined;
}

/** Renders the list of sessions of one kind, newest first, with the filters of the results endpoint. */
export function renderSessionsPage(list: SessionList, context: PageContext): string {
  const { filter, query, sessions, total, problem } = list;
  const title = `${filter.kind === 'production' ? 'Production' : 'Simulation'} sessions`;
  return renderServicePage(
    {
      title,
      section: 'Sessions',
      main: html`<h1>${title}</h1>
        ${renderKindTabs(context, '/sessions', filter.kind)}
        ${renderForm(filter.kind, query, context)}
        ${problem === undefined ? undefined : html`<p class="fail" role="alert">${problem}</p>`}
        <p>${describeTotal(total, query)}</p>
        ${sessions.length === 0 ? renderEmpty(filter.kind, query, context) : renderTable(sessions)}
        ${renderPages({ path: '/sessions', query, ...filter, total })}`,
    },
    context,
  );
}

function describeTotal(total: number, query: URLSearchParams): string {
  return hasFilter(query)
    ? `${formatCount(total, 'session')} with these filters, newest first.`
    : `${formatCount(total, 'session')}, newest first.`;
}

const FILTERS = ['agent', 'run', 'eval', 'started_after', 'started_before', 'failed_only'] as const;

const hasFilter = (query: URLSearchParams): boolean =>
  FILTERS.some((name) => (query.get(name) ?? '') !== '');

/** Renders the filters as a form that works by GET, so that each view has a URL. */
function renderForm(kind: SessionKind, query: URLSearchParams, { owner }: PageContext): Html {
  const field = (name: string, label: string, more: Record<string, string> = {}): Html => {
    const attributes = Object.entries(more).map(([key, value]) => html`${key}="${value}" `);
    return html`<label
      >${label} <input name="${name}" value="${query.get(name) ?? ''}" ${attributes}
    /></label>`;
  };
  return html`<form action="/sessions" class="filters" role="search">
    <input type="hidden" name="kind" value="${kind}" />
    ${owner === undefined ? undefined : html`<input type="hidden" name="owner" value="${owner}" />`}
    ${kind === 'production' ? field('run', 'Run contains') : field('agent', 'Agent contains')}
    ${field('eval', 'Eval contains')}
    ${field('started_after', 'Started after', { placeholder: '2026-11-20T09:30:00Z' })}
    ${field('started_before', 'Started before', { placeholder: '2026-11-21' })}
    <label
      ><input
        type="checkbox"
        name="failed_only"
        value="true"
        ${query.get('failed_only') === 'true' ? 'checked' : ''}
      />
      failed only</label
    >
    <button>Filter</button>
  </form>`;
}

function renderEmpty(kind: SessionKind, query: URLSearchParams, context: PageContext): Html {
  if (hasFilter(query)) {
    return html`<p>
      No session matches. Text matches part of a name, in any case.
      <a href="${linkTo(context, '/sessions', { kind })}">Show all ${kind} sessions</a>
    </p>`;
  }
  if (kind === 'simulation') {
    return html`<p>
      No simulation has run yet. Start one with <code>POST /__admin/simulations</code>.
    </p>`;
  }
  return html`<p>
    No scored sessions yet. A conversation appears here when it is closed and an eval has scored it.
    The
    <a href="${linkTo(context, '/')}">overview</a> shows what arrived and why data is missing.
  </p>`;
}

function renderTable(sessions: readonly Session[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Sessions">
    <table>
      <thead>
        <tr>
          <th>session</th>
          <th>verdict</th>
          <th class="number">passed</th>
          <th>failed and errored evals</th>
          <th>run</th>
          <th>started</th>
        </tr>
      </thead>
      <tbody>
        ${sessions.map(renderRow)}
      </tbody>
    </table>
  </div>`;
}

const OUTCOMES_MAX = 5;

function renderRow(session: Session): Html {
  const { id, status, outcomes, run, simulation, agent, startedAtMs } = session;
  const verdict = decideVerdict(session);
  const judged = outcomes.filter(({ outcome }) => outcome !== 'error');
  const passed = judged.filter(({ outcome }) => outcome === 'pass').length;
  const open = outcomes.filter(({ outcome }) => outcome !== 'pass');
  const name = session.sourceSessionId ?? session.scenario ?? id;
  const link = makeDeepLink(session, '');
  return html`<tr>
    <td>${link === null ? html`${name}` : html`<a href="${link}">${name}</a>`}</td>
    <td>
      <span class="${verdict}">${verdict}</span>
      ${status === 'completed' ? undefined : html`<span class="soft">${status}</span>`}
    </td>
    <td class="number">${formatNumber(passed)} of ${formatNumber(judged.length)}</td>
    <td>
      ${open
        .slice(0, OUTCOMES_MAX)
        .map(
          ({ evalName, outcome }) =>
            html`<span class="${outcome}"
              >${evalName}${outcome === 'error' ? ' (errored)' : ''}</span
            >`,
        )}
      ${open.length > OUTCOMES_MAX ? `and ${open.length - OUTCOMES_MAX} more` : ''}
    </td>
    <td>
      ${run?.name ?? simulation?.name ?? ''}${agent ? html` <span class="soft">${agent.name}</span>` : undefined}
    </td>
    <td class="when">${formatInstant(isoTime(startedAtMs))}</td>
  </tr>`;
}
