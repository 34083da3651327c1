import { pageHeaders } from '../../../http-kit/pages.ts';
import { LIST_CSS } from '../../../report-kit/front-page.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { hashSource, renderPage } from '../../../report-kit/page.ts';
import { TRANSCRIPT_CSS } from '../../../report-kit/transcript.ts';
import type { Page } from '../../store/store.ts';
import { LIVE_SCRIPT } from './live.ts';

/** The reader of a page. */
export interface PageContext {
  /** Name of the owner whose data is shown, if the URL names one; links keep it. */
  owner: string | undefined;
  /** Base URL at which the browser reaches the service. */
  serviceUrl: string;
  /** The token that forms must contain; undefined if the reader may not change anything. */
  token: string | undefined;
  /** Whether the reader has signed in. */
  hasSession: boolean;
  /** Code of what the reader has just done, from the URL. */
  notice: string | undefined;
}

/** The context of pages for readers that are not known. */
export const UNKNOWN_READER: PageContext = {
  owner: undefined,
  serviceUrl: '',
  token: undefined,
  hasSession: false,
  notice: undefined,
};

/** The content of a page of the service. */
export interface ServicePage {
  title: string;
  /** The entry of the navigation that the page belongs to, if it is not the title. */
  section?: string;
  /** CSS rules of this page. */
  css?: string;
  /** Whether the page leads to the others (default: true). */
  hasNavigation?: boolean;
  main: Html;
}

/** Headers of every page: it can reach nothing but this service, and runs no script but the kit's own. */
export const servicePageHeaders = {
  ...pageHeaders,
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `script-src ${hashSource(LIVE_SCRIPT)}`,
    ...["connect-src 'self'", "media-src 'self'", "form-action 'self'"],
    ...["base-uri 'none'", "frame-ancestors 'none'"],
  ].join('; '),
  // Without a referrer, browsers would send forms without their origin.
  'referrer-policy': 'same-origin',
};

type Parameters = Readonly<Record<string, string>>;

/** Returns the URL of a page with query parameters, for the same owner. */
export function linkTo({ owner }: PageContext, path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams({ ...parameters, ...(owner !== undefined && { owner }) });
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** The navigation of all pages, by groups. */
const SECTIONS: readonly [path: string, name: string, parameters?: Parameters][] = [
  ['/', 'Overview'],
  ['/sessions', 'Production sessions', { kind: 'production' }],
  ['/sessions', 'Simulation sessions', { kind: 'simulation' }],
  ['/runs', 'Runs', { kind: 'production' }],
  ['/runs', 'Simulations', { kind: 'simulation' }],
  ['/scenarios', 'Scenarios'],
  ['/agents', 'Agents'],
  ['/evals', 'Evals'],
  ['/transcripts', 'Upload'],
  ['/settings', 'Settings'],
];

/** Renders a page of the service. It is complete without its script, and sends no request elsewhere. */
export function renderServicePage(page: ServicePage, context: PageContext): string {
  const { title, css = '', hasNavigation = true, main } = page;
  return renderPage({
    title: `${title} - sandbox-kit`,
    css: `${CSS}${css}`,
    script: LIVE_SCRIPT,
    usesServer: true,
    body: html`${hasNavigation ? renderNavigation(page, context) : undefined}
      <main>${main}</main>`,
  });
}

function renderNavigation({ title, section = title }: ServicePage, context: PageContext): Html {
  return html`<nav aria-label="Pages">
    ${SECTIONS.map(
      ([path, name, parameters]) =>
        html`<a
          href="${linkTo(context, path, parameters)}"
          ${name === section ? html`aria-current="page"` : ''}
          >${name}</a
        >`,
    )}
    ${context.owner === undefined ? undefined : html`<span class="soft">Owner ${context.owner}</span>`}
    ${
      context.hasSession
        ? html`<form method="post" action="/sign-out"><button>Sign out</button></form>`
        : undefined
    }
  </nav>`;
}

/** Renders what the reader has just done: the sentence for the code in the URL, if there is one. */
export function renderNotice(
  { notice = '' }: PageContext,
  sentences: Readonly<Record<string, string>>,
): Html | undefined {
  if (!Object.hasOwn(sentences, notice)) return undefined;
  return html`<p class="notice" role="status">${sentences[notice]}</p>`;
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
    {
      title: 'Session not found',
      main: html`<h1>Session not found</h1>
        <p>
          No session has this address. It was never scored, it belongs to another owner, or the
          service was reset after the link was created.
        </p>`,
    },
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
.form { margin: 1rem 0; }
.form label { display: block; margin: 0.75rem 0; }
.form :is(input:not([type='checkbox'], [type='radio']), select, textarea) { display: block;
  width: 32rem; }
.form textarea { min-height: 12rem; font: 0.8125rem/1.5 ui-monospace, monospace; width: 100%; }
.notice { background: var(--box); border-left: 4px solid var(--good); padding: 0.5rem 1rem; }
button { cursor: pointer; }
input, button, select, textarea { background: var(--page); border: 1px solid var(--soft-ink); border-radius: 0.375rem;
  color: inherit; font: inherit; max-width: 100%; padding: 0.25rem 0.5rem; }
button:focus-visible, select:focus-visible, textarea:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
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
