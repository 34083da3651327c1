/** The order of the sessions on the pages of both results endpoints (spec 1, 4.3, 4.4). */
import { HOUR_MS } from '../../../../src/platform/clock.ts';
import { checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import type { Transform } from '../../../engine/mutants/mutant.ts';
import type { Subject } from '../../../engine/requirement.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { CLOSED_LAST, CLOSED_LAST_SUBJECT } from '../close/evidence.ts';
import { needsScores, needsSessions, wrongValue } from '../findings.ts';
import { sessionsIn, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import {
  conversationIdOf,
  findTraces,
  isResultsPage,
  isStep,
  sessionsById,
  sessionsOf,
  startedAtMs,
} from '../transcript.ts';
import { conversationIdIn, fastClock, intrusiveOnly, onPages, textOf } from '../transforms.ts';
import { both } from './both-endpoints.ts';
import { identify, PAGE_STEP } from './evidence.ts';
import { isManyPage, listManyKeys, noManySessions } from './many-sessions.ts';
import { changeSkip } from './paging.ts';

export const order: Subject = {
  requirements: {
    ...both('SERVICE-081', 'SERVICE-136', ({ endpoint, either, forEndpoint, editPages }) => ({
      rule: `${either('Production', 'Simulation')} sessions are sorted from newest to oldest.`,
      ...either(
        { section: '4.4', statements: ['1.14', '4.4.13'] },
        { section: '4.3', statements: ['1.14', '4.3.4'] },
      ),
      reason: 'A dashboard that reads only the first page would miss the latest sessions.',
      check: listsNewestFirst(endpoint),
      mutants: forEndpoint({
        'order-of-each-page': {
          description: 'Sorts only the sessions of each page.',
          // Most production sessions of a run start within the same hour, as those on its first pages.
          transform: changeSkip(endpoint, (skip, limit) => {
            const other = either(3, 1) * limit;
            if (skip === 0) return other;
            return skip === other ? 0 : skip;
          }),
        },
        'oldest-first': editPages('Lists the oldest session first.', (page) => {
          page['items'] = sessionsIn(page).reverse();
        }),
      }),
    })),
    ...both('SERVICE-193', 'SERVICE-194', ({ endpoint, either, forEndpoint, editPages }) => ({
      rule: `${either('Production', 'Simulation')} sessions are sorted from newest to oldest even if they start within one second.`,
      ...either(
        { section: '4.4', statements: ['1.14', '4.4.13'] },
        { section: '4.3', statements: ['1.14', '4.3.4'] },
      ),
      reason: 'Sessions of parallel simulations would change their places from page to page.',
      observability: 'provoked',
      probes: ['service/many'],
      check: sortsWithinSecond(endpoint),
      mutants: forEndpoint({
        'order-by-second': {
          ...editPages('Sorts only by whole seconds.', (page) => {
            const [first, second, ...others] = sessionsIn(page);
            if (first && second && others.length > 40) page['items'] = [second, first, ...others];
          }),
          ...intrusiveOnly,
        },
      }),
    })),
    'SERVICE-176': {
      level: 'should',
      rule: 'A conversation that starts before others and is closed after them is listed as older.',
      section: '4.4',
      statements: ['1.14', '4.4.13'],
      reason: 'A backlog that is closed today would hide the latest conversations.',
      observability: 'provoked',
      probes: ['service/conversations'],
      check: listsByStart(),
      mutants: {
        'latest-close-first': {
          description: 'Sorts production sessions by the time of their close.',
          transform: sortByClose,
          ...fastClock,
        },
      },
    },
  },
};

/** Returns the id of the conversation that is closed after newer ones. */
function findClosedLast(transcript: Transcript): string | undefined {
  const request = findTraces(transcript, CLOSED_LAST);
  return request && conversationIdOf(request);
}

/** Finds a session that is followed by one that starts more than an hour later. */
function findOrderFault(page: Exchange, ignoredId: string | undefined): Finding[] {
  const starts = sessionsOf(page).flatMap((session, index) => {
    const ms = session['source_session_id'] === ignoredId ? undefined : startedAtMs(session);
    return ms === undefined ? [] : [{ ms, index }];
  });
  const fault = starts.find(({ ms }, position) =>
    starts.slice(position + 1).some((later) => later.ms > ms + HOUR_MS),
  );
  if (!fault) return [];
  const pointer = `/items/${fault.index}/started_at`;
  return [wrongValue(page, pointer, 'no newer session after this one')];
}

/** Returns the pages before a page, if the run read the list page by page. */
const listEarlierPages = (page: Exchange, { exchanges }: Transcript): Exchange[] =>
  page.step === PAGE_STEP
    ? exchanges.filter(
        ({ endpoint, step, id }) =>
          endpoint === page.endpoint && step === PAGE_STEP && id < page.id,
      )
    : [];

/** Finds a session that is more than an hour newer than one on an earlier page of the same list. */
function findLateNewer(
  page: Exchange,
  ignoredId: string | undefined,
  transcript: Transcript,
): Finding[] {
  const startOf = (session: ResultsObject): number | undefined =>
    session['source_session_id'] === ignoredId ? undefined : startedAtMs(session);
  const earlier = listEarlierPages(page, transcript);
  if (earlier.length === 0) return [];
  const known = earlier.flatMap(sessionsOf);
  const oldestMs = Math.min(...known.map((session) => startOf(session) ?? Infinity));
  // Pages that overlap repeat sessions, which is the subject of another requirement.
  const identities = new Set(known.map(identify));
  const index = sessionsOf(page).findIndex((session) => {
    const ms = startOf(session);
    return ms !== undefined && ms > oldestMs + HOUR_MS && !identities.has(identify(session));
  });
  if (index < 0) return [];
  const expected = 'no newer session than on the pages before';
  return [wrongValue(page, `/items/${index}/started_at`, expected)];
}

/**
 * Requires sessions that start more than an hour apart to be in order. The specification does not
 * say which time "newest" refers to, so overlapping sessions may be in any order, and another
 * requirement is about the conversation that is closed after newer ones.
 */
function listsNewestFirst(endpoint: ResultsEndpoint): Check {
  const isPage = isResultsPage(endpoint);
  const ignoredIdOf = (transcript: Transcript): string | undefined =>
    endpoint === 'production' ? (findClosedLast(transcript) ?? '') : '';
  return checkEach(
    (page, transcript) => {
      if (!isPage(page) || page.intent !== 'valid') return false;
      const starts = [page, ...listEarlierPages(page, transcript)]
        .flatMap(sessionsOf)
        .filter((session) => session['source_session_id'] !== ignoredIdOf(transcript))
        .flatMap((session) => startedAtMs(session) ?? []);
      const latest = Math.max(...starts);
      return starts.some((ms) => ms < latest - HOUR_MS);
    },
    (page, transcript) => [
      ...findOrderFault(page, ignoredIdOf(transcript)),
      ...findLateNewer(page, ignoredIdOf(transcript), transcript),
    ],
    needsSessions(
      'No page has sessions that start more than an hour apart.',
      'Use a key that sees sessions of several hours.',
    ),
  );
}

/** Requires seeded sessions in their order, which is the same by start, by end, and by creation. */
function sortsWithinSecond(endpoint: ResultsEndpoint): Check {
  return checkEach(
    (page, transcript) =>
      isManyPage(endpoint, page) && listManyKeys(endpoint, page, transcript).length > 1,
    (page, transcript) => {
      const keys = listManyKeys(endpoint, page, transcript);
      // The keys are times in one format, so their order as text is their order in time.
      const index = keys.findIndex((key, position) => key < (keys[position + 1] ?? ''));
      if (index < 0) return [];
      const expected = `no session that starts at ${keys[index + 1]} after one that starts at ${keys[index]}`;
      return [wrongValue(page, `/items/${index}/started_at`, expected)];
    },
    noManySessions(endpoint),
  );
}

/** Requires the conversation that was closed last, but is older, after newer ones. */
function listsByStart(): Check {
  return checkEach(
    (page, transcript) => {
      const id = findClosedLast(transcript);
      const sessions = sessionsOf(page);
      const [closedLast, ...others] = sessionsById(page, id);
      const startMs = closedLast && startedAtMs(closedLast);
      return (
        isStep(page, 'production', 'results', 'whole') &&
        startMs !== undefined &&
        others.length === 0 &&
        sessions.some((session) => (startedAtMs(session) ?? 0) > startMs + HOUR_MS) &&
        findOrderFault(page, id).length === 0
      );
    },
    (page) => findOrderFault(page, ''),
    needsScores('The results list no conversation that was closed after newer ones.'),
  );
}

/** Lists the conversation that was closed last before all others. */
function sortByClose(): Transform {
  let lastId: string | undefined;
  const moveFirst = onPages('production', (page) => {
    const sessions = sessionsIn(page);
    const isLast = ({ source_session_id: id }: ResultsObject): boolean => id === lastId;
    page['items'] = [...sessions.filter(isLast), ...sessions.filter((each) => !isLast(each))];
  })();
  return async (request, forward, clock) => {
    const text = request.endpoint === 'traces' ? textOf(request) : '';
    if (text.includes(CLOSED_LAST_SUBJECT)) lastId = conversationIdIn(text);
    return moveFirst(request, forward, clock);
  };
}
