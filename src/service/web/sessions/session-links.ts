import { makeDeepLink } from '../../sessions/deep-link.ts';
import type { Session } from '../../store/store.ts';
import type { PageContext } from '../frame/page-frame.ts';

/** Returns the name of a session: the client's own id, or the scenario. */
export const nameSession = ({ sourceSessionId, scenario, id }: Session): string =>
  sourceSessionId ?? scenario ?? id;

/** Parameters that select a page of a list, or the reader. */
const NOT_IN_LISTS = ['skip', 'limit', 'owner', 'notice'];

/**
 * Returns the link to the page of a session, which keeps the list that it was opened from; undefined if
 * its simulation was deleted.
 */
export function linkToSession(
  session: Session,
  { owner }: Pick<PageContext, 'owner'>,
  list?: URLSearchParams,
): string | undefined {
  const link = makeDeepLink(session, '');
  if (link === null) return undefined;
  const filters = [...(list ?? [])].filter(
    ([name, value]) => value !== '' && !NOT_IN_LISTS.includes(name),
  );
  const more = new URLSearchParams({
    ...(owner !== undefined && { owner }),
    ...(list && { list: new URLSearchParams(filters).toString() }),
  });
  return more.size === 0 ? link : `${link}&${more.toString()}`;
}
