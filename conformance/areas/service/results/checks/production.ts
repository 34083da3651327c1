import { formatValue, resolvePointer } from '../../../../../src/contract/index.ts';
import { checkEach, unjudgedAs, type Check } from '../../../../engine/checks/check.ts';
import {
  type Exchange,
  type Transcript,
  isAccepted,
} from '../../../../engine/transcript/reading.ts';
import { requireControlApi, wrongValue } from '../../findings.ts';
import type { ResultsObject } from '../../results-api.ts';
import { isStep } from '../../steps.ts';
import {
  conversationIdOf,
  findUpload,
  hasControlApi,
  isResultsPage,
  lastAccepted,
  lastPolledPage,
  seededEvalCount,
  sessionsById,
  sessionsOf,
  summaryNumber,
} from '../../transcript.ts';
import type { productionRequirements } from '../requirements/production.ts';
import {
  countsFailures,
  filtersByTime,
  filtersSessions,
  hasFailure,
  listsOnlyFailures,
  matchesEval,
  matchesRun,
  nameFilterSteps,
  summarizesWholeSession,
} from './filters.ts';
import {
  answersReads,
  capsLimit,
  echoesLimits,
  hasPageFields,
  hidesOtherOwners,
  listsNewestFirst,
  pagesCompletely,
  usesDefaults,
} from './pages.ts';
import {
  checkSessions,
  endsAfterStart,
  hasLink,
  hasMatchingRate,
  hasOutcomes,
  hasPossibleCounts,
  hasSessionFields,
  hasSummary,
  hasTypicalValue,
  includesTraces,
  listsAllOutcomes,
  noSessions,
  omitsTraces,
} from './sessions.ts';
import {
  hasSentTexts,
  hasTurnPerSpan,
  numbersTurns,
  sentInputs,
  startsWithFirstSpan,
} from './turns.ts';

const ENDPOINT = 'production';

const isAboveZero = (value: unknown): boolean => typeof value === 'number' && value > 0;
const queuedOf = ({ json }: Exchange): unknown => resolvePointer(json, '/evaluations_queued');

/** First closes of the main conversations that queued evals. */
const scoringCloses = ({ exchanges }: Transcript): Exchange[] =>
  exchanges.filter(
    (exchange) =>
      exchange.endpoint === 'end' &&
      exchange.probe === 'service/conversations' &&
      !isStep(exchange, 'end', 'close again') &&
      isAccepted(exchange) &&
      isAboveZero(queuedOf(exchange)),
  );

const findClosedSession = (transcript: Transcript, close: Exchange): ResultsObject | undefined =>
  sessionsById(lastPolledPage(transcript), conversationIdOf(close))[0];

/** Requires every closed conversation on the last page that was polled. */
function listsClosedConversations(): Check {
  return {
    evidence: (transcript) => (lastPolledPage(transcript) ? scoringCloses(transcript) : []),
    judge: (evidence, transcript) =>
      evidence
        .filter((close) => !findClosedSession(transcript, close))
        .map((close) => {
          const expected = `${formatValue(conversationIdOf(close))} in the results within 10 s`;
          return wrongValue(close, '', expected, 'not listed');
        }),
    unjudged: unjudgedAs('not_observed', 'No evals are configured, so nothing is scored.'),
  };
}

/** Requires the run name of the close response in the results. */
function listsSameRun(): Check {
  return {
    evidence: (transcript) =>
      scoringCloses(transcript).filter(
        (close) =>
          typeof resolvePointer(close.json, '/run') === 'string' &&
          typeof findClosedSession(transcript, close)?.['run'] === 'string',
      ),
    judge: (evidence, transcript) =>
      evidence.flatMap((close) => {
        const run = findClosedSession(transcript, close)?.['run'];
        if (run === resolvePointer(close.json, '/run')) return [];
        return [wrongValue(close, '/run', `${formatValue(run)}, the run of its session`)];
      }),
    unjudged: noSessions,
  };
}

function hasNoSimulationKeys(): Check {
  return checkSessions(
    ENDPOINT,
    () => true,
    (session) => {
      const key = ['agent', 'scenario', 'persona'].find((name) => Object.hasOwn(session, name));
      return key === undefined ? undefined : { pointer: `/${key}`, expected: 'absent' };
    },
  );
}

