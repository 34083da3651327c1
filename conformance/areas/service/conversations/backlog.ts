/** The backlog: conversations that closed without evals, and are scored when a person asks (spec 3.1). */
import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import { type Check, outcomeFinding, unjudgedAs } from '../../../engine/checks/check.ts';
import {
  isSuccess,
  jsonResponse,
  replaceParts,
  type When,
} from '../../../engine/mutants/combinators.ts';
import type { Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
import { withDefaults, type Subject } from '../../../engine/requirement.ts';
import {
  type Exchange,
  isAccepted,
  isRateLimited,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import { SAME_ID } from '../close/evidence.ts';
import { hasOutcomes } from '../close/unscored.ts';
import { requireAll, requireControlApi, requirePlainRight, wrongValue } from '../findings.ts';
import { sessionsIn, type ResultsObject } from '../results-api.ts';
import { scoresAtMostQueuedEvals } from '../results/scored-conversations.ts';
import { hasTurnPerSpan } from '../results/sent-turns.ts';
import { editTurnsOf } from '../results/turn-edits.ts';
import {
  conversationIdOf,
  findSession,
  findTraces,
  isStep,
  lastAccepted,
  sentChatSpans,
  sessionsById,
  summaryNumber,
  turnsOf,
} from '../transcript.ts';
import { isPlainJson } from '../traces/trace-requests.ts';
import {
  closesUnscored,
  conversationIdIn,
  doubleOutcomes,
  emptyTraceResponse,
  hasValidKey,
  onPages,
  onSessions,
} from '../transforms.ts';

const backlogSteps = ['backlog old', 'backlog'] as const;

const noBacklog = requireControlApi(
  unjudgedAs('not_observed', 'The run has no backlog of unscored conversations.'),
);

const isBacklogScoring: When = ({ path }) => path.startsWith('/__admin/score-backlog');

export const backlogScoring: Subject = {
  requirements: withDefaults(
    { observability: 'provoked', probes: ['service/backlog'] },
    {
      'SERVICE-062': {
        rule: 'Scoring the backlog uses all configured evals once, and adds each conversation to the run of its date.',
        statements: ['3.1.22', '3.1.23'],
        reason: 'A backlog of several days would look like the results of one day.',
        check: requirePlainRight(
          [hasOutcomes(), scoresAtMostQueuedEvals(), separatesOwners()],
          requireAll(scoresBacklogByDate('backlog'), scoresBacklogByDate('backlog at first')),
        ),
        mutants: {
          'backlog-in-one-run': {
            description: 'Adds the whole backlog to one run.',
            transform: onBacklog((session) => {
              session['run'] = 'Live traces 2026-01-01';
            }),
          },
          'backlog-scored-twice': {
            description: 'Scores the backlog again when it is requested again.',
            transform: onBacklog(doubleOutcomes),
          },
          'backlog-one-by-one': {
            description: 'Scores only one conversation of the backlog at a time.',
            transform: hideUntilSecondScoring,
          },
          'backlog-left': {
            description: 'Reports that it scores the backlog but does not.',
            transform: fakeBacklogScoring,
          },
        },
      },
      'SERVICE-063': {
        rule: 'The service refuses to score the backlog while no evals are configured.',
        statements: ['3.1.24'],
        reason: 'Scoring would appear to succeed without producing any result.',
        check: refusesWithoutEvals(),
        mutants: {
          'backlog-without-evals': {
            description: 'Accepts scoring the backlog without evals.',
            transform: replaceParts(isBacklogScoring, { status: 200 }),
          },
        },
      },
      'SERVICE-205': {
        rule: 'Two owners can have conversations with the same id, and spans with the same ids.',
        section: '5',
        statements: ['3.1.2', '5.a3'],
        reason: 'The spans of one customer would be lost or join the conversation of another one.',
        check: separatesOwners(),
        mutants: {
          'ids-of-all-owners': {
            description: 'Loses spans that another owner has sent before.',
            transform: loseKnownRequests,
          },
        },
      },
      'SERVICE-064': {
        rule: 'A conversation that closed without configured evals keeps its turns until it is scored.',
        statements: ['3.1.15'],
        reason: 'There would be nothing left to score.',
        // The spans of the backlog arrive again with the key of another owner.
        check: requirePlainRight(
          [separatesOwners(), hasTurnPerSpan('json', 're-sent')],
          keepsTurns(),
        ),
        mutants: {
          'backlog-traces-gone': {
            description: 'Discards the turns of unscored conversations.',
            transform: onBacklog((session) => editTurnsOf(session, () => [])),
          },
          'backlog-last-turn': {
            description: 'Keeps only the last turn of unscored conversations.',
            transform: onBacklog((session) => editTurnsOf(session, (turns) => turns.slice(-1))),
          },
        },
      },
    },
  ),
};

/** Returns the sessions of each conversation in the backlog, in the order of their closes. */
function readBacklog(
  transcript: Transcript,
  pageStep: 'backlog at first' | 'backlog' = 'backlog',
): {
  page: Exchange | undefined;
  sessions: ResultsObject[][];
} {
  const page = lastAccepted(transcript, 'production', pageStep);
  const sessions = backlogSteps.map((step) => {
    const request = findTraces(transcript, step);
    return sessionsById(page, request && conversationIdOf(request));
  });
  return { page, sessions };
}

const isScoringRequested = (transcript: Transcript): boolean =>
  transcript.exchanges.some((exchange) => isStep(exchange, 'admin', 'score backlog again')) &&
  backlogSteps.every((step) => lastAccepted(transcript, 'end', `close ${step}`));

/** If regular conversations are not listed under their ids, that is the cause. */
const areOthersListed = (transcript: Transcript): boolean =>
  findSession(transcript, 'old') !== undefined && findSession(transcript, 'json') !== undefined;

/** Requires all evals for each conversation of the backlog, in the run of its date. */
function scoresBacklogByDate(pageStep: 'backlog at first' | 'backlog'): Check {
  return {
    evidence(transcript) {
      const { page } = readBacklog(transcript, pageStep);
      return page && isScoringRequested(transcript) && areOthersListed(transcript) ? [page] : [];
    },
    judge([page], transcript) {
      if (!page) return [];
      const { sessions } = readBacklog(transcript, pageStep);
      const seed = transcript.exchanges.find(({ step }) => step === 'evals for backlog')?.sent;
      const evals = resolvePointer(seed, '/settings/evals');
      const evalCount = Array.isArray(evals) ? evals.length : 0;
      const counts = sessions.map((ofConversation) =>
        ofConversation.map((session) => summaryNumber(session, 'total_evaluations') ?? 'no'),
      );
      if (counts.some(({ length }) => length !== 1)) {
        const listed = counts.map(({ length }) => length).join(' and ');
        return [wrongValue(page, '/items', 'each conversation of the backlog once', listed)];
      }
      if (counts.some(([count]) => typeof count === 'number' && count !== evalCount)) {
        const expected = `${evalCount} evaluations each`;
        return [wrongValue(page, '/items', expected, counts.flat().join(' and '))];
      }
      const runs = sessions.map(([session]) => session?.['run']);
      const daysDiffer =
        findSession(transcript, 'old')?.['run'] !== findSession(transcript, 'json')?.['run'];
      if (!daysDiffer || typeof runs[0] !== 'string' || runs[0] !== runs[1]) return [];
      return [wrongValue(page, '/items', 'a different run for each day', formatValue(runs))];
    },
    unjudged: noBacklog,
  };
}

/** Requires a refusal to score the backlog without evals. */
function refusesWithoutEvals(): Check {
  return {
    evidence: ({ exchanges }) =>
      exchanges.filter((exchange) => isStep(exchange, 'admin', 'score no evals')),
    judge: (evidence) =>
      evidence
        .filter(isAccepted)
        .map((exchange) =>
          outcomeFinding(exchange, 'a refusal that asks to configure evals first'),
        ),
    unjudged: noBacklog,
  };
}

/**
 * Requires that an owner can send and close a conversation whose ids another owner has used before, and that
 * it has its turn when it is scored.
 */
function separatesOwners(): Check {
  const hasSameIds = ({ exchanges }: Transcript): boolean =>
    exchanges.some((exchange) => isStep(exchange, 'traces', SAME_ID) && isAccepted(exchange));
  const isRequest = (exchange: Exchange): boolean =>
    (isStep(exchange, 'traces', 'backlog') || isStep(exchange, 'end', 'close backlog')) &&
    !isRateLimited(exchange);
  const expected = 'a 2xx response, because only another owner has used the same ids';
  return {
    evidence: (transcript) => {
      // If the conversation before is not closed, ids are not the cause.
      const isPlainClosed = lastAccepted(transcript, 'end', 'close backlog old') !== undefined;
      const { page } = readBacklog(transcript);
      return isPlainClosed && hasSameIds(transcript)
        ? [...transcript.exchanges.filter(isRequest), ...(page ? [page] : [])]
        : [];
    },
    judge: (evidence, transcript) => {
      const refused = evidence.find((exchange) => isRequest(exchange) && !isAccepted(exchange));
      if (refused) return [outcomeFinding(refused, expected)];
      const { page, sessions } = readBacklog(transcript);
      const [older = [], newer = []] = sessions;
      const hasTurn = (session: ResultsObject): boolean => turnsOf(session).length > 0;
      return page && older.some(hasTurn) && !newer.some(hasTurn)
        ? [
            wrongValue(
              page,
              '/items',
              'a session with a turn, which another owner has sent, too',
              'none',
            ),
          ]
        : [];
    },
    unjudged: noBacklog,
  };
}

/** Discards trace requests whose body was sent before. */
function loseKnownRequests(): Transform {
  const known = new Set<string>();
  return async (request, forward) => {
    const isValid = request.endpoint === 'traces' && isPlainJson(request) && hasValidKey(request);
    if (!isValid) return forward(request);
    if (known.has(request.body)) return emptyTraceResponse;
    known.add(request.body);
    return forward(request);
  };
}

/** Requires all turns in the sessions of the backlog. */
function keepsTurns(): Check {
  const singleSessions = (transcript: Transcript): ResultsObject[] =>
    readBacklog(transcript).sessions.flatMap((sessions) => (sessions.length === 1 ? sessions : []));
  return {
    evidence(transcript) {
      const { page } = readBacklog(transcript);
      const hasTraces = singleSessions(transcript).some(({ traces }) => Array.isArray(traces));
      return page && hasTraces ? [page] : [];
    },
    judge: ([page], transcript) =>
      singleSessions(transcript).flatMap((session) => {
        const { source_session_id: id } = session;
        const sent = sentChatSpans(String(id), transcript).length;
        const { length } = turnsOf(session);
        if (!page || length === sent) return [];
        const expected = `the ${sent} turns of ${formatValue(id)} that were sent before its close`;
        return [wrongValue(page, '/items', expected, String(length))];
      }),
    unjudged: noBacklog,
  };
}

/** Edits the sessions of conversations that were closed without evals. */
function onBacklog(edit: (session: ResultsObject) => void): TransformFactory {
  return (): Transform => {
    const unscored = new Set<string>();
    const editUnscored = onSessions('production', (session) => {
      if (unscored.has(String(session['source_session_id']))) edit(session);
    })();
    return async (request, forward, clock) => {
      const response = await editUnscored(request, forward, clock);
      const id = conversationIdIn(request.path);
      if (request.endpoint !== 'end' || response === 'dropped' || id === undefined) return response;
      if (closesUnscored(response)) unscored.add(id);
      return response;
    };
  };
}

/** Lists one session of the backlog until its scoring is requested again. */
function hideUntilSecondScoring(): Transform {
  let accepted = 0;
  const hide = onPages('production', (page) => {
    const items = sessionsIn(page).slice(0, 1);
    Object.assign(page, { items, total: items.length });
  })();
  return async (request, forward, clock) => {
    if (accepted === 1 && request.endpoint === 'production') return hide(request, forward, clock);
    const response = await forward(request);
    if (isBacklogScoring(request) && isSuccess(response)) accepted += 1;
    return response;
  };
}

/** Forwards the first request to score the backlog, which is refused, and fakes the second. */
function fakeBacklogScoring(): Transform {
  let isRefused = false;
  return async (request, forward) => {
    if (!isBacklogScoring(request)) return forward(request);
    if (isRefused) return jsonResponse(200, { conversations: 2, evaluations_queued: 4, runs: [] });
    isRefused = true;
    return forward(request);
  };
}
