import type { FastifyReply } from 'fastify';
import { HTML_TYPE, pageHeaders } from '../../../http-kit/pages.ts';
import { renderFactList } from '../../../report-kit/fact-list.ts';
import { formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { hashSource, renderPage } from '../../../report-kit/page.ts';
import { readScripts } from '../../../report-kit/scripts.ts';
import type { Page, SessionKind } from '../../store/store.ts';
import { STYLESHEET_PATH } from './stylesheet.ts';

/** The reader of a page. */
export interface PageContext {
  /** Name of the owner whose data is shown, if the URL names one; links keep it. */
  owner: string | undefined;
  /** Base URL of the service for the browser. */
  serviceUrl: string;
  /** The token that forms must contain; undefined if the reader may not change anything. */
  token: string | undefined;
  /** Name of the header that commands need for the API key; undefined on loopback. */
  keyHeader: string | undefined;
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
  keyHeader: undefined,
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
  /** Whether the page places calls from the browser (default: false). */
  placesCalls?: boolean;
  main: Html;
}

/** The script of all pages. Every page is complete without it. */
const PAGE_SCRIPT = readScripts([
  'find-elements',
  'label-tables',
  'live-parts',
  'keyboard',
  'send-with-enter',
  'play-timelines',
]);

/** The script of a page that places calls. */
const CALL_PAGE_SCRIPT = `${PAGE_SCRIPT}${readScripts(['call-levels', 'call', 'call-page'])}`;

/** Headers of every page: it can reach nothing but this service, and runs no script but the kit's own. */
export const servicePageHeaders = {
  ...pageHeaders,
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self' 'unsafe-inline'",
    `script-src ${hashSource(PAGE_SCRIPT)} ${hashSource(CALL_PAGE_SCRIPT)}`,
    ...["connect-src 'self'", "media-src 'self'", "form-action 'self'"],
    ...["base-uri 'none'", "frame-ancestors 'none'"],
  ].join('; '),
  // Without a referrer, browsers would send forms without their origin.
  'referrer-policy': 'same-origin',
};

/** Responds with a page. */
export const sendPage = (reply: FastifyReply, page: string): FastifyReply =>
  reply.headers(servicePageHeaders).type(HTML_TYPE).send(page);

type Parameters = Readonly<Record<string, string>>;

