import type { Exchange } from '../../../engine/transcript/reading.ts';
import { replaceKeys, type Response } from '../../diagnoses/conforming-response.ts';
import type { ResultsObject } from '../results-api.ts';
import { hasRequestedTurns, identify } from '../results/evidence.ts';
import { findMatching } from '../results/listing.ts';
import { limitOf, sessionsOf, skipOf } from '../transcript.ts';

/** Returns a page without the sessions that do not belong in its list, which its `total` no longer counts. */
export function removeSessions(
  page: Exchange,
  pages: readonly Exchange[],
  isForeign: (session: ResultsObject) => boolean,
): Response {
  const listed = sessionsOf(page);
  const matching = findMatching(page, pages);
  const own = (matching ?? listed).filter((session) => !isForeign(session));
  // Without a list of all sessions, a page without foreign sessions is not changed.
  if (!matching && own.length === listed.length) return replaceKeys(page, {});
  const byIdentity = new Map(listed.map((session) => [identify(session), session]));
  const skip = matching ? skipOf(page) : 0;
  // The list of all sessions may have been read without turns.
  const turns = hasRequestedTurns(page) ? { traces: [] } : {};
  const items = own
    .slice(skip, skip + limitOf(page))
    .map((session) => byIdentity.get(identify(session)) ?? { ...turns, ...session });
  return replaceKeys(page, { items, total: own.length });
}
