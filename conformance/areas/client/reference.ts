/** Facts about the reference client that the mutants depend on. */

/** A conversation whose id is an attribute of its spans. */
export const SPAN_CONVERSATION = 'client/of spans';

/** A conversation whose id is in the header of the request. */
export const HEADER_CONVERSATION = 'client-of-header';

const traceId = (start: string): string => start.padEnd(32, '0');

/** The trace ids of the four batches. The first two are plain JSON; the first is refused twice. */
export const traceIds = {
  first: traceId('a1'),
  second: traceId('b2'),
  third: traceId('c3'),
  fourth: traceId('d4'),
} as const;

/** The agent whose sessions the client reads in pages. */
export const AGENT = 'Reference shop';
