import { renderFactList, type Fact } from './fact-list.ts';
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
    ${renderFactList([
      ...Object.entries(calls).map(([call, purpose]): Fact => [
        html`<code>${call}</code>`,
        purpose,
      ]),
      ...listLinks(contract),
    ])}
    <h2>For tests</h2>
    ${renderFactList(listLinks(control))}
    <h2>Documentation</h2>
    <ul>
      ${documents.map((document) => html`<li>${document}</li>`)}
    </ul>`;
}

const listLinks = (purposes: Readonly<Record<string, string>>): Fact[] =>
  Object.entries(purposes).map(([path, purpose]) => [html`<a href="${path}">${path}</a>`, purpose]);