/** Returns the URL of a page with query parameters, for the same owner. */
export function linkTo({ owner }: PageContext, path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams({ ...parameters, ...(owner !== undefined && { owner }) });
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** The navigation of all pages. */
const SECTIONS: readonly [path: string, name: string, key: string][] = [
  ['/', 'Overview', 'o'],
  ['/sessions', 'Sessions', 's'],
  ['/runs', 'Runs', 'r'],
  ['/scenarios', 'Scenarios', 'c'],
  ['/agents', 'Agents', 'a'],
  ['/evals', 'Evals', 'e'],
  ['/transcripts', 'Upload', 'u'],
  ['/settings', 'Settings', 't'],
];

/** What keys do on every page, besides those of the navigation. */
const KEYS: readonly [keys: string, purpose: string][] = [
  ['/', 'Search'],
  ['?', 'Show these keys'],
  ['j, k', 'Next and previous row of a list, or session'],
];

/** Path of the search over everything. */
export const SEARCH_PATH = '/search';
/** The most characters of a search. */
export const SEARCH_CHARS_MAX = 200;

/** Renders a page of the service. It is complete without its script, and requests its stylesheet only. */
export function renderServicePage(page: ServicePage, context: PageContext): string {
  const { title, css = '', hasNavigation = true, placesCalls = false, main } = page;
  return renderPage({
    title: `${title} - sandbox-kit`,
    css,
    stylesheetPath: STYLESHEET_PATH,
    script: placesCalls ? CALL_PAGE_SCRIPT : PAGE_SCRIPT,
    usesServer: true,
    body: html`${hasNavigation && renderNavigation(page, context)}
      <main id="main" tabindex="-1">${main}</main>
      ${hasNavigation && renderKeyboard()}`,
  });
}

function renderNavigation({ title, section = title }: ServicePage, context: PageContext): Html {
  return html`<a class="skip" href="#main">Skip to the content</a>
    <nav class="site" aria-label="Pages">
      ${SECTIONS.map(([path, name, key]) =>
        renderLink(linkTo(context, path), name, name === section, key),
      )}
      ${context.owner !== undefined && html`<span class="soft">Owner ${context.owner}</span>`}
      ${
        context.hasSession &&
        html`<form method="post" action="/sign-out"><button class="quiet">Sign out</button></form>`
      }
      <form action="${SEARCH_PATH}" role="search" aria-label="Everything">
        ${context.owner !== undefined && html`<input type="hidden" name="owner" value="${context.owner}" />`}
        <input
          ${html`type="search" name="q" maxlength="${SEARCH_CHARS_MAX}"`}
          aria-label="Search everything"
          placeholder="Search ( / )"
        />
      </form>
    </nav>`;
}

/** Renders what opens with `?`. */
const renderKeyboard = (): Html =>
  html`<dialog id="keyboard" aria-labelledby="keyboard-title">
    <h2 id="keyboard-title">Keyboard</h2>
    ${renderKeys()}
    <form method="dialog"><button class="quiet">Close</button></form>
  </dialog>`;

/** Renders what each key does, and what turns the keys off. */
export const renderKeys = (): Html =>
  html`${renderFactList([
      ...KEYS.map(([keys, purpose]) => [html`<kbd>${keys}</kbd>`, purpose] as const),
      ...SECTIONS.map(([, name, key]) => [html`<kbd>g</kbd> <kbd>${key}</kbd>`, name] as const),
    ])}<label hidden
      ><input type="checkbox" data-single-keys /> These keys work in this browser</label
    >`;

/** Renders links to the views of a page, such as production and simulation. */
export function renderTabs(
  label: string,
  tabs: readonly { url: string; name: string; isCurrent: boolean }[],
): Html {
  return html`<nav class="tabs" aria-label="${label}">
    ${tabs.map(({ url, name, isCurrent }) => renderLink(url, name, isCurrent))}
  </nav>`;
}

/** Renders links to the production and the simulation view of a list. */
export const renderKindTabs = (context: PageContext, path: string, shown: SessionKind): Html =>
  renderTabs(
    'Kinds',
    (['production', 'simulation'] as const).map((kind) => ({
      url: linkTo(context, path, { kind }),
      name: kind === 'production' ? 'Production' : 'Simulation',
      isCurrent: kind === shown,
    })),
  );

function renderLink(url: string, name: string, isCurrent: boolean, key?: string): Html {
  const current = isCurrent ? html`aria-current="page"` : '';
  const shortcut = key === undefined ? '' : html` data-key="${key}"`;
  return html`<a href="${url}" ${current}${shortcut}>${name}</a>`;
}

/** Renders what the reader has just done: the sentence for the code in the URL, if there is one. */
export function renderNotice(
  { notice = '' }: PageContext,
  sentences: Readonly<Record<string, string | Html>>,
): Html | undefined {
  if (!Object.hasOwn(sentences, notice)) return undefined;
  return renderDone(sentences[notice] ?? '');
}

/** Renders what the reader has just done. The page starts with the focus on it. */
export const renderDone = (sentence: string | Html): Html =>
  html`<p class="notice" role="status" tabindex="-1" autofocus>${sentence}</p>`;

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
    // What the reader has just done is not what the other page is about.
    changed.delete('notice');
    changed.set('skip', String(from));
    return html`<a href="${path}?${changed.toString()}">${name}</a>`;
  };
  const last = Math.min(skip + limit, total);
  const [from, to, all] = [Math.min(skip + 1, total), last, total].map((each) =>
    formatNumber(each),
  );
  return html`<p class="pages">
    ${skip > 0 && linkFrom(Math.max(0, skip - limit), 'Newer')}
    ${total === 0 ? '' : `${from} to ${to} of ${all}`}
    ${last < total && linkFrom(skip + limit, 'Older')}
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