function hasTypicalPass(): Check {
  const isPassed = (session: ResultsObject): boolean => {
    const total = summaryNumber(session, 'total_evaluations') ?? 0;
    return total > 0 && summaryNumber(session, 'passed_count') === total;
  };
  const outcomeOf = (session: ResultsObject): unknown =>
    resolvePointer(session, '/eval_outcomes/0/outcome');
  return checkEach(
    (page) => isResultsPage(ENDPOINT)(page) && sessionsOf(page).some(isPassed),
    (page) => {
      const unusual = sessionsOf(page).find(
        (session) => isPassed(session) && outcomeOf(session) !== 'pass',
      );
      return unusual ? [wrongValue(page, '/items', '"pass"', formatValue(outcomeOf(unusual)))] : [];
    },
    unjudgedAs('not_observed', 'No session passed every eval.'),
  );
}

/** Requires outcomes in every session, and a total of 0 for an owner without scored sessions. */
function listsOnlyScored(): Check {
  const check = checkSessions(
    ENDPOINT,
    (session) => summaryNumber(session, 'total_evaluations') !== undefined,
    (session) =>
      summaryNumber(session, 'total_evaluations') === 0
        ? { pointer: '/outcome_summary/total_evaluations', expected: 'more than 0' }
        : undefined,
  );
  const isUnscoredOwner = (page: Exchange): boolean =>
    isResultsPage(ENDPOINT)(page) && isStep(page, ENDPOINT, 'bare');
  return {
    ...check,
    evidence: (transcript) => [
      ...new Set([...check.evidence(transcript), ...transcript.exchanges.filter(isUnscoredOwner)]),
    ],
    judge: (evidence, transcript) => [
      ...check.judge(evidence, transcript),
      ...evidence
        .filter((page) => isUnscoredOwner(page) && isAboveZero(resolvePointer(page.json, '/total')))
        .map((page) => wrongValue(page, '/total', '0')),
    ],
  };
}

function listsUpload(): Check {
  return {
    evidence: (transcript) => {
      const page = lastAccepted(transcript, ENDPOINT, 'whole') ?? lastPolledPage(transcript);
      return page && findUpload(transcript) ? [page] : [];
    },
    judge: ([page], transcript) => {
      const id = findUpload(transcript)?.['session_id'];
      const isListed =
        page && sessionsOf(page).some((session) => session['source_session_id'] === id);
      if (!page || isListed) return [];
      return [wrongValue(page, '/items', `the transcript ${formatValue(id)}`, 'not listed')];
    },
    unjudged: requireControlApi(noSessions),
  };
}

/** A close and the number of evaluations that its session has. */
interface ScoredClose {
  close: Exchange;
  queued: number;
  scored: number;
}

/** Returns first closes with a listed session. A wrong number of queued evals is not its subject. */
function findScoredCloses(transcript: Transcript): ScoredClose[] {
  const polled = lastPolledPage(transcript);
  // Polling does not wait for closes that queued nothing, so a later page shows them.
  const later = lastAccepted(transcript, ENDPOINT, 'whole again') ?? polled;
  const configured = hasControlApi(transcript) ? seededEvalCount(transcript, 'main') : 0;
  const closes = transcript.exchanges.filter(
    (exchange) =>
      exchange.endpoint === 'end' &&
      exchange.probe === 'service/conversations' &&
      isAccepted(exchange),
  );
  return closes.flatMap((close) => {
    const id = conversationIdOf(close);
    const queued = queuedOf(close);
    const [session] = sessionsById(queued === 0 ? later : polled, id);
    const scored = session && summaryNumber(session, 'total_evaluations');
    const isSingle = closes.filter((other) => conversationIdOf(other) === id).length === 1;
    if (typeof queued !== 'number' || scored === undefined || !isSingle) return [];
    return configured === 0 || configured === queued ? [{ close, queued, scored }] : [];
  });
}

/**
 * Requires at most as many evaluations as were queued in each session, and as many in at least one:
 * a single eval may fail without a result.
 */
