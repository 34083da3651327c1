/** The links of sessions to the web app, which sessions of deleted simulations lack (spec 2.4, 2.5). */
import { formatValue } from '../../../../src/contract/index.ts';
import { checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import type { ProxyRequest } from '../../../engine/mutants/mutant.ts';
import type { MutantEntry, Subject } from '../../../engine/requirement.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { needsSessions, requireControlApi, requirePlainRight, wrongValue } from '../findings.ts';
import { sessionsIn, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import { findSeededSession, isResultsPage, seededSessions, sessionsOf } from '../transcript.ts';
import { hasQuery, onPages, setKey, type SessionEdit } from '../transforms.ts';
import { both, editProductionSessions, editSimulationSessions } from './both-endpoints.ts';
import {
  hasSessionFields,
  isIdentifiablePage,
  isSeededPage,
  noSessions,
  WRONG_TYPE,
} from './evidence.ts';
import { hasSeededNames } from './sessions.ts';
import { noWholeList } from './whole-list.ts';

/** Edits the link of sessions that have one. */
const onLink =
  (edit: (url: string) => string): SessionEdit =>
  (session) => {
    if (typeof session['url'] === 'string') session['url'] = edit(session['url']);
  };

/** Edits the sessions of simulations that exist. The deleted one is the only one with its agent. */
const onExisting =
  (edit: SessionEdit): SessionEdit =>
  (session) => {
    if (!isOfDeleted(session)) edit(session);
  };

export const links: Subject = {
  requirements: {
    ...both('SERVICE-083', 'SERVICE-137', ({ either, forEndpoint, editSessions }) => ({
      rule: either(
        '`url` of a production session is absolute, ends in `/production-eval/{id}?sessionId={id}`, and is unique.',
        '`url` of a simulation session is null, or it is absolute, ends in `/simulation/{id}?sessionId={id}`, and is unique.',
      ),
      statements: either(['2.5.2'], ['2.4.1', '2.4.2']),
      reason: 'People follow the link from a failing build to the conversation.',
      check: either(hasLink('production', 'production-eval'), hasLinkOrNull()),
      mutants: {
        ...forEndpoint({
          'url-relative': editSessions(
            'Returns links without a host.',
            onLink((url) => url.replace(/^https?:\/\/[^/]+/, '')),
          ),
          'url-of-one': editSessions(
            'Returns the same link for every session.',
            onLink((url) => url.replace(/[^/]+\?.*/, 'one?sessionId=one')),
          ),
          'url-same-session-id': editSessions(
            'Uses the same session id in every link.',
            onLink((url) => url.replace(/\?.*/, '?sessionId=one')),
          ),
        }),
        ...either(wrongProductionLinks(), wrongSimulationLinks()),
      },
    })),
    'SERVICE-082': {
      rule: '`url` of a production session is a string.',
      statements: ['2.5.1'],
      reason: WRONG_TYPE,
      check: hasSessionFields('production', '/url'),
      mutants: { 'url-null': editProductionSessions('Returns null as url.', setKey('url', null)) },
    },
    'SERVICE-138': {
      rule: 'A session of a deleted simulation is listed with its outcomes and `url: null`.',
      statements: ['2.4.3', '2.4.4'],
      reason: 'Deleting a simulation would also delete its findings or leave broken links.',
      observability: 'provoked',
      check: requirePlainRight([hasSeededNames()], keepsDeletedSimulations()),
      mutants: {
        'simulation-deleted-link': editSimulationSessions(
          'Links to a deleted simulation.',
          (session) => {
            if (isOfDeleted(session)) {
              session['url'] = 'http://127.0.0.1/simulation/gone?sessionId=gone';
            }
          },
        ),
        'simulation-deleted-hidden': {
          description: 'Does not list sessions of deleted simulations.',
          transform: onPages('simulations', hideDeletedSimulations),
          // It hides them after paging, so a page begins too early.
          alsoKills: ['SERVICE-135', 'SERVICE-155'],
        },
      },
    },
  },
};

/** Requires links of the given page, and a different link for each session. */
function hasLink(endpoint: ResultsEndpoint, pageName: string): Check {
  const link = new RegExp(`^https?://[^\\s?]+/${pageName}/[^/?#\\s]+\\?sessionId=[^&#\\s]+$`, 'i');
  const check = checkEach(
    (page) => isResultsPage(endpoint)(page) && sessionsOf(page).some(hasUrl),
    (page, transcript) =>
      sessionsOf(page).flatMap((session, index) => {
        const url = String(session['url']);
        if (!hasUrl(session) || link.test(url)) return [];
        const isDeleted = findSeededSession(session, transcript)?.isDeleted === true;
        const expected = isDeleted
          ? 'null, because the simulation was deleted'
          : `{app_url}/${pageName}/{id}?sessionId={id}`;
        const received = formatLink(url);
        const hint = isDeleted ? DELETED_HINT : explainLink(url, pageName);
        return [{ ...wrongValue(page, `/items/${index}/url`, expected, received), hint }];
      }),
    needsSessions('No session has a link.'),
  );
  return {
    ...check,
    judge: (evidence, transcript) => {
      const malformed = check.judge(evidence, transcript);
      return malformed.length > 0 ? malformed : evidence.flatMap(findSharedLink);
    },
  };
}

const hasUrl = ({ url }: ResultsObject): boolean => typeof url === 'string';

/** A link that is longer loses its middle, because its path and its query show what is wrong. */
const SHOWN_LENGTH = 160;

/** Formats a link so that its end stays visible. */
const formatLink = (url: string): string =>
  url.length > SHOWN_LENGTH ? `"${url.slice(0, 60)}…${url.slice(-90)}"` : JSON.stringify(url);

const DELETED_HINT = 'Send null as `url` of a session whose simulation was deleted.';

/** Says which part of a link is wrong. */
function explainLink(url: string, pageName: string): string {
  if (url === '' && pageName === 'simulation') {
    return 'An empty string is not a link. If the simulation was deleted, send null.';
  }
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    return 'Start the link with the address of the web app, such as https://app.example.';
  }
  const { pathname, search, searchParams: query, hash } = parsed;
  const [id, page] = pathname.split('/').reverse();
  if (page?.toLowerCase() !== pageName || !id) {
    return `End the path of the link with /${pageName}/ and the id of ${pageName === 'simulation' ? 'the simulation' : 'the evaluation'}.`;
  }
  if (hash !== '')
    return 'Send the session id in the query of the link, and leave out the fragment.';
  if (query.get('sessionId')) return 'Leave out everything but ?sessionId={id} after the path.';
  const found = query.has('sessionId') ? 'It is empty' : `Found ${search || 'no query'}`;
  return `Send the id of the session in the query parameter sessionId of the link. ${found}.`;
}

/** With fewer sessions, equal ids could be a coincidence: each may be the only one of its run. */
const SAME_IDS_MIN = 3;

/** Finds links that several sessions of a page share. */
function findSharedLink(page: Exchange): Finding[] {
  const linked = sessionsOf(page).filter(({ url }) => typeof url === 'string');
  const sessionByLink = new Map<unknown, string>();
  for (const session of linked) {
    const { url, source_session_id: id } = session;
    // A session or conversation that is listed twice violates another requirement.
    const text = JSON.stringify(id ?? session);
    if ((sessionByLink.get(url) ?? text) !== text) {
      return [wrongValue(page, '/items', 'a different link for each session', formatValue(url))];
    }
    sessionByLink.set(url, text);
  }
  const ids = [...sessionByLink.keys()].map((url) => /sessionId=(.*)$/.exec(String(url))?.[1]);
  if (ids.length < SAME_IDS_MIN || new Set(ids).size > 1) return [];
  const received = `sessionId=${ids[0] ?? ''} in every link`;
  return [wrongValue(page, '/items', 'the id of the session in its link', received)];
}

/** Requires a link, or null if the simulation was deleted. */
function hasLinkOrNull(): Check {
  const typeCheck = hasSessionFields('simulations', '/url');
  const linkCheck = hasLink('simulations', 'simulation');
  return {
    evidence: (transcript) => typeCheck.evidence(transcript),
    judge: (evidence, transcript) => [
      ...typeCheck.judge(evidence, transcript),
      ...linkCheck.judge(evidence, transcript),
      ...findMissingLinks(evidence, transcript),
    ],
    unjudged: noSessions,
  };
}

function findMissingLinks(pages: Exchange[], transcript: Transcript): Finding[] {
  const isExisting = (session: ResultsObject): boolean =>
    findSeededSession(session, transcript)?.isDeleted === false;
  return pages
    .filter((page) => isSeededPage('whole')(page, transcript))
    .flatMap((page) =>
      sessionsOf(page)
        .filter((session) => session['url'] === null && isExisting(session))
        .map(() => wrongValue(page, '/items', 'a link to the existing simulation', 'null')),
    );
}

/** Requires the sessions of a deleted simulation with their outcomes and without a link. */
function keepsDeletedSimulations(): Check {
  const findFaults = (session: ResultsObject | undefined, page: Exchange): Finding[] => {
    if (!session) {
      return [wrongValue(page, '/items', 'the session of a deleted simulation', 'not listed')];
    }
    const { url, eval_outcomes: outcomes } = session;
    return [
      ...(url === null ? [] : [wrongValue(page, '/items', 'url: null', formatValue(url))]),
      ...(Array.isArray(outcomes) && outcomes.length === 0
        ? [wrongValue(page, '/items', 'the outcomes of the session', '[]')]
        : []),
    ];
  };
  return checkEach(
    isIdentifiablePage('whole'),
    (page, transcript) =>
      seededSessions(transcript)
        .filter(({ isDeleted }) => isDeleted)
        .flatMap((seeded) => {
          const session = sessionsOf(page).find(({ persona }) => persona === seeded.persona);
          return findFaults(session, page);
        }),
    requireControlApi(noWholeList('simulations')),
  );
}

function wrongProductionLinks(): Record<string, MutantEntry> {
  const edits =
    (edit: (url: string) => string): SessionEdit =>
    (session) => {
      session['url'] = edit(String(session['url']));
    };
  return {
    'url-without-session': editProductionSessions(
      'Links to the run instead of the session.',
      edits((url) => url.replace(/\?.*/, '')),
    ),
    'url-other-path': editProductionSessions(
      'Links to another page.',
      edits((url) => url.replace('production-eval', 'evaluations')),
    ),
  };
}

function wrongSimulationLinks(): Record<string, MutantEntry> {
  return {
    'simulation-url-number': editSimulationSessions(
      'Returns url as a number.',
      onExisting(setKey('url', 17)),
    ),
    'simulation-url-other-path': editSimulationSessions(
      'Links to another page.',
      onExisting((session) => {
        session['url'] = String(session['url']).replace('/simulation/', '/sim/');
      }),
    ),
    'simulation-url-null': editSimulationSessions(
      'Returns null as url of existing simulations.',
      setKey('url', null),
    ),
  };
}

function isOfDeleted({ agent }: ResultsObject): boolean {
  return String(agent).startsWith('Check Other');
}

/** Removes the session of the deleted simulation from a page. */
export function hideDeletedSimulations(page: ResultsObject, request: ProxyRequest): void {
  const sessions = sessionsIn(page);
  const items = sessions.filter((session) => !isOfDeleted(session));
  page['items'] = items;
  const isFiltered = ['failed_only', 'agent', 'eval'].some((name) => hasQuery(name)(request));
  const total = Number(page['total']);
  const isCounted = !isFiltered || items.length < sessions.length;
  if (isCounted && total > 0) page['total'] = total - 1;
}
