import { LIST_CSS } from '../../report-kit/front-page.ts';
import { html, type Html } from '../../report-kit/html.ts';
import { renderPage } from '../../report-kit/page.ts';
import { TRANSCRIPT_CSS } from '../../report-kit/transcript.ts';

const CSS = `${LIST_CSS}${TRANSCRIPT_CSS}
body { max-width: 52rem; }
ul, ol { list-style: none; margin: 0; padding: 0; }
li.outcome { border-top: 1px solid var(--line); padding: 0.6rem 0; }
.mark { font-weight: 600; }
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