function scoresQueuedEvals(): Check {
  return {
    evidence: (transcript) => findScoredCloses(transcript).map(({ close }) => close),
    judge(_evidence, transcript) {
      const closes = findScoredCloses(transcript);
      const hasAlwaysLess = closes.every(({ queued, scored }) => scored < queued);
      return closes
        .filter(({ queued, scored }) => hasAlwaysLess || scored > queued)
        .map(({ close, scored }) =>
          wrongValue(close, '/evaluations_queued', `${scored}, the evaluations of its session`),
        );
    },
    unjudged: unjudgedAs(
      'not_observed',
      'The results list no conversation whose close queued evals.',
    ),
  };
}

/** The checks of `GET /api/prod-evaluations/sessions/`. */
export const productionChecks = {
  'SERVICE-070': answersReads(ENDPOINT),
  'SERVICE-071': hasPageFields(ENDPOINT),
  'SERVICE-075': usesDefaults(ENDPOINT),
  'SERVICE-077': capsLimit(ENDPOINT),
  'SERVICE-078': echoesLimits(ENDPOINT),
  'SERVICE-080': pagesCompletely(ENDPOINT),
  'SERVICE-081': listsNewestFirst(ENDPOINT),
  'SERVICE-082': hasSessionFields(ENDPOINT, '/url'),
  'SERVICE-083': hasLink(ENDPOINT, 'production-eval'),
  'SERVICE-084': hasSessionFields(ENDPOINT, '/run', '/source_session_id', '/status'),
  'SERVICE-085': listsSameRun(),
  'SERVICE-087': listsClosedConversations(),
  'SERVICE-088': hasTypicalValue(ENDPOINT, '/status', 'completed'),
  'SERVICE-090': hasSessionFields(ENDPOINT, '/started_at', '/ended_at'),
  'SERVICE-091': startsWithFirstSpan(),
  'SERVICE-092': hasSummary(ENDPOINT),
  'SERVICE-093': hasOutcomes(ENDPOINT),
  'SERVICE-094': hasPossibleCounts(ENDPOINT),
  'SERVICE-095': listsAllOutcomes(ENDPOINT),
  'SERVICE-096': hasNoSimulationKeys(),
  'SERVICE-097': omitsTraces(ENDPOINT),
  'SERVICE-098': includesTraces(ENDPOINT, ['session_sequence', 'user_input', 'agent_response']),
  'SERVICE-099': hasTurnPerSpan('json'),
  'SERVICE-100': hasSentTexts('user_input'),
  'SERVICE-101': hasSentTexts('agent_response'),
  'SERVICE-102': hasTurnPerSpan('re-sent'),
  'SERVICE-103': hasTurnPerSpan('ignored'),
  'SERVICE-104': hasTurnPerSpan('tools'),
  'SERVICE-107': hasTypicalValue(ENDPOINT, '/eval_outcomes/0/eval_type', 'session_level'),
  'SERVICE-108': hasTypicalPass(),
  'SERVICE-110': filtersSessions(ENDPOINT, nameFilterSteps('run'), matchesRun),
  'SERVICE-111': filtersSessions(ENDPOINT, nameFilterSteps('eval'), matchesEval),
  'SERVICE-112': filtersSessions(ENDPOINT, ['failed only'], hasFailure),
  'SERVICE-113': listsOnlyFailures(ENDPOINT),
  'SERVICE-115': summarizesWholeSession(ENDPOINT),
  'SERVICE-116': countsFailures(ENDPOINT),
  'SERVICE-117': filtersByTime(ENDPOINT, 'started_after'),
  'SERVICE-118': filtersByTime(ENDPOINT, 'started_before'),
  'SERVICE-119': listsOnlyScored(),
  'SERVICE-120': listsUpload(),
  'SERVICE-121': hidesOtherOwners(ENDPOINT),
  'SERVICE-122': scoresQueuedEvals(),
  'SERVICE-123': hasMatchingRate(ENDPOINT),
  'SERVICE-124': numbersTurns(ENDPOINT, sentInputs),
  'SERVICE-125': endsAfterStart(ENDPOINT),
} satisfies Record<keyof typeof productionRequirements, Check>;
