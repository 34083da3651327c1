/** What the mutants know of the reference client, which they change. */

/** A conversation whose spans carry its id. */
export const SPAN_CONVERSATION = 'client/of spans';

/** A conversation whose id is in the header of the request. */
export const HEADER_CONVERSATION = 'client-of-header';

const traceId = (start: string): string => start.padEnd(32, '0');

/** The trace ids of the four batches. The first two are plain JSON, the first one is refused twice. */
export const traceIds = {
  first: traceId('a1'),
  second: traceId('b2'),
  third: traceId('c3'),
  fourth: traceId('d4'),
} as const;

/** The agent whose sessions the client reads page by page. */
export const AGENT = 'Reference shop';
