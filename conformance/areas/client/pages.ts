/** How a client reads the pages of a list (spec 4.3, 4.4, 8). */
import { PAGE_LIMIT_DEFAULT } from '../../../src/contract/index.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import { isObject } from '../../../src/platform/json.ts';
import { formatCount } from '../../../src/report-kit/format.ts';
import type { Check, Finding } from '../../engine/checks/check.ts';
import {
  chain,
  changeQuery,
  changeResponse,
  editBody,
  to,
  type When,
} from '../../engine/mutants/combinators.ts';
import type { TransformFactory } from '../../engine/mutants/mutant.ts';
import type { Subject } from '../../engine/requirement.ts';
import { type Exchange, isAccepted, type Transcript } from '../../engine/transcript/reading.ts';
import { queryParameter } from '../service/results-api.ts';
import { type Fault, notObserved, toFinding } from './checks.ts';
import { isRead, queryOf } from './queries.ts';
import { pagedRead, plainRead } from './reference.ts';
import { endedConversationsOf, sentConversationsOf } from './sent-conversations.ts';
import { omit, sendTwice } from './transforms.ts';

const NO_PAGES = notObserved(
  'The client read no list that has more than one page.',
  'Use --seed-file with more sessions than a page has.',
);

const skipOf = ({ path }: { path: string }): string | undefined => queryParameter(path, 'skip');
const isSecondPage: When = (request) => pagedRead(request) && skipOf(request) === '25';
const isLaterPage: When = (request) => pagedRead(request) && skipOf(request) !== undefined;

export const pages: Subject = {
  requirements: {
    'CLIENT-054': {
      rule: 'A client that reads pages, or reads without `limit`, continues until `skip + len(items) >= total`.',
      statements: ['4.3.r3', '8.a6'],
      reason: 'The client misses the sessions on the other pages.',
      check: checkReadings((reading, transcript) => {
        const { end, afterGap } = coverageOf(reading);
        const last = reading.at(-1) ?? reading[0];
        // CLIENT-055 reports a gap.
        if (afterGap || end >= last.total || isSearch(reading, transcript)) return undefined;
        return {
          at: last.exchange,
          expected: `pages with all ${last.total} sessions`,
          received: `${end} sessions`,
          hint: 'Request the next page with skip = skip + len(items) until it reaches total.',
        };
      }),
      mutants: {
        'first-page-only': {
          description: 'Reads only the first page of a list.',
          transform: setTotal(plainRead, 50),
        },
        'stops-early': {
          description: 'Stops one page before the end of a list.',
          transform: setTotal(isSecondPage, 50),
        },
      },
      legal: {
        'reads-empty-page': {
          description: 'Continues to read until a page is empty.',
          transform: setTotal(plainRead, 61),
        },
        'one-more-page': {
          description: 'Adds the limit to skip until a page is empty.',
          transform: readUntilEmpty,
        },
      },
    },
    'CLIENT-055': {
      rule: 'The pages of a list leave no gap: the first one has `skip=0`, and then `skip` is at most the end of the previous page.',
      statements: ['4.3.14', '4.3.r3', '4.4.9'],
      reason: 'The client misses the sessions in the gap.',
      check: checkReadings((reading) => {
        const { end, afterGap } = coverageOf(reading);
        return (
          afterGap && {
            at: afterGap.exchange,
            expected: `skip=${end}`,
            received: `skip=${afterGap.skip}`,
            hint:
              end === 0
                ? 'skip is the number of sessions before the page, so the first page has skip=0.'
                : 'Increase skip by the number of received items, not by the limit.',
          }
        );
      }),
      mutants: {
        'skips-sessions': {
          description: 'Leaves a gap between two pages.',
          transform: changeQuery(isSecondPage, (query) => query.set('skip', '30')),
        },
      },
      legal: {
        'overlapping-pages': {
          description: 'Reads pages that overlap.',
          transform: changeQuery(pagedRead, (query) => {
            if (query.get('skip') === '50') query.set('skip', '45');
          }),
        },
      },
    },
    'CLIENT-056': {
      rule: 'All pages of a list are read with the same filters.',
      section: '4.3',
      statements: ['2.6.11', '4.3.r3'],
      reason:
        '`skip` counts the sessions that match the filters, so another filter selects other sessions.',
      check: {
        evidence: ({ exchanges }) =>
          exchanges.filter((exchange) => (pageOf(exchange)?.skip ?? 0) > 0),
        judge: (_evidence, transcript) => findChangedFilters(transcript),
        unjudged: NO_PAGES,
      },
      mutants: {
        'changes-filters': {
          description: 'Drops a filter after the first page.',
          transform: changeQuery(isLaterPage, (query) => query.delete('agent')),
        },
      },
    },
    'CLIENT-057': {
      level: 'should',
      rule: 'A client that reads only the newest sessions of a longer list finds its own conversations among them.',
      statements: ['4.3.r3', '4.3.16'],
      reason: 'More sessions can arrive than a page has, and the client misses the others.',
      check: {
        evidence: (transcript) =>
          readingsOf(transcript).flatMap(([{ exchange, items, total }]) =>
            items < total ? [exchange] : [],
          ),
        judge: (_evidence, transcript) => findPartialReads(transcript),
        unjudged: NO_PAGES,
      },
      mutants: {
        'reads-first-page-again': {
          description: 'Reads the first page three times instead of the three pages of a list.',
          transform: changeQuery(isLaterPage, (query) => query.delete('skip')),
        },
        'reads-a-part': {
          description: 'Reads 50 sessions of a longer list, and no other page.',
          transform: chain(
            setTotal(plainRead, 50),
            changeQuery(plainRead, (query) => query.set('limit', '50')),
          ),
        },
      },
      legal: {
        'looks-at-newest': {
          description: 'Reads only the ten newest sessions of a list.',
          transform: chain(
            setTotal(plainRead, 10),
            changeQuery(plainRead, (query) => query.set('limit', '10')),
          ),
        },
      },
    },
  },
  legal: {
    'reads-nothing': {
      description: 'Never reads results.',
      transform: omit((request) => request.method === 'GET'),
    },
    polls: {
      description: 'Reads results several times in a row.',
      transform: sendTwice(to('production')),
    },
  },
};

