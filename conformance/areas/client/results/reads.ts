import { isObject } from '../../../../src/platform/json.ts';
import { type Exchange, isAccepted, type Transcript } from '../../../engine/transcript/reading.ts';

/** Returns whether an exchange reads results. */
export const isRead = ({ endpoint }: Exchange): boolean =>
  endpoint === 'simulations' || endpoint === 'production';

/** Returns the query parameters of a request; a name can occur repeatedly. */
export function queryOf({ request }: Exchange): URLSearchParams {
  const mark = request.path.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : request.path.slice(mark + 1));
}

/** A page that the service returned. */
export interface Page {
  exchange: Exchange;
  skip: number;
  items: number;
  total: number;
  /** Whether the request has the parameter `limit`. */
  hasLimit: boolean;
  /** The endpoint and the filters, which all pages of a list share. */
  list: string;
}

/** Returns the page in the response of an exchange; undefined if it has none. */
export function pageOf(exchange: Exchange): Page | undefined {
  const { endpoint, json } = exchange;
  if (!isRead(exchange) || !isAccepted(exchange) || !isObject(json)) return undefined;
  const { items, total, skip } = json;
  if (!Array.isArray(items) || typeof total !== 'number' || typeof skip !== 'number') {
    return undefined;
  }
  const query = queryOf(exchange);
  const filters = [...query]
    .filter(([name, value]) => name !== 'skip' && name !== 'limit' && value !== '')
    .map(([name, value]) => `${name}=${value}`)
    .sort();
  return {
    ...{ exchange, skip, items: items.length, total },
    hasLimit: query.has('limit'),
    list: [endpoint, ...filters].join(' '),
  };
}

/** Pages of one list that a client read one after the other, starting with the first page. */
export type Reading = readonly [Page, ...Page[]];

const readingCache = new WeakMap<Transcript, readonly Reading[]>();

/** Returns the readings of all lists. A request with `skip=0` starts a new reading. */
export function readingsOf(transcript: Transcript): readonly Reading[] {
  const cached = readingCache.get(transcript);
  if (cached) return cached;
  const readings: [Page, ...Page[]][] = [];
  const current = new Map<string, [Page, ...Page[]]>();
  for (const page of transcript.exchanges.flatMap((exchange) => pageOf(exchange) ?? [])) {
    const reading = current.get(page.list);
    if (reading && page.skip > 0) reading.push(page);
    else if (page.skip === 0) {
      const started: [Page, ...Page[]] = [page];
      readings.push(started);
      current.set(page.list, started);
    }
  }
  readingCache.set(transcript, readings);
  return readings;
}

/** Returns whether a client meant to read the whole list, not only its first sessions. */
export const isPaged = ([first, ...others]: Reading): boolean =>
  others.length > 0 || (!first.hasLimit && first.total > first.items);

/** Returns the end of the pages that have no gap before them, and the first page after a gap. */
export function coverageOf(reading: Reading): { end: number; afterGap: Page | undefined } {
  let end = 0;
  const pages = [...reading].sort((left, right) => left.skip - right.skip);
  for (const page of pages) {
    if (page.skip > end) return { end, afterGap: page };
    end = Math.max(end, page.skip + page.items);
  }
  return { end, afterGap: undefined };
}
