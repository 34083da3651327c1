/** Facts about the reference client that the mutants depend on. */
import { resolvePointer } from '../../../src/contract/index.ts';
import { to, type When } from '../../engine/mutants/combinators.ts';
import { queryParameter } from '../service/results-api.ts';

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

const batch = (id: string): When =>
  to(
    'traces',
    ({ json }) => resolvePointer(json, '/resourceSpans/0/scopeSpans/0/spans/0/traceId') === id,
  );

/** Selects the batch that the service refuses with 429 and then with 503. */
export const firstBatch = batch(traceIds.first);

/** Selects the batch that most mutants change. The service accepts it the first time. */
export const secondBatch = batch(traceIds.second);

/** Selects reads of the list that the client reads with filters and a limit. */
export const pagedRead: When = to(
  'simulations',
  ({ path }) => queryParameter(path, 'limit') === '25',
);

/** Selects reads of the list that the client reads with no parameter except `skip`. */
export const plainRead: When = to(
  'simulations',
  ({ path }) => queryParameter(path, 'limit') === undefined,
);
