import { html, type Html } from './html.ts';

/** What the front page of a server says. */
export interface FrontPage {
  title: string;
  about: string;
  /** How a client authenticates. */
  access: Html | string;
  /** The routes for clients, such as `POST /users`, with their purposes. */
  calls: Readonly<Record<string, string>>;
  /** Paths of machine-readable contracts, with their purposes. */
  contract: Readonly<Record<string, string>>;
  /** Paths of test controls, with their purposes. */
  control: Readonly<Record<string, string>>;
  documents: readonly string[];
}

/** Renders the front page of a server, for people who have only its URL. */
export function renderFrontPage(page: FrontPage): Html {
  return html`<h1>${page.title}</h1>
    ${renderRoutes(page)}`;
}

/** Renders the routes of a server without a heading, as a part of a page. */
export function renderRoutes(page: Omit<FrontPage, 'title'>): Html {
  const { about, access, calls, contract, control, documents } = page;
  return html`<p>${about}</p>
    <h2>For clients</h2>
    <p>${access}</p>
    <dl>
      ${Object.entries(calls).map(
        ([call, purpose]) =>
          html`<dt><code>${call}</code></dt>
            <dd>${purpose}</dd>`,
      )}
      ${renderLinks(contract)}
    </dl>
    <h2>For tests</h2>
    <dl>${renderLinks(control)}</dl>
    <h2>Documentation</h2>
    <ul>
      ${documents.map((document) => html`<li>${document}</li>`)}
    </ul>`;
}

function renderLinks(purposes: Readonly<Record<string, string>>): Html[] {
  return Object.entries(purposes).map(
    ([path, purpose]) =>
      html`<dt><a href="${path}">${path}</a></dt>
        <dd>${purpose}</dd>`,
  );
}

/** CSS rules of lists of names and values. */
export const LIST_CSS = `
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.2rem 1rem; margin: 0; }
@media (max-width: 40rem) { dl { display: block; } dd { margin-bottom: 0.5rem; } }
`;
