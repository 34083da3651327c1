import { html, type Html } from '../../report-kit/html.ts';
import { renderPage } from '../../report-kit/page.ts';

/** Headers of every page: neither the page nor the content of a conversation can fetch anything. */
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

export const HTML_TYPE = 'text/html; charset=utf-8';

const CSS = `
body { max-width: 52rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem; margin: 0; }
dd { min-width: 0; }
ul, ol { list-style: none; margin: 0; padding: 0; }
li.outcome, li.turn { border-top: 1px solid var(--line); padding: 0.6rem 0; }
.mark { font-weight: 600; }
.said { background: var(--box); border-radius: 0.5rem; margin: 0.3rem 0; padding: 0.5rem 0.75rem;
  white-space: pre-wrap; }
.user { margin-right: 12%; } .agent { margin-left: 12%; }
details { margin: 0.3rem 0 0.3rem 12%; }
code.tag { background: var(--box); border-radius: 0.3rem; display: inline-block; margin: 0.1rem 0;
  padding: 0 0.4rem; }
`;

/** Renders a page of the service, without a script and without a request to anywhere. */
export function renderServicePage(title: string, main: Html): string {
  return renderPage({ title, css: CSS, body: html`<main>${main}</main>` });
}

/** Renders the page for a session that does not exist. */
export function renderMissingSessionPage(): string {
  return renderServicePage(
    'Session not found',
    html`<h1>Session not found</h1>
      <p>
        No session has this address. It was never scored, it belongs to another owner, or the
        service was reset after the link was created.
      </p>`,
  );
}
