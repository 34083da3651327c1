import { isoTime } from '../../../platform/clock.ts';
import { CHART_CSS } from '../../../report-kit/chart.ts';
import {
  formatCount,
  formatInstant,
  formatList,
  formatNumber,
} from '../../../report-kit/format.ts';
import { renderRoutes, type FrontPage } from '../../../report-kit/front-page.ts';
import { html, withCode, type Html } from '../../../report-kit/html.ts';
import type { IngestLogEntry, OwnerCounts, RunSummary, SessionKind } from '../../store/store.ts';
import type { AgentReadiness } from '../../operations/agent-readiness.ts';
import type { Rejections } from '../../exporters/rejected-requests.ts';
import { renderReadiness } from '../agents/readiness-words.ts';
import { renderForm } from '../frame/forms.ts';
import { renderLive, type LiveContent } from '../frame/live.ts';
import { linkTo, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { EXPORTERS_CSS, EXPORTERS_PATH, renderExporters, type Exporters } from './exporters.ts';
import { EXPORTER_ANCHOR, renderStarts, STARTS_CSS } from './starts.ts';
import { renderPassRates } from '../runs/pass-rate-chart.ts';
import type { TimesByRun } from '../runs/response-time-chart.ts';
import { renderRuns, RUNS_CSS } from '../runs/runs-page.ts';

/** The most runs in a table. */
const RUNS_MAX = 5;

/** The part of the overview that changes while traces arrive. */
export interface News {
  counts: OwnerCounts;
  /** The newest entries of the ingest log. */
  log: readonly (IngestLogEntry & { atMs: number })[];
  /** The rejected requests; undefined if no request was rejected. */
  rejections: Rejections | undefined;
  /** Whether problems were dismissed that `log` and `rejections` leave out. */
  hasDismissed: boolean;
  /** Whether evals are chosen that score live traces. */
  hasLiveEvals: boolean;
  /** What happened to the database file, so that nothing is stored; undefined if nothing did. */
  fileChange: string | undefined;
}

/** The content of the overview. */
export interface Overview extends News, Omit<Exporters, 'log'> {
  /** The first agents, and the number of all. */
  agents: { shown: readonly AgentReadiness[]; total: number };
  /** The newest production runs. */
  runs: readonly RunSummary[];
  /** Their newest sessions, by agent and channel. */
  times: TimesByRun;
  /** The newest simulations. */
  simulations: readonly RunSummary[];
  nowMs: number;
  /** A description of the service, for readers who only have its URL. */
  about: Omit<FrontPage, 'title'>;
}

/** The most charts of production runs: one of all, and those of the most used agents and channels. */
const PRODUCTION_CHARTS_MAX = 3;

/** Renders the overview: received data, queued evals, failures, and reasons for missing data. */
export function renderOverviewPage(overview: Overview, context: PageContext): string {
  const { counts, agents, runs, times, simulations, nowMs, about } = overview;
  const isEmpty = isEmptyService(counts);
  const charts = [
    ...renderPassRates(runs, times, { kind: 'production', nowMs }).slice(0, PRODUCTION_CHARTS_MAX),
    ...renderPassRates(simulations, new Map(), { kind: 'simulation', nowMs }),
  ];
  return renderServicePage(
    {
      title: 'Overview',
      css: `${CHART_CSS}${RUNS_CSS}${STARTS_CSS}${EXPORTERS_CSS}`,
      main: html`<h1>Overview</h1>
        ${agents.total !== 0 && renderAgents(agents, context)}
        ${renderLive(linkTo(context, OVERVIEW_LIVE_PATH), renderNews(overview, context))}
        ${
          charts.length !== 0 &&
          html`<h2>Pass rates</h2>
            <div class="charts">${charts}</div>`
        }
        ${
          simulations.length !== 0 &&
          html`<h2>Newest simulations</h2>
            ${renderRuns(simulations.slice(0, RUNS_MAX), 'simulation', context)}
            <p>
              <a href="${linkTo(context, '/runs', { kind: 'simulation' })}">All simulations</a>
            </p>`
        }
        ${
          runs.length !== 0 &&
          html`<h2>Newest runs</h2>
            ${renderRuns(runs.slice(0, RUNS_MAX), 'production', context)}
            <p><a href="${linkTo(context, '/runs', { kind: 'production' })}">All runs</a></p>`
        }
        ${
          isEmpty
            ? html`<details open id="${EXPORTER_ANCHOR}">
                <summary>Send traces to this service</summary>
                ${renderExporters(overview, context)}
              </details>`
            : html`<p>
                <a href="${linkTo(context, EXPORTERS_PATH)}">Send traces to this service</a>
              </p>`
        }
        <details>
          <summary>Routes of this service</summary>
          ${renderRoutes(about)}
        </details>`,
    },
    context,
  );
}

function renderAgents({ shown, total }: Overview['agents'], context: PageContext): Html {
  return html`<h2>Agents</h2>
    <ul aria-label="Agents">
      ${shown.map(
        (readiness) =>
          html`<li class="agent">
            <a href="${linkTo(context, `/agents/${readiness.agent.id}`)}">${readiness.agent.name}</a
            >: ${renderReadiness(readiness)}
          </li>`,
      )}
    </ul>
    ${
      total > shown.length &&
      html`<p>
        <a href="${linkTo(context, '/agents')}">All ${formatNumber(total)} agents</a>
      </p>`
    }`;
}

/** Paths of the forms that dismiss problems, and that show them again. */
export const DISMISS_PATH = '/dismiss-problems';
export const RESTORE_PATH = '/restore-problems';
/** Path of the live part of the overview. */
export const OVERVIEW_LIVE_PATH = '/overview/live';

/** Renders the part that changes while traces arrive, until all of them are scored. */
export function renderNews(news: News, context: PageContext): LiveContent {
  const { counts, log, rejections, fileChange } = news;
  const isEmpty = isEmptyService(counts);
  return {
    isFinal: !isEmpty && counts.openConversations + counts.evaluatingSessions === 0,
    content: html`${
      fileChange !== undefined &&
      html`<p class="remark"><b>Nothing is stored anymore.</b> ${fileChange}</p>`
    }
    ${isEmpty && !rejections ? renderStarts(context) : renderCounts(news, context)}
    ${counts.openConversations > 0 && renderOpen(news, context)}
    ${counts.unscoredConversations > 0 && renderUnscored(counts, context)}
    ${(isEmpty || rejections || log.length > 0) && renderArrivals(news, isEmpty, context)}
    ${
      news.hasDismissed &&
      context.token !== undefined &&
      renderForm(context, {
        action: RESTORE_PATH,
        body: html`<button id="restore" class="quiet">
          Show dismissed reasons for missing data
        </button>`,
      })
    }`,
  };
}

const renderCounts = (news: News, context: PageContext): Html =>
  html`<ul class="counts">
    ${listCounts(news, context).map(
      ({ count, label, link, failed }) =>
        html`<li>
          <b>${formatNumber(count)}</b>
          ${link === undefined ? label : html`<a href="${link}">${label}</a>`}
          ${
            failed &&
            html`<a href="${failed.link}">${formatNumber(failed.count)} with a failed eval</a>`
          }
        </li>`,
    )}
  </ul>`;

const isEmptyService = ({ production, simulation, openConversations }: OwnerCounts): boolean =>
  production.total + simulation.total + openConversations === 0;

function renderOpen({ counts, hasLiveEvals }: News, context: PageContext): Html {
  const { openConversations: count } = counts;
  const [noun, it] = count === 1 ? ['conversation is', 'it'] : ['conversations are', 'each'];
  return html`<p class="remark">
    ${formatNumber(count)}
    <a href="${linkTo(context, '/sessions', { kind: 'open' })}">${noun} open</a> and not scored yet.
    <code>POST /v1/sessions/CONVERSATION_ID/end</code> closes ${it}. Otherwise, the service closes
    ${it} 24 hours after its last span.
    ${
      !hasLiveEvals &&
      html`No evals are chosen yet, so nothing would be scored.
        <a href="${linkTo(context, '/settings')}">Choose evals</a>`
    }
  </p>`;
}

/** A figure at the top, with a link to what it counts. */
interface Figure {
  count: number;
  label: string;
  link?: string;
  /** How many of the counted sessions have a failed eval. */
  failed?: { count: number; link: string };
}

function listCounts({ counts, rejections }: News, context: PageContext): Figure[] {
  const plural = (count: number): string => (count === 1 ? '' : 's');
  const countSessions = (kind: SessionKind): Figure => {
    const { listed, failed } = counts[kind];
    return {
      count: listed,
      label: `${kind} session${plural(listed)}`,
      link: linkTo(context, '/sessions', { kind }),
      failed: {
        count: failed,
        link: linkTo(context, '/sessions', { kind, failed_only: 'true' }),
      },
    };
  };
  const { openConversations: open, evaluatingSessions: evaluating } = counts;
  const rejected = rejections ? countAll(rejections) : 0;
  return [
    {
      count: open,
      label: `open conversation${plural(open)}`,
      link: linkTo(context, '/sessions', { kind: 'open' }),
    },
    { count: evaluating, label: `session${plural(evaluating)} being scored` },
    countSessions('production'),
    countSessions('simulation'),
    ...(rejected > 0
      ? [{ count: rejected, label: `rejected request${plural(rejected)}`, link: '#rejected' }]
      : []),
  ];
}

function renderUnscored({ unscoredConversations: count }: OwnerCounts, context: PageContext): Html {
  return html`<p class="remark">
    <a href="${linkTo(context, '/sessions', { kind: 'unscored' })}"
      >${formatCount(count, 'closed conversation')}</a
    >
    ${count === 1 ? 'is' : 'are'} not scored, because no evals were set.
    <a href="${linkTo(context, '/settings')}">Choose evals and score them</a>
  </p>`;
}

const countAll = ({ counts }: Rejections): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0);

