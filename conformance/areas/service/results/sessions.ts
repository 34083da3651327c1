/** The fields of a session, except its evals and its turns (spec 2.4, 2.5). */
import { formatValue } from '../../../../src/contract/index.ts';
import { instantMs, isoTime } from '../../../../src/platform/clock.ts';
import { checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import { chain, type When } from '../../../engine/mutants/combinators.ts';
import type { ProxyRequest, TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { MutantEntry, Subject } from '../../../engine/requirement.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { needsSessions, requireControlApi, requirePlainRight, wrongValue } from '../findings.ts';
import { objectsAt, sessionsIn, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import {
  findSeededSession,
  seededSessions,
  sessionsOf,
  startedAtMs,
  type SeededSession,
} from '../transcript.ts';
import {
  hasQuery,
  not,
  onPages,
  onSessions,
  onSummary,
  removeKey,
  setKey,
  wantsTraces,
  type SessionEdit,
} from '../transforms.ts';
import { both, editProductionSessions } from './both-endpoints.ts';
import { checkConversations, countableSteps, hasAllTurns } from './sent-conversations.ts';
import {
  checkSessions,
  hasSessionFields,
  hasTypicalValue,
  isIdentifiablePage,
  isSeededPage,
  noSessions,
  OBSERVED_VALUE,
  TIME_PRECISION_MS,
  WRONG_TYPE,
} from './evidence.ts';
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

/** A mutant that edits simulation sessions. */
const editSimulationSessions = (
  description: string,
  edit: SessionEdit,
  when?: When,
): MutantEntry => ({
  description,
  transform: onSessions('simulations', edit, when),
});

const roundRate = onSummary((summary) => {
  summary['pass_rate'] = Math.round(Number(summary['pass_rate']) * 100) / 100;
});

const useHashRoutes = onLink((url) => url.replace('/production-eval', '/#/production-eval'));

export const sessions: Subject = {
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
    ...both('SERVICE-088', 'SERVICE-140', ({ endpoint, kind, either }) => ({
      level: 'may',
      rule: `\`status\` of a ${kind} session is typically \`completed\`.`,
      statements: [either('2.5.7', '2.4.10')],
      reason: OBSERVED_VALUE,
      check: hasTypicalValue(endpoint, '/status', 'completed'),
    })),
    ...both(
      'SERVICE-090',
      'SERVICE-141',
      ({ endpoint, kind, either, forEndpoint, editSessions }) => ({
        rule: `\`started_at\` and \`ended_at\` of a ${kind} session are ISO 8601 timestamps.`,
        statements: [either('2.5.8', '2.4.11')],
        reason: WRONG_TYPE,
        check: hasSessionFields(endpoint, '/started_at', '/ended_at'),
        mutants: forEndpoint({
          'started-unix': editSessions(
            'Returns started_at as a Unix timestamp.',
            setKey('started_at', 1_795_167_000),
            wantsTraces,
          ),
          'ended-missing': editSessions('Omits ended_at.', removeKey('ended_at')),
          'ended-space': editSessions(
            'Separates date and time by a space.',
            setKey('ended_at', '2026-11-20 09:30:00'),
          ),
        }),
      }),
    ),
    ...both(
      'SERVICE-125',
      'SERVICE-161',
      ({ endpoint, kind, either, forEndpoint, editSessions }) => ({
        rule: `\`ended_at\` of a ${kind} session is not before \`started_at\`.`,
        statements: [either('2.5.8', '2.4.11')],
        reason: 'Reports would show sessions with a negative duration.',
        check: endsAfterStart(endpoint),
        mutants: forEndpoint({
          'ended-before': editSessions(
            'Returns an ended_at before started_at.',
            setKey('ended_at', '2020-01-01T00:00:00Z'),
          ),
        }),
      }),
    ),
    'SERVICE-082': {
      rule: '`url` of a production session is a string.',
      statements: ['2.5.1'],
      reason: WRONG_TYPE,
      check: hasSessionFields('production', '/url'),
      mutants: { 'url-null': editProductionSessions('Returns null as url.', setKey('url', null)) },
    },
    'SERVICE-084': {
      rule: '`run`, `source_session_id`, and `status` of a production session are strings.',
      statements: ['2.5.3', '2.5.4', '2.5.6'],
      reason: WRONG_TYPE,
      check: hasSessionFields('production', '/run', '/source_session_id', '/status'),
      mutants: {
        'session-run-null': editProductionSessions(
          'Returns null as run when turns are requested.',
          setKey('run', null),
          wantsTraces,
        ),
        'session-status-number': editProductionSessions(
          'Returns status as a number.',
          setKey('status', 3),
        ),
        'session-id-missing': {
          ...editProductionSessions(
            'Omits source_session_id unless turns are requested.',
            removeKey('source_session_id'),
            not(wantsTraces),
          ),
          alsoKills: ['SERVICE-219'],
        },
      },
    },
    'SERVICE-096': {
      rule: 'A production session has no `agent`, `scenario`, or `persona` key.',
      statements: ['2.5.14'],
      reason:
        'Programs use these keys to distinguish simulation sessions from production sessions.',
      check: hasNoSimulationKeys(),
      mutants: {
        'agent-null': editProductionSessions('Adds agent: null.', setKey('agent', null)),
        'scenario-empty': editProductionSessions('Adds an empty scenario.', setKey('scenario', '')),
        'persona-null': editProductionSessions('Adds persona: null.', setKey('persona', null)),
      },
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
    'SERVICE-139': {
      rule: '`simulation`, `agent`, `scenario`, `persona`, and `status` of a simulation session are strings.',
      statements: ['2.4.5', '2.4.6', '2.4.7', '2.4.8', '2.4.9'],
      reason: WRONG_TYPE,
      check: hasSessionFields(
        'simulations',
        ...['/simulation', '/agent', '/scenario', '/persona', '/status'],
      ),
      mutants: {
        ...Object.fromEntries(
          ['simulation', 'scenario', 'persona', 'status'].map((key) => [
            `simulation-${key}-null`,
            editSimulationSessions(`Returns null as ${key}.`, setKey(key, null)),
          ]),
        ),
        'simulation-agent-null': editSimulationSessions(
          'Returns null as agent when turns are requested.',
          setKey('agent', null),
          wantsTraces,
        ),
      },
    },
    'SERVICE-192': {
      rule: '`ended_at` of a production session is not before the end of its last span.',
      statements: ['2.5.8', '2.1.r1', '2.1.r3b'],
      reason: 'Reports would show sessions that end while the conversation goes on.',
      check: endsAfterLastSpan(),
      mutants: {
        'ended-with-first-span': editProductionSessions(
          'Returns the end of the first span as ended_at.',
          (session) => {
            session['ended_at'] = session['started_at'];
          },
        ),
      },
    },
    'SERVICE-212': {
      rule: 'A simulation session has the names of its simulation, agent, scenario, and persona.',
      statements: ['2.4.5', '2.4.6', '2.4.7', '2.4.8'],
      reason: 'People look for a session by these names.',
      observability: 'provoked',
      check: hasSeededNames(),
      mutants: {
        'simulation-agent-url': editSimulationSessions(
          'Returns the URL of the agent as agent.',
          (session) => {
            session['agent'] = `https://${String(session['agent'])}.example/chat`;
          },
        ),
        'simulation-as-id': editSimulationSessions('Returns an id as simulation.', (session) => {
          session['simulation'] = `sim-${String(session['simulation']).length}`;
        }),
        'simulation-persona-swapped': editSimulationSessions(
          'Swaps scenario and persona.',
          (session) => {
            const { scenario, persona } = session;
            Object.assign(session, { scenario: persona, persona: scenario });
          },
        ),
      },
    },
  },
  legal: {
    'zone-offset': {
      description: 'Returns times with an offset instead of Z.',
      transform: onSessions(
        'production',
        rewriteTimes((time) => time.replace('Z', '+00:00')),
      ),
    },
    'times-in-seconds': {
      description: 'Truncates times to seconds.',
      transform: rewriteAllTimes((time) => time.replace(/\.\d+/, '')),
    },
    'times-in-microseconds': {
      description: 'Returns times in microseconds.',
      transform: rewriteAllTimes((time) => time.replace('Z', '000Z')),
    },
    'times-without-zone': {
      description: 'Returns UTC times without a zone.',
      transform: rewriteAllTimes((time) => time.replace('Z', '')),
    },
    'status-other': {
      description: 'Uses done as the status of sessions.',
      transform: onSessions('production', setKey('status', 'done')),
    },
    'extra-session-fields': {
      description: 'Adds unspecified fields to sessions.',
      transform: onSessions('simulations', (session) => {
        session['id'] = 7;
        session['simulation_id'] = null;
      }),
    },
    'written-otherwise': {
      description:
        'Rounds rates to two decimals, lists the last turn first, and links to hash routes.',
      transform: chain(
        onSessions('simulations', roundRate),
        onSessions('production', (session) => {
          roundRate(session);
          useHashRoutes(session);
          if (Array.isArray(session['traces'])) {
            session['traces'] = objectsAt(session, 'traces').reverse();
          }
        }),
      ),
    },
  },
};

/** Requires links of the given page, and a different link for each session. */
function hasLink(endpoint: ResultsEndpoint, pageName: string): Check {
  const link = new RegExp(`^https?://[^\\s?]+/${pageName}/[^/?#\\s]+\\?sessionId=[^&#\\s]+$`, 'i');
  const expected = `{app_url}/${pageName}/{id}?sessionId={id}, starting with https://`;
  const check = checkSessions(
    endpoint,
    ({ url }) => typeof url === 'string',
    ({ url }) => (link.test(String(url)) ? undefined : { pointer: '/url', expected }),
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

/** With fewer sessions, equal ids could be a coincidence: each may be the only one of its run. */
const SAME_IDS_MIN = 3;

/** Finds links that several sessions of a page share. */
function findSharedLink(page: Exchange): Finding[] {
  const linked = sessionsOf(page).filter(({ url }) => typeof url === 'string');
  const sessionByLink = new Map<unknown, string>();
  for (const session of linked) {
    const { url } = session;
    const text = JSON.stringify(session);
    // A session that is listed twice violates another requirement.
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

/** Requires sessions to end no earlier than they start. */
function endsAfterStart(endpoint: ResultsEndpoint): Check {
  const msAt = (session: ResultsObject, key: string): number | undefined => {
    const value = session[key];
    return typeof value === 'string' ? instantMs(value) : undefined;
  };
  return checkSessions(
    endpoint,
    (session) =>
      msAt(session, 'started_at') !== undefined && msAt(session, 'ended_at') !== undefined,
    (session) => {
      const startMs = msAt(session, 'started_at') ?? 0;
      const endMs = msAt(session, 'ended_at') ?? 0;
      const expected = `no earlier than ${formatValue(session['started_at'])}`;
      return endMs >= startMs - TIME_PRECISION_MS ? undefined : { pointer: '/ended_at', expected };
    },
    needsSessions('No listed session has times that can be compared.'),
  );
}

/** Requires sessions to end no earlier than their last span. A service may count until the close. */
function endsAfterLastSpan(): Check {
  const endMsOf = ({ ended_at: endedAt }: ResultsObject): number | undefined =>
    typeof endedAt === 'string' ? instantMs(endedAt) : undefined;
  return checkConversations(
    countableSteps,
    // An end before the start violates another requirement.
    (conversation) => {
      const endMs = endMsOf(conversation.session) ?? 0;
      const startMs = startedAtMs(conversation.session) ?? Infinity;
      return hasAllTurns(conversation) && endMs >= startMs - TIME_PRECISION_MS;
    },
    ({ id, session, spans }) => {
      const lastNs = spans.map(({ endNs }) => endNs).reduce((a, b) => (a > b ? a : b), 0n);
      const lastMs = Number(lastNs / 1_000_000n);
      const endMs = endMsOf(session) ?? 0;
      if (endMs > lastMs - TIME_PRECISION_MS) return [];
      const expected = `ended_at of ${formatValue(id)} at or after ${isoTime(lastMs)}, the end of its last span`;
      return [{ expected, received: formatValue(session['ended_at']) }];
    },
  );
}

const seededNames = ['simulation', 'agent', 'scenario', 'persona'] as const;

/** Requires the seeded names in seeded simulation sessions, which are found by their start. */
export function hasSeededNames(): Check {
  const findFaults = (page: Exchange, seeded: SeededSession): Finding[] => {
    const index = sessionsOf(page).findIndex(
      (session) => Math.abs((startedAtMs(session) ?? 0) - seeded.startMs) < TIME_PRECISION_MS,
    );
    const session = sessionsOf(page)[index];
    // A value of another type violates another requirement.
    return seededNames
      .filter((name) => typeof session?.[name] === 'string' && session[name] !== seeded[name])
      .map((name) => wrongValue(page, `/items/${index}/${name}`, formatValue(seeded[name])));
  };
  return checkEach(
    isSeededPage('whole'),
    (page, transcript) => seededSessions(transcript).flatMap((seeded) => findFaults(page, seeded)),
    requireControlApi(noWholeList('simulations')),
  );
}

function hasNoSimulationKeys(): Check {
  return checkSessions(
    'production',
    () => true,
    (session) => {
      const key = ['agent', 'scenario', 'persona'].find((name) => Object.hasOwn(session, name));
      return key === undefined ? undefined : { pointer: `/${key}`, expected: 'absent' };
    },
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

function hideDeletedSimulations(page: ResultsObject, request: ProxyRequest): void {
  page['items'] = sessionsIn(page).filter((session) => !isOfDeleted(session));
  const isFiltered = ['failed_only', 'agent', 'eval'].some((name) => hasQuery(name)(request));
  const total = Number(page['total']);
  if (!isFiltered && total > 0) page['total'] = total - 1;
}

function rewriteTimes(rewrite: (time: string) => string): SessionEdit {
  return (session) => {
    for (const key of ['started_at', 'ended_at']) session[key] = rewrite(String(session[key]));
  };
}

function rewriteAllTimes(rewrite: (time: string) => string): TransformFactory {
  return chain(
    onSessions('production', rewriteTimes(rewrite)),
    onSessions('simulations', rewriteTimes(rewrite)),
  );
}
