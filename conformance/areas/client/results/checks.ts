import { PAGE_LIMIT_MAX, parseIsoTime } from '../../../../src/contract/index.ts';
import { findClosest } from '../../../../src/platform/suggest.ts';
import { checkEach, unjudgedAs, type Check, type Finding } from '../../../engine/checks/check.ts';
import { type Exchange, toPrintable, type Transcript } from '../../../engine/transcript/reading.ts';
import { listSome, requestFinding } from '../findings.ts';
import {
  coverageOf,
  isPaged,
  isRead,
  pageOf,
  queryOf,
  readingsOf,
  type Page,
  type Reading,
} from './reads.ts';
import type { resultsRequirements } from './requirements.ts';

const SHARED = ['eval', 'failed_only', 'started_after', 'started_before', 'include_traces'];
const PAGING = ['skip', 'limit'];

/** The query parameters of an endpoint (spec 4.3, 4.4). */
const parametersOf = ({ endpoint }: Exchange): string[] => [
  endpoint === 'simulations' ? 'agent' : 'run',
  ...SHARED,
  ...PAGING,
];

/** Wrong names that clients use for a parameter, and its right name. */
const SYNONYMS: Readonly<Record<string, string>> = {
  ...{ offset: 'skip', page: 'skip', cursor: 'skip', count: 'limit', size: 'limit' },
  ...{ page_size: 'limit', per_page: 'limit', from: 'started_after', since: 'started_after' },
  ...{ after: 'started_after', to: 'started_before', until: 'started_before' },
  ...{ before: 'started_before', failed: 'failed_only', only_failed: 'failed_only' },
  ...{ traces: 'include_traces', evaluation: 'eval', eval_name: 'eval', agent_name: 'agent' },
  ...{ run_name: 'run' },
};

const toSnakeCase = (name: string): string =>
  name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();

/** Returns the parameter that a client probably meant by an unknown name. */
function findIntendedName(name: string, exchange: Exchange): string | undefined {
  const known = parametersOf(exchange);
  const snake = toSnakeCase(name);
  const synonym = SYNONYMS[snake];
  if (synonym !== undefined && known.includes(synonym)) return synonym;
  // Each of `agent` and `run` is a parameter of only one endpoint.
  if (name === 'run') return 'agent';
  if (name === 'agent') return 'run';
  return known.includes(snake) ? snake : findClosest(snake, known);
}

const unknownNames = (exchange: Exchange): string[] => {
  const known = parametersOf(exchange);
  return [...new Set(queryOf(exchange).keys())].filter((name) => !known.includes(name));
};

function findMisspelling(exchange: Exchange): Finding[] {
  return unknownNames(exchange).flatMap((name) => {
    const intended = findIntendedName(name, exchange);
    return intended === undefined
      ? []
      : [
          requestFinding(
            exchange,
            intended,
            toPrintable(name),
            'The service ignores a parameter with this name.',
          ),
        ];
  });
}

const isTime = (value: string): boolean => parseIsoTime(value) !== undefined;

const isBoolean = (value: string): boolean => /^(true|false|0|1)$/i.test(value);
const isCount = (value: string): boolean => /^\d+$/.test(value);

/** The types of parameters that are not plain text. */
const TYPES: Readonly<Record<string, [description: string, isValid: (value: string) => boolean]>> =
  {
    started_after: ['an ISO 8601 time', isTime],
    started_before: ['an ISO 8601 time', isTime],
    failed_only: ['true or false', isBoolean],
    include_traces: ['true or false', isBoolean],
    skip: ['an integer of 0 or more', isCount],
    limit: ['an integer of 0 or more', isCount],
  };

function findValueFaults(exchange: Exchange): Finding[] {
  const query = queryOf(exchange);
  return parametersOf(exchange).flatMap((name) => {
    const values = query.getAll(name);
    const [value = ''] = values;
    const [expected, isValid] = TYPES[name] ?? ['', () => true];
    if (values.length > 1) {
      return [requestFinding(exchange, `${name} once`, `${name} ${values.length} times`)];
    }
    if (values.length === 0 || isValid(value)) return [];
    const hint = isTime(value.replaceAll(' ', '+'))
      ? 'Percent-encode + as %2B: in a query, + means a space.'
      : undefined;
    return [requestFinding(exchange, `${name} is ${expected}`, toPrintable(value, 40), hint)];
  });
}

