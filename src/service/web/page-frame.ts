import { LIST_CSS } from '../../report-kit/front-page.ts';
import { html, type Html } from '../../report-kit/html.ts';
import { renderPage } from '../../report-kit/page.ts';
import { TRANSCRIPT_CSS } from '../../report-kit/transcript.ts';
import type { Page } from '../store/store.ts';

/** The reader of a page. */
export interface PageContext {
  /** Name of the owner whose data is shown, if the URL names one; links keep it. */
  owner: string | undefined;
  /** Base URL at which the browser reaches the service. */
  serviceUrl: string;
}

type Parameters = Readonly<Record<string, string>>;

/** Returns the URL of a page with query parameters, for the same owner. */
export function linkTo({ owner }: PageContext, path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams({ ...parameters, ...(owner !== undefined && { owner }) });
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** Renders a page of the service, without a script and without a request to anywhere. */
export function renderServicePage(title: string, main: Html, context: PageContext): string {
  const links: [path: string, name: string, parameters?: Parameters][] = [
    ['/', 'Overview'],
    ['/sessions', 'Production sessions', { kind: 'production' }],
    ['/sessions', 'Simulation sessions', { kind: 'simulation' }],
    ['/runs', 'Runs', { kind: 'production' }],
    ['/runs', 'Simulations', { kind: 'simulation' }],
  ];
  return renderPage({
    title: `${title} - sandbox-kit`,
    css: CSS,
    formAction: 'self',
    body: html`<nav aria-label="Pages">
        ${links.map(
          ([path, name, parameters]) =>
            html`<a
              href="${linkTo(context, path, parameters)}"
              ${name === title ? html`aria-current="page"` : ''}
              >${name}</a
            >`,
        )}
        ${context.owner === undefined ? undefined : html`<span class="soft">Owner ${context.owner}</span>`}
      </nav>
      <main>${main}</main>`,
  });
}

/** Renders links to the previous and the next page of a list; nothing if it has one page. */
export function renderPages({
  path,
  query,
  skip,
  limit,
  total,
}: Page & { path: string; query: URLSearchParams; total: number }): Html | undefined {
  if (total <= limit && skip === 0) return undefined;
  const linkFrom = (from: number, name: string): Html => {
    const changed = new URLSearchParams(query);
    changed.set('skip', String(from));
    return html`<a href="${path}?${changed.toString()}">${name}</a>`;
  };
  const last = Math.min(skip + limit, total);
  return html`<p class="pages">
    ${skip > 0 ? linkFrom(Math.max(0, skip - limit), 'Newer') : undefined}
    ${total === 0 ? '' : `${Math.min(skip + 1, total)} to ${last} of ${total}`}
    ${last < total ? linkFrom(skip + limit, 'Older') : undefined}
  </p>`;
}

/** Renders the page for a session that does not exist. */
export function renderMissingSessionPage(context: PageContext): string {
  return renderServicePage(
    'Session not found',
    html`<h1>Session not found</h1>
      <p>
        No session has this address. It was never scored, it belongs to another owner, or the
        service was reset after the link was created.
      </p>`,
    context,
  );
}

const CSS = `${LIST_CSS}${TRANSCRIPT_CSS}
body { max-width: 72rem; }
nav { border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: 0.25rem 1rem;
  padding-bottom: 0.5rem; }
nav a[aria-current] { font-weight: 600; text-decoration: none; }
ul, ol { list-style: none; margin: 0; padding: 0; }
li.outcome { border-top: 1px solid var(--line); padding: 0.6rem 0; }
.mark { font-weight: 600; }
.passed { color: var(--good); } .failed { color: var(--bad); } .undecided { color: var(--warn); }
code.tag { background: var(--box); border-radius: 0.3rem; display: inline-block; margin: 0.1rem 0;
  padding: 0 0.4rem; }
.counts { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; margin: 1rem 0; }
.counts b { font-size: 1.5rem; }
.remark { background: var(--box); border-left: 4px solid var(--warn); padding: 0.5rem 1rem; }
.log li { border-left: 4px solid var(--line); margin: 0.5rem 0; padding-left: 0.75rem; }
.log .soft { display: block; }
.log .level-error { border-color: var(--bad); } .log .level-warn { border-color: var(--warn); }
.filters { align-items: end; display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; margin: 1rem 0; }
.filters label { display: flex; flex-direction: column; }
.filters label:has([type='checkbox']) { align-items: center; flex-direction: row; gap: 0.3rem; }
input, button { background: var(--page); border: 1px solid var(--soft-ink); border-radius: 0.375rem;
  color: inherit; font: inherit; max-width: 100%; padding: 0.25rem 0.5rem; }
button:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--link); }
.scroll table { min-width: 44rem; }
.scroll td:first-child { min-width: 12rem; }
th, td { border-bottom: 1px solid var(--line); padding: 0.4rem 0.75rem 0.4rem 0; text-align: left;
  vertical-align: top; }
th { color: var(--soft-ink); font-size: 0.875rem; font-weight: 550; }
.number { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
.when { white-space: nowrap; }
td span + span { margin-left: 0.5rem; }
.rate svg { display: block; height: 6px; width: 8rem; }
.rate .track { fill: var(--line); } .rate .bar { fill: var(--good); }
td.time { min-width: 12rem; }
.time svg { background: var(--box); display: block; height: 10px; width: 100%; }
.time .bar { fill: var(--note); } .time .failing { fill: var(--bad); }
.pages { display: flex; gap: 1rem; }
`;