/** Creates a check of every reading that continues after the first page. */
function checkReadings(
  findFault: (reading: Reading, transcript: Transcript) => (Fault & { at: Exchange }) | undefined,
): Check {
  const paged = (transcript: Transcript): Reading[] =>
    readingsOf(transcript).filter((reading) => isPaged(reading) && !isLook(reading, transcript));
  return {
    evidence: (transcript) =>
      paged(transcript).flatMap((reading) => reading.map(({ exchange }) => exchange)),
    judge: (_evidence, transcript) =>
      paged(transcript).flatMap((reading) => {
        const fault = findFault(reading, transcript);
        return fault ? [toFinding(fault.at, fault)] : [];
      }),
    unjudged: NO_PAGES,
  };
}

/** Finds pages that continue the previous page, but with other filters. */
function findChangedFilters({ exchanges }: Transcript): Finding[] {
  const all = exchanges.flatMap((exchange) => pageOf(exchange) ?? []);
  return all.flatMap((page, index) => {
    const isOfEndpoint = ({ exchange }: Page): boolean =>
      exchange.endpoint === page.exchange.endpoint;
    const earlier = all.slice(0, index);
    const before = earlier.findLast(isOfEndpoint);
    if (!before || page.skip === 0 || before.list === page.list) return [];
    const isStarted = earlier.some(({ list, skip }) => list === page.list && skip === 0);
    if (isStarted || before.skip + before.items !== page.skip) return [];
    return [
      toFinding(page.exchange, {
        expected: `the filters of exchange ${before.exchange.id}`,
        received: 'other filters',
        hint: 'After changing the filters, start again at skip=0.',
      }),
    ];
  });
}