const NO_READ = unjudgedAs('not_observed', 'The client read no results.');
const NO_PAGES = unjudgedAs(
  'not_observed',
  'The client read no list that has more than one page. Use seed data with more sessions.',
);

/** Creates a check of every reading that continues after the first page. */
function checkReadings(
  findFault: (reading: Reading, transcript: Transcript) => Finding | undefined,
): Check {
  const paged = (transcript: Transcript): Reading[] => readingsOf(transcript).filter(isPaged);
  return {
    evidence: (transcript) =>
      paged(transcript).flatMap((pages) => pages.map((page) => page.exchange)),
    judge: (_evidence, transcript) =>
      paged(transcript).flatMap((reading) => findFault(reading, transcript) ?? []),
    unjudged: NO_PAGES,
  };
}

/** Finds pages that continue the previous page, but with other filters. */
function findChangedFilters({ exchanges }: Transcript): Finding[] {
  const pages = exchanges.flatMap((exchange) => pageOf(exchange) ?? []);
  return pages.flatMap((page, index) => {
    const isOfEndpoint = ({ exchange }: Page): boolean =>
      exchange.endpoint === page.exchange.endpoint;
    const before = pages.slice(0, index).findLast(isOfEndpoint);
    if (!before || page.skip === 0 || before.list === page.list) return [];
    const isRead = pages.slice(0, index).some(({ list, skip }) => list === page.list && skip === 0);
    if (isRead || before.skip + before.items !== page.skip) return [];
    const expected = `the filters of exchange ${before.exchange.id}`;
    const received = 'other filters';
    return [
      requestFinding(
        page.exchange,
        expected,
        received,
        'After a change of the filters, start with skip=0 again.',
      ),
    ];
  });
}

/** The checks of results requests. */
export const resultsChecks: Readonly<Record<keyof typeof resultsRequirements, Check>> = {
  'CLIENT-050': checkEach(isRead, findMisspelling, NO_READ),
  'CLIENT-051': checkEach(
    isRead,
    (exchange) => {
      const others = unknownNames(exchange).filter((name) => !findIntendedName(name, exchange));
      const received = listSome(others.map((name) => toPrintable(name, 40)));
      return others.length === 0 ? [] : [requestFinding(exchange, 'no other parameters', received)];
    },
    NO_READ,
  ),
  'CLIENT-052': checkEach(isRead, findValueFaults, NO_READ),
  'CLIENT-053': checkEach(
    (exchange) => isRead(exchange) && queryOf(exchange).has('limit'),
    (exchange) => {
      const limit = Number(queryOf(exchange).get('limit'));
      return limit > PAGE_LIMIT_MAX
        ? [requestFinding(exchange, `limit of at most ${PAGE_LIMIT_MAX}`, String(limit))]
        : [];
    },
    unjudgedAs('not_observed', 'No results request has a limit.'),
  ),
  'CLIENT-054': checkReadings((reading) => {
    const { end, afterGap } = coverageOf(reading);
    const last = reading.at(-1) ?? reading[0];
    // CLIENT-055 reports a gap.
    if (afterGap || end >= last.total) return undefined;
    return requestFinding(
      last.exchange,
      `pages with all ${last.total} sessions`,
      `${end} sessions`,
      'Request the next page with skip = skip + len(items) until it reaches total.',
    );
  }),
  'CLIENT-055': checkReadings((reading) => {
    const { end, afterGap } = coverageOf(reading);
    return (
      afterGap &&
      requestFinding(
        afterGap.exchange,
        `skip=${end}`,
        `skip=${afterGap.skip}`,
        'Increase skip by the number of received items, not by the limit.',
      )
    );
  }),
  'CLIENT-056': {
    evidence: ({ exchanges }) => exchanges.filter((exchange) => (pageOf(exchange)?.skip ?? 0) > 0),
    judge: (_evidence, transcript) => findChangedFilters(transcript),
    unjudged: NO_PAGES,
  },
};
