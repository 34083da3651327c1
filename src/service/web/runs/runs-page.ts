import { isoTime } from '../../../platform/clock.ts';
import { formatInstant, formatNumber, formatShare } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { Page, RunSummary, SessionKind } from '../../store/store.ts';
import {
  linkTo,
  renderKindTabs,
  renderPages,
  renderServicePage,
  type PageContext,
} from '../frame/page-frame.ts';

/** A page of production runs or simulations. */
export interface RunList extends Page {
  kind: SessionKind;
  query: URLSearchParams;
  runs: readonly RunSummary[];
  total: number;
}

/** Renders the production runs or the simulations, newest first, with their pass rates. */
export function renderRunsPage(list: RunList, context: PageContext): string {
  const { kind, runs } = list;
  const title = kind === 'production' ? 'Runs' : 'Simulations';
  return renderServicePage(
    {
      title,
      section: 'Runs',
      main: html`<h1>${title}</h1>
        ${renderKindTabs(context, '/runs', kind)}
        ${runs.length === 0 ? renderEmpty(kind) : renderRuns(runs, kind, context)}
        ${renderPages({ path: '/runs', ...list })}`,
    },
    context,
  );
}

function renderEmpty(kind: SessionKind): Html {
  return kind === 'production'
    ? html`<p>No runs yet. A conversation joins the run of its day when it is closed.</p>`
    : html`<p>
        No simulation has run yet. Start one with <code>POST /__admin/simulations</code>.
      </p>`;
}

/** Renders runs as a table, with a bar for each pass rate. */
export function renderRuns(
  runs: readonly RunSummary[],
  kind: SessionKind,
  context: PageContext,
): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Runs">
    <table>
      <thead>
        <tr>
          <th>run</th>
          <th class="number">sessions</th>
          <th class="number">with a failed eval</th>
          <th class="number">passed evals</th>
          <th>pass rate</th>
          <th>newest session</th>
        </tr>
      </thead>
      <tbody>
        ${runs.map((run) => renderRun(run, kind, context))}
      </tbody>
    </table>
  </div>`;
}

function renderRun(run: RunSummary, kind: SessionKind, context: PageContext): Html {
  const { name, sessions, failedSessions, evaluations, passedEvaluations, newestStartMs } = run;
  const link =
    kind === 'production' ? linkTo(context, '/sessions', { kind, run: name }) : undefined;
  return html`<tr>
    <td>${link === undefined ? html`${name}` : html`<a href="${link}">${name}</a>`}</td>
    <td class="number">${formatNumber(sessions)}</td>
    <td class="number ${failedSessions > 0 ? 'fail' : ''}">${formatNumber(failedSessions)}</td>
    <td class="number">${formatNumber(passedEvaluations)} of ${formatNumber(evaluations)}</td>
    <td class="rate">${evaluations === 0 ? '' : renderRate(passedEvaluations / evaluations)}</td>
    <td class="when">
      ${newestStartMs === undefined ? '' : formatInstant(isoTime(newestStartMs))}
    </td>
  </tr>`;
}

/** Renders a pass rate as a number and a bar. */
function renderRate(rate: number): Html {
  return html`${formatShare(rate, 1)}
    <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="6"></rect>
      <rect class="bar" width="${Math.round(rate * 100)}" height="6"></rect>
    </svg>`;
}
