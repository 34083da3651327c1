/** Which pages list the same sessions, and what one of them says about the others. */
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { isResultsEndpoint, type ResultsObject } from '../results-api.ts';
import { isResultsPage, limitOf, sessionsOf, skipOf } from '../transcript.ts';

/** Returns every page of results with a list, of both endpoints. */
export const listPages = ({ exchanges }: Transcript): Exchange[] =>
  exchanges.filter(
    (exchange) =>
      isResultsEndpoint(exchange.endpoint) && isResultsPage(exchange.endpoint)(exchange),
  );

/** Returns whether a page lists every session that matches its filters. */
const isComplete = (page: Exchange): boolean =>
  skipOf(page) === 0 && sessionsOf(page).length < limitOf(page);

/** Returns the owner of the key and the filters of a page as one text. */
function filtersOf(page: Exchange): string {
  const [path = '', search = ''] = page.request.path.split('?');
  const query = new URLSearchParams(search);
  for (const name of ['skip', 'limit', 'include_traces']) query.delete(name);
  query.sort();
  // With a control API, the run's own key has no owner here, and does not see the run's sessions.
  return [path, page.owner ?? '', query.toString()].join(' ');
}

/** Returns the complete pages with the same owner and filters as a page, and the page itself if it is complete. */
export function listCompletePages(page: Exchange, pages: readonly Exchange[]): Exchange[] {
  const filters = filtersOf(page);
  return pages.filter((other) => isComplete(other) && filtersOf(other) === filters);
}

/**
 * Returns the sessions that match the filters of a page, on all pages: those of the page itself if it is
 * complete, or those of the largest complete page with the same filters. Undefined if there is none.
 */
export function findMatching(
  page: Exchange,
  pages: readonly Exchange[],
): ResultsObject[] | undefined {
  if (isComplete(page)) return sessionsOf(page);
  const lists = listCompletePages(page, pages).map(sessionsOf);
  return lists.toSorted((left, right) => right.length - left.length)[0];
}