/** Judges the last read of each list where a client read only the newest sessions. */
function findPartialReads(transcript: Transcript): Finding[] {
  const looks = readingsOf(transcript).filter((reading) => isLook(reading, transcript));
  const byList = Map.groupBy(looks, ([{ list }]) => list);
  return [...byList.values()].flatMap((readings) => {
    const last = readings.at(-1);
    if (!last || hasFoundAll(last, transcript)) return [];
    const [page] = last;
    const { exchange, items, total } = page;
    const isFound = hasOwn(page, transcript);
    const times = readings.length > 1 ? `, ${readings.length} times` : '';
    const missing = isFound
      ? `, without ${formatCount(listMissing(last, transcript).length, 'conversation')} of the client`
      : '';
    const finding = toFinding(exchange, {
      expected: `all ${total} sessions, or the conversations of the client among the newest`,
      received: `the ${items} newest sessions${times}${missing}`,
      hint: 'Read the other pages with skip, or filter the list, for example by started_after.',
    });
    if (isStuck(readings, transcript)) {
      return [{ ...finding, received: `the same page${times} without a pause`, hint: STUCK_CURE }];
    }
    // A client that asks for fewer sessions than the default page has wants only the newest ones, and one
    // that reads them repeatedly may look for one conversation.
    const isIntended = items < PAGE_LIMIT_DEFAULT || (isFound && readings.length > 1);
    return [isIntended ? { ...finding, isNote: true as const } : finding];
  });
}

const STUCK_CURE =
  'Increase skip by the number of received items. If you already do, look at the URL that is sent: in a shell, an & outside quotes ends the command.';

/** A client that waits for a session pauses longer than this between two reads. */
const POLL_MS_MIN = 200;

/** Returns whether a client read the first page again and again without a pause, and never another one. */
function isStuck(readings: readonly Reading[], transcript: Transcript): boolean {
  const [look] = readings;
  const pages = readings.map(([page]) => page);
  const [first, ...others] = pages;
  const isRepetition = ({ items, conversations, exchange }: Page, index: number): boolean =>
    items === first?.items &&
    String(conversations) === String(first.conversations) &&
    exchange.startedMs - (pages[index]?.exchange.endedMs ?? 0) < POLL_MS_MIN;
  return (
    look !== undefined &&
    others.length > 0 &&
    others.every(isRepetition) &&
    !readingsOf(transcript).some((other) => isSameList(other, look) && !isLook(other, transcript))
  );
}

/**
 * Returns whether a look at the newest sessions showed the client all that it looked for: its
 * conversations, only their number, or sessions that were not there at its previous look.
 */
function hasFoundAll(look: Reading, transcript: Transcript): boolean {
  const [page] = look;
  if (!hasOwn(page, transcript)) return false;
  if (page.items === 1 || listMissing(look, transcript).length === 0) return true;
  const others = readingsOf(transcript).filter(
    (other) => other !== look && isSameList(other, look),
  );
  const previous = others.at(-1);
  return (
    previous !== undefined &&
    (others.some((other) => !isLook(other, transcript)) ||
      String(previous[0].conversations) !== String(page.conversations))
  );
}

/** Continues to read after the last page, as clients do that add their limit to skip. */
function readUntilEmpty(): ReturnType<TransformFactory> {
  return async (request, forward) => {
    const response = await forward(request);
    if (pagedRead(request) && skipOf(request) === '50') {
      await forward({ ...request, path: request.path.replace('skip=50', 'skip=75') });
    }
    return response;
  };
}

/** Sets the `total` of pages, which tells a client when to stop reading. */
function setTotal(when: When, total: number): TransformFactory {
  return changeResponse(when, (response, request) =>
    editBody(response, request, (page) => {
      page['total'] = total;
    }),
  );
}

/** A page that the service returned. */
interface Page {
  exchange: Exchange;
  skip: number;
  items: number;
  total: number;
  /** Whether the request has the parameter `limit`. */
  hasLimit: boolean;
  /** The conversation ids of its sessions; simulations have none. */
  conversations: readonly unknown[];
  /** The endpoint and the filters, which all pages of a list share. */
  list: string;
}

/** Returns the page in the response of an exchange; undefined if it has none. */
function pageOf(exchange: Exchange): Page | undefined {
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
    exchange,
    skip,
    items: items.length,
    total,
    conversations: items.map((item) => isObject(item) && item['source_session_id']),
    hasLimit: query.has('limit'),
    list: [endpoint, ...filters].join(' '),
  };
}

/** Pages of one list that a client read one after the other. The first one starts with the first session. */
type Reading = readonly [Page, ...Page[]];

/**
 * Returns the readings of all lists. A request with `skip=0` starts a new reading, unless the pages so
 * far have a gap: a client may look at the total first, and then read from the last page to the first.
 */
