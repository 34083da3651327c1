import { html, Html } from '../../report-kit/html.ts';

// Nothing is fetched: neither by the page nor, whatever a conversation holds, by its content.
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

export const htmlType = 'text/html; charset=utf-8';

const style = new Html(`
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --good: #1a7f37; --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --good: #4ac26b; --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.3rem; margin: 0.5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 2rem 0 0.5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem; margin: 0; }
dt { opacity: 0.7; } dd { margin: 0; overflow-wrap: anywhere; }
ul, ol { list-style: none; margin: 0; padding: 0; }
li.outcome, li.turn { border-top: 1px solid var(--line); padding: 0.6rem 0; }
.pass { color: var(--good); } .fail, .error { color: var(--bad); }
.mark { font-weight: 600; }
.soft { opacity: 0.7; font-size: 0.875rem; }
.said { background: var(--soft); border-radius: 0.5rem; margin: 0.3rem 0; padding: 0.5rem 0.75rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.user { margin-right: 12%; } .agent { margin-left: 12%; }
details { margin: 0.3rem 0 0.3rem 12%; }
summary { cursor: pointer; }
pre { background: var(--soft); border-radius: 0.5rem; margin: 0.3rem 0; overflow-x: auto;
  padding: 0.5rem 0.75rem; font-size: 0.875rem; }
code.tag { background: var(--soft); border-radius: 0.3rem; display: inline-block; margin: 0.1rem 0;
  overflow-wrap: anywhere; padding: 0 0.4rem; }
`);

/** A whole page, without a script and without a request to anywhere. */
export function pageOf(title: string, main: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${style}
        </style>
      </head>
      <body>
        <main>${main}</main>
      </body>
    </html> `.text;
}

/** What is shown when there is no such session. */
export function nothingPage(): string {
  return pageOf(
    'Nothing here',
    html`<h1>Nothing here</h1>
      <p>
        There is no such session: it was never scored, it belongs to somebody else, or the service
        was reset since the link was made.
      </p>`,
  );
}