/** Renders how many requests were rejected, and why the newest one was. */
function renderRejections(rejections: Rejections): Html {
  const { counts, newest } = rejections;
  const all = countAll(rejections);
  const byStatus = [...counts]
    .sort(([left], [right]) => left - right)
    .map(([status, count]) => `${formatNumber(count)} with ${status}`);
  return html`<p class="remark" id="rejected">
    ${formatCount(all, 'request')} ${all === 1 ? 'was' : 'were'} rejected since the service started:
    ${formatList(byStatus)}. The newest one, at ${formatInstant(isoTime(newest.atMs))}, got
    ${newest.status}: ${withCode(newest.message)}
  </p>`;
}

/** Renders each kind of problem in the ingest log once, with its count and its fix. */
function renderArrivals(
  { log, rejections }: Pick<News, 'log' | 'rejections'>,
  isEmpty: boolean,
  context: PageContext,
): Html {
  const kinds = [...Map.groupBy(log, ({ message }) => message).values()];
  return html`<h2>Why data may be missing</h2>
    ${rejections && renderRejections(rejections)}
    ${
      kinds.length === 0 &&
      isEmpty &&
      !rejections &&
      html`<p>
        No trace has arrived. Check the address and the key of your exporter, and that it flushes
        before its process ends.
      </p>`
    }
    <ul class="log">
      ${kinds.flatMap((entries) => {
        const [newest] = entries;
        if (!newest) return [];
        const when = formatInstant(isoTime(newest.atMs));
        const about = Object.entries(newest.about)
          .map(([name, value]) => `${name} ${value}`)
          .join(', ');
        return [
          html`<li class="level-${newest.level}">
            ${withCode(newest.message)}
            <span class="soft"
              >${newest.code}, ${formatCount(entries.length, 'time')}, last at
              ${when}${about === '' ? '' : `: ${about}`}</span
            >
          </li>`,
        ];
      })}
    </ul>
    ${
      (log.length > 0 || rejections !== undefined) &&
      context.token !== undefined &&
      renderForm(context, {
        action: DISMISS_PATH,
        body: html`<button id="dismiss" class="quiet">Dismiss</button>
          <span class="soft">Problems that occur later appear here.</span>`,
      })
    }`;
}