const readingsOf = computeOnce(({ exchanges }: Transcript): readonly Reading[] => {
  const readings: [Page, ...Page[]][] = [];
  const current = new Map<string, [Page, ...Page[]]>();
  for (const page of exchanges.flatMap((exchange) => pageOf(exchange) ?? [])) {
    const reading = current.get(page.list);
    if (reading && (page.skip > 0 || coverageOf(reading).afterGap)) reading.push(page);
    else if (page.skip === 0) {
      const started: [Page, ...Page[]] = [page];
      readings.push(started);
      current.set(page.list, started);
    }
  }
  return [...readings, ...readShifted(exchanges)];
});

/**
 * Returns the readings of lists that a client read to the end, but from another page than the first.
 * The client may know the first page if it starts more than a page later, or read it with other filters.
 */
function readShifted(exchanges: readonly Exchange[]): Reading[] {
  const fromStart = new Set(
    exchanges
      .filter((exchange) => isRead(exchange) && Number(queryOf(exchange).get('skip') ?? 0) === 0)
      .map(({ endpoint }) => endpoint),
  );
  const pages = exchanges.flatMap((exchange) => pageOf(exchange) ?? []);
  const lists = Map.groupBy(pages, ({ list }) => list).values();
  return [...lists].flatMap((list) => {
    const [first, ...others] = list.sort((left, right) => left.skip - right.skip);
    if (!first || others.length === 0 || fromStart.has(first.exchange.endpoint)) return [];
    const { end, afterGap } = coverageOf([first, ...others], first.skip);
    return first.skip > first.items || afterGap || end < first.total ? [] : [[first, ...others]];
  });
}

/** Returns whether a client meant to read the whole list, not only its first sessions. */
function isPaged([first, ...others]: Reading): boolean {
  return others.length > 0 || (!first.hasLimit && first.total > first.items);
}

/**
 * Returns whether a client looked only at the newest sessions: it limited their number, read the list
 * repeatedly, or found its own conversation.
 */
function isLook(reading: Reading, transcript: Transcript): boolean {
  const [first, ...others] = reading;
  if (others.length > 0 || first.items >= first.total) return false;
  return first.hasLimit || isRepeated(reading, transcript) || hasOwn(first, transcript);
}

const isSameList = ([left]: Reading, [right]: Reading): boolean => left.list === right.list;

const isRepeated = (reading: Reading, transcript: Transcript): boolean =>
  readingsOf(transcript).some((other) => other !== reading && isSameList(other, reading));

/**
 * Returns whether a client read pages until it found one of its conversations. A client that kept reading
 * after it had found one wanted the whole list, unless it looked for all of them, or for one at a time.
 */
function isSearch(reading: Reading, transcript: Transcript): boolean {
  const last = reading.at(-1) ?? reading[0];
  return (
    hasOwn(last, transcript) &&
    (!reading.some((page) => page !== last && hasOwn(page, transcript)) ||
      isRepeated(reading, transcript) ||
      listMissing(reading, transcript).length === 0)
  );
}

/**
 * Returns the conversations that a client had ended before a reading, and that its pages do not contain.
 * Of a list with filters, it returns none: they need not match.
 */
function listMissing(reading: Reading, transcript: Transcript): string[] {
  const [{ exchange, list }] = reading;
  if (list !== exchange.endpoint) return [];
  const found = new Set(reading.flatMap(({ conversations }) => conversations));
  return [...endedConversationsOf(transcript)].flatMap(([id, { endedMs }]) =>
    endedMs <= exchange.startedMs && !found.has(id) ? [id] : [],
  );
}

/** Returns whether a page has a conversation whose spans the client sent. */
function hasOwn({ conversations }: Page, transcript: Transcript): boolean {
  const sent = sentConversationsOf(transcript);
  return conversations.some((id) => typeof id === 'string' && sent.has(id));
}

/** Returns the end of the pages that have no gap before them, and the first page after a gap. */
function coverageOf(reading: Reading, start = 0): { end: number; afterGap: Page | undefined } {
  let end = start;
  const pages = [...reading].sort((left, right) => left.skip - right.skip);
  for (const page of pages) {
    // Clients that add their limit to skip read one more page after the last session.
    if (page.skip > end && end < page.total) return { end, afterGap: page };
    end = Math.max(end, page.skip + page.items);
  }
  return { end, afterGap: undefined };
}
