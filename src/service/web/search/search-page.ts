import { html, type Html } from '../../../report-kit/html.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import { renderTime } from '../../../report-kit/time.ts';
import { decideVerdict } from '../../sessions/verdict.ts';
import type { Found, SearchResults } from '../../operations/search.ts';
import type { RunSummary, Session, SessionKind } from '../../store/store.ts';
import { renderProblem } from '../frame/fields.ts';
import { renderFilterForm } from '../frame/filter-form.ts';
import {
  linkTo,
  renderKeys,
  renderServicePage,
  SEARCH_CHARS_MAX,
  SEARCH_PATH,
  type PageContext,
} from '../frame/page-frame.ts';
import { pathOfRun } from '../runs/run-links.ts';
import { linkToConversation } from '../sessions/waiting-page.ts';
import { linkToSession, nameSession } from '../sessions/session-links.ts';

/** A search, and what it found; nothing was searched without a text. */
export interface SearchPage {
  text: string;
  results?: SearchResults;
  problem?: string;
}

/** Results of a kind on the page. */
interface Group {
  name: string;
  items: readonly Html[];
  /** Where the others are; undefined if all are shown. */
  more: string | undefined;
}

/** Renders what a search over everything found, by kind. */
export function renderSearchPage(
  { text, results, problem }: SearchPage,
  context: PageContext,
): string {
  const groups = results ? listGroups(text, results, context) : [];
  return renderServicePage(
    {
      title: 'Search',
      css: CSS,
      main: html`<h1>Search</h1>
        ${renderFilterForm(context, {
          path: SEARCH_PATH,
          body: html`<label
              >Name, id, or words of a conversation
              <input type="search" name="q" value="${text}" maxlength="${SEARCH_CHARS_MAX}"
            /></label>
            <button>Search</button>`,
        })}
        ${renderProblem(problem)}
        ${
          results && groups.length === 0
            ? html`<p>
                Nothing matches. Names match in part, ids by their beginning, and words in the
                newest 10,000 sessions.
              </p>`
            : groups.map(renderGroup)
        }
        <details>
          <summary>Keyboard</summary>
          ${renderKeys()}
        </details>`,
    },
    context,
  );
}

const renderGroup = ({ name, items, more }: Group): Html =>
  html`<h2>${name}</h2>
    <ul class="found">
      ${items.map((item) => html`<li>${item}</li>`)}
    </ul>
    ${more !== undefined && html`<p><a href="${more}">All that match</a></p>`}`;

/** Returns the groups that are not empty. */
function listGroups(text: string, results: SearchResults, context: PageContext): Group[] {
  const link = (path: string, query = {}): string => linkTo(context, path, query);
  const group = <Item>(
    name: string,
    { items, hasMore }: Found<Item>,
    render: (item: Item) => Html,
    more: string,
  ): Group[] =>
    items.length === 0
      ? []
      : [{ name, items: items.map(render), more: hasMore ? more : undefined }];
  const named =
    (pathOf: (id: string) => string) =>
    ({ id, name }: { id: string; name: string }): Html =>
      html`<a href="${pathOf(id)}">${name}</a>
        ${id !== name && html`<span class="soft">${id}</span>`}`;
  const byPath = (path: string) => named((id) => link(`${path}/${encodeURIComponent(id)}`));
  const run = (kind: SessionKind) => (found: RunSummary) =>
    named((id) => link(pathOfRun(kind, id)))(found);
  const session = (found: Session): Html => renderSession(found, context);
  const { said } = results;
  return [
    ...group('Agents', results.agents, byPath('/agents'), link('/agents')),
    ...group('Scenarios', results.scenarios, byPath('/scenarios'), link('/scenarios', { q: text })),
    ...group('Personas', results.personas, byPath('/personas'), link('/personas')),
    ...group(
      'Evals',
      results.evals,
      named((id) => link('/evals/edit', { id })),
      link('/evals'),
    ),
    ...group(
      'Runs',
      results.runs,
      run('production'),
      listOf('/runs', 'production', { name: text }),
    ),
    ...group(
      'Simulations',
      results.simulations,
      run('simulation'),
      listOf('/runs', 'simulation', { name: text }),
    ),
    ...group(
      'Conversations',
      results.conversations,
      (id) => html`<a href="${linkToConversation(id, context)}">${id}</a>`,
      link('/sessions'),
    ),
    ...group('Sessions with this id', results.byId, session, link('/sessions')),
    ...group(
      'Production sessions that say it',
      said.production,
      session,
      listOf('/sessions', 'production', { text }),
    ),
    ...group(
      'Simulated sessions that say it',
      said.simulation,
      session,
      listOf('/sessions', 'simulation', { text }),
    ),
  ];

  function listOf(path: string, kind: SessionKind, query: Record<string, string>): string {
    return link(path, { kind, ...query });
  }
}

function renderSession(session: Session, context: PageContext): Html {
  const { id, run, simulation, startedAtMs } = session;
  const verdict = decideVerdict(session);
  const href = linkToSession(session, context);
  const name = nameSession(session);
  const of = run?.name ?? simulation?.name;
  return html`${renderVerdict(verdict)}
    ${href === undefined ? name : html`<a href="${href}">${name}</a>`}
    <span class="soft"
      >${of !== undefined && `${of} · `}${renderTime(startedAtMs)}${id !== name && ` · ${id}`}</span
    >`;
}

const CSS = `
ul.found li { border-top: 1px solid var(--line); padding: 0.3rem 0; }
ul.found .soft { margin-left: 0.5rem; }
ul.found .badge { min-width: 5.75rem; }
@media (max-width: 40rem) { ul.found .badge ~ .soft { display: block; margin: 0; } }
`;
