/** The frame of every HTML page that the kit writes: one file, unless a server has its stylesheet; prints well. */
import { createHash } from 'node:crypto';
import { html, Html } from './html.ts';
import { TABLE_CSS } from './table.ts';
import { TIME_CSS } from './time.ts';
import { VERDICT_CSS } from './verdict.ts';

/** What a page shows. */
export interface PageContent {
  title: string;
  /** CSS rules on top of the shared ones. */
  css?: string;
  /** The path of the shared rules on the server of the page; by default, the page contains them. */
  stylesheetPath?: string;
  /** A constant script. The page must be usable without it. */
  script?: string;
  /** Whether the page may send forms and requests to its own server (default: to nowhere). */
  usesServer?: boolean;
  body: Html;
}

/**
 * Renders a whole page. Its content security policy allows its style and its script by their hashes,
 * media files next to it, and nothing else but its own server.
 */
export function renderPage(content: PageContent): string {
  const { title, css = '', stylesheetPath, script, usesServer = false, body } = content;
  const style = stylesheetPath === undefined ? `${SHARED_CSS}${css}` : css;
  const server = usesServer ? "'self'" : "'none'";
  const policy = [
    "default-src 'none'",
    "media-src 'self'",
    `style-src ${hashSource(style)}${stylesheetPath === undefined ? '' : " 'self'"}`,
    ...(script === undefined ? [] : [`script-src ${hashSource(script)}`]),
    `connect-src ${server}`,
    "base-uri 'none'",
    `form-action ${server}`,
  ];
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="content-security-policy" content="${policy.join('; ')}" />
        <meta name="referrer" content="${usesServer ? 'same-origin' : 'no-referrer'}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${stylesheetPath !== undefined && html`<link rel="stylesheet" href="${stylesheetPath}" />`}
        ${style !== '' && new Html(`<style>${style}</style>`)}
      </head>
      <body>
        ${body} ${script !== undefined && new Html(`<script>${script}</script>`)}
      </body>
    </html> `.text;
}

/** Returns the source expression that allows an inline style or script. */
export const hashSource = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** CSS rules of all pages. */
export const SHARED_CSS = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1f2328; --soft-ink: #57606a; --line: #d0d7de; --box: #f6f8fa;
  --link: #0550ae; --target: #fff8c5;
  --good: #116329; --bad: #a40e26; --warn: #7d4e00; --note: #0550ae; --idle: #57606a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d1117; --ink: #e6edf3; --soft-ink: #9da7b3; --line: #30363d; --box: #161b22;
    --link: #79c0ff; --target: #3a2f0b;
    --good: #56d364; --bad: #ff9a92; --warn: #e3b341; --note: #79c0ff; --idle: #9da7b3;
  }
}
* { box-sizing: border-box; }
body { background: var(--page); color: var(--ink); margin: 0 auto; max-width: 60rem;
  overflow-wrap: anywhere; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0.4rem 0; }
h2 { font-size: 1.25rem; margin: 2rem 0 0.5rem; }
p { margin: 0.3rem 0; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, input:focus-visible { outline: 2px solid var(--link);
  outline-offset: 2px; }
summary { cursor: pointer; }
dt, .soft { color: var(--soft-ink); }
dd { margin: 0; }
a.soft { color: var(--link); }
.soft { font-size: 0.875rem; }
pre { background: var(--box); border-radius: 0.4rem; font: 0.8125rem/1.5 ui-monospace, monospace;
  margin: 0.3rem 0; padding: 0.5rem 0.75rem; white-space: pre-wrap; }
${TABLE_CSS}${TIME_CSS}${VERDICT_CSS}@media print {
  :root { color-scheme: light; --page: #fff; --ink: #000; --soft-ink: #444; --line: #bbb;
    --box: #fff; --link: #000; --target: #fff; --good: #116329; --bad: #a40e26; --warn: #7d4e00;
    --note: #0550ae; --idle: #444; }
  body { font-size: 10pt; max-width: none; padding: 0; }
}
`;
