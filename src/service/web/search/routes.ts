import { searchEverything } from '../../operations/search.ts';
import type { Store } from '../../store/store.ts';
import { SEARCH_CHARS_MAX, SEARCH_PATH } from '../frame/page-frame.ts';
import type { Pages } from '../frame/pages.ts';
import { renderSearchPage } from './search-page.ts';

/** Adds the search over everything. */
export function addSearchRoutes({ page }: Pages, store: Store): void {
  page(SEARCH_PATH, async ({ ownerId, context, query }) => {
    const text = (query.get('q') ?? '').trim();
    if (text === '') return renderSearchPage({ text }, context);
    if (text.length > SEARCH_CHARS_MAX) {
      const problem = `A search must have at most ${SEARCH_CHARS_MAX} characters, got ${text.length}.`;
      return { status: 400, page: renderSearchPage({ text, problem }, context) };
    }
    const results = await searchEverything(store, ownerId, text);
    return renderSearchPage({ text, results }, context);
  });
}
