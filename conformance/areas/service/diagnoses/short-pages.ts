import { formatValue } from '../../../../src/contract/index.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { replaceKeys, type Response } from '../../diagnoses/conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import { identify } from '../results/evidence.ts';
import { listCompletePages, listPages } from '../results/listing.ts';
import { limitOf, queryOf, sessionsOf, skipOf, totalOf } from '../transcript.ts';

/** Recognizes pages that list one session fewer than `limit`, although more sessions match. */
export function findShortPages(transcript: Transcript): Diagnosis[] {
  const pages = listPages(transcript);
  const seen = nonEmpty(listShortPages(pages));
  if (!seen) return [];
  const others = pages.filter((page) => !seen.includes(page));
  const example = findExample(seen);
  const { length } = sessionsOf(example);
  const total = formatValue(totalOf(example));
  return [
    {
      seen,
      fault: `pages list one session fewer than \`limit\`: ${length} for a limit of ${limitOf(example)}, although \`total\` is ${total} (${describeSeen(seen)})`,
      cure: 'List as many sessions as `limit` says: look for an off-by-one error in the query',
      repair: (page) => fillPage(page, others),
    },
  ];
}

/**
 * Returns the pages that list one session fewer than their limit, although more sessions match. If any
 * page is full, a wrong `total` is the likelier cause. A default limit differs from a given one.
 */
export function listShortPages(pages: readonly Exchange[]): Exchange[] {
  const groups = Map.groupBy(pages, (page) =>
    [page.endpoint, queryOf(page, 'limit') === undefined].join(),
  );
  return [...groups.values()].flatMap((group) => {
    const cutOff = group.filter((page) => countMissing(page) > 0);
    const isShort = (page: Exchange): boolean => sessionsOf(page).length === limitOf(page) - 1;
    return cutOff.length > 0 && cutOff.every(isShort)
      ? group.filter((page) => isShort(page) && countMissing(page) >= 0)
      : [];
  });
}

/**
 * Returns how many sessions follow the first ones of a page, as many as its limit; less than 0 if there
 * are not even those.
 */
function countMissing(page: Exchange): number {
  const total = totalOf(page);
  return typeof total === 'number' && limitOf(page) > 0 ? total - skipOf(page) - limitOf(page) : -1;
}

/**
 * Adds the session that is missing from a page. If no other page shows which one it is, the last
 * session of the page replaces it.
 */
function fillPage(page: Exchange, others: readonly Exchange[]): Response {
  const listed = sessionsOf(page);
  const [whole] = listCompletePages(page, others)
    .map(sessionsOf)
    .toSorted((left, right) => right.length - left.length);
  const own = new Map(listed.map((session) => [identify(session), session]));
  const skip = skipOf(page);
  const items = whole
    ? whole.slice(skip, skip + limitOf(page)).map((each) => own.get(identify(each)) ?? each)
    : [...listed, ...listed.slice(-1)];
  return replaceKeys(page, { items });
}
