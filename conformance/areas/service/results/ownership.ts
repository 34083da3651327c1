/** Which sessions a key sees: all of its owner, with each of the owner's keys, and no others (spec 5). */
import { formatValue } from '../../../../src/contract/index.ts';
import { outcomeFinding, type Check } from '../../../engine/checks/check.ts';
import { always, editBody, isSuccess, type When } from '../../../engine/mutants/combinators.ts';
import type { Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { Subject } from '../../../engine/requirement.ts';
import { isRateLimited, type Exchange } from '../../../engine/transcript/reading.ts';
import { requireControlApi, wrongValue } from '../findings.ts';
import { findForeignIndex, findSharedResponse, ownerOf } from '../owners.ts';
import {
  queryParameter,
  sessionsIn,
  type ResultsEndpoint,
  type ResultsObject,
} from '../results-api.ts';
import { hasControlApi, isResultsPage, isStep, sessionsOf } from '../transcript.ts';
import { hasQuery, matchFurtherKeys, onPages, wantsFailures } from '../transforms.ts';
import { both } from './both-endpoints.ts';
import { SECOND_KEY_STEP } from './evidence.ts';
import { filtersSessions, isFilterRead } from './filtering.ts';
import { findWholeList, noWholeList } from './whole-list.ts';

const OWNER_HINT = 'Select by the owner of the API key in every query.';

/** The hint for pages that repeat what another owner received for the same URL. */
const CACHE_HINT = `${OWNER_HINT} If responses are cached, cache them by the owner of the API key and the URL, not by the URL alone.`;

export const ownership: Subject = {
  requirements: {
    ...both('SERVICE-121', 'SERVICE-156', ({ endpoint, kind, either, forEndpoint }) => ({
      rule: `A key returns no ${kind} session of another owner.`,
      statements: ['5.a3'],
      reason: 'Conversations contain private customer data.',
      observability: 'provoked',
      check: hidesOtherOwners(endpoint),
      mutants: forEndpoint({
        'owners-mixed': {
          description: 'Shows the sessions of other owners.',
          transform: mixOwners(endpoint),
        },
        'filter-ignores-owner': {
          description: 'Shows the sessions of other owners that match a filter by name.',
          transform: leakThroughFilter(endpoint, either('run', 'agent')),
        },
        'failed-ignores-owner': {
          description: 'Shows the failing sessions of other owners.',
          transform: leakThroughFilter(endpoint, either('run', 'agent'), wantsFailures),
        },
      }),
    })),
    ...both('SERVICE-227', 'SERVICE-228', ({ endpoint, kind, forEndpoint }) => ({
      rule: `Every key of an owner sees all ${kind} sessions of the owner.`,
      statements: ['5.a3'],
      reason: 'A customer who replaces the key would lose all results.',
      observability: 'provoked',
      check: showsAllToSecondKey(endpoint),
      mutants: forEndpoint({
        'sessions-of-first-key': {
          description: 'Shows the sessions of an owner only to the first of its keys.',
          transform: hideFromFurtherKeys(endpoint),
        },
      }),
    })),
  },
};

/**
 * Requires that no page lists a session of another owner. The evidence is the pages of an owner without
 * sessions, while the main owner has some, and every page with a session of another owner.
 */
function hidesOtherOwners(endpoint: ResultsEndpoint): Check {
  const isPage = isResultsPage(endpoint);
  return {
    evidence(transcript) {
      if (!hasControlApi(transcript)) return [];
      const pages = transcript.exchanges.filter(isPage);
      const isAnySeen = pages.some(
        (page) => ownerOf(page) === 'main' && sessionsOf(page).length > 0,
      );
      return pages.filter(
        (page) =>
          (isAnySeen && isStep(page, endpoint, 'another owner', 'filter of another owner')) ||
          findForeignIndex(page, transcript) >= 0,
      );
    },
    judge: (evidence, transcript) =>
      evidence.flatMap((page) => {
        const index = findForeignIndex(page, transcript);
        if (index < 0) return [];
        const url = formatValue(sessionsOf(page)[index]?.['url']);
        const expected = 'no session of another owner';
        const hint = findSharedResponse(page, transcript) ? CACHE_HINT : OWNER_HINT;
        return [{ ...wrongValue(page, `/items/${index}`, expected, url), hint }];
      }),
    unjudged: requireControlApi(noWholeList(endpoint)),
  };
}

/** Requires a list for another key of the same owner that has the same sessions. */
function showsAllToSecondKey(endpoint: ResultsEndpoint): Check {
  const lists = filtersSessions(endpoint, [SECOND_KEY_STEP], () => true);
  const isUnread = (page: Exchange): boolean =>
    isStep(page, endpoint, SECOND_KEY_STEP) &&
    page.response !== undefined &&
    !isRateLimited(page) &&
    !isResultsPage(endpoint)(page);
  return {
    // Without the list for the first key, a response without a list may have another cause.
    evidence: (transcript) => [
      ...(findWholeList(transcript, endpoint) ? transcript.exchanges.filter(isUnread) : []),
      ...lists.evidence(transcript),
    ],
    judge: (evidence, transcript) => [
      ...evidence
        .filter(isUnread)
        .map((page) => outcomeFinding(page, 'a list, as with the first key of the owner')),
      ...lists.judge(evidence.filter(isResultsPage(endpoint)), transcript),
    ],
    unjudged: requireControlApi(noWholeList(endpoint)),
  };
}

/** Lists nothing for the keys of an owner other than the first one. */
function hideFromFurtherKeys(endpoint: ResultsEndpoint): TransformFactory {
  return (): Transform => {
    const isHidden = matchFurtherKeys();
    const hide = onPages(endpoint, (page) => Object.assign(page, { items: [], total: 0 }))();
    return async (request, forward, clock) =>
      isHidden(request) ? hide(request, forward, clock) : forward(request);
  };
}

/** Shows owners without sessions the last sessions that another owner received. */
function mixOwners(endpoint: ResultsEndpoint): TransformFactory {
  return (): Transform => {
    let lastSessions: ResultsObject[] = [];
    return async (request, forward) => {
      const response = await forward(request);
      const hasNoQuery = request.path.endsWith('/');
      if (request.endpoint !== endpoint || !isSuccess(response) || !hasNoQuery) return response;
      return editBody(response, request, (page) => {
        const sessions = sessionsIn(page);
        if (sessions.length > 0) lastSessions = sessions;
        else Object.assign(page, { items: lastSessions, total: lastSessions.length });
      });
    };
  };
}

/**
 * Shows owners without sessions the last sessions that another owner received, if a filter by name
 * matches them.
 */
function leakThroughFilter(
  endpoint: ResultsEndpoint,
  filter: 'run' | 'agent',
  when: When = always,
): TransformFactory {
  return (): Transform => {
    // The filter is sent together with `failed_only`.
    let lastFailing: ResultsObject[] = [];
    return async (request, forward) => {
      const response = await forward(request);
      if (request.endpoint !== endpoint || !isSuccess(response)) return response;
      const value = queryParameter(request.path, filter)?.toLowerCase();
      return editBody(response, request, (page) => {
        const sessions = sessionsIn(page);
        if (sessions.length > 0) {
          if (wantsFailures(request) && isFilterRead(request)) lastFailing = sessions;
        } else if (value !== undefined && !hasQuery('eval')(request) && when(request)) {
          const items = lastFailing.filter((session) =>
            String(session[filter]).toLowerCase().includes(value),
          );
          Object.assign(page, { items, total: items.length });
        }
      });
    };
  };
}
