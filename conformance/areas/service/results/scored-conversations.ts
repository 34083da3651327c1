/** What the results of closed conversations have of the close response: the run and the evals (spec 2.3). */
import { formatValue, LIVE_EVALS_MAX, resolvePointer } from '../../../../src/contract/index.ts';
import { isObject, parseJson } from '../../../../src/platform/json.ts';
import type { Check, Finding } from '../../../engine/checks/check.ts';
import { editAccepted, isSuccess } from '../../../engine/mutants/combinators.ts';
import type { Transform } from '../../../engine/mutants/mutant.ts';
import type { MutantEntry, Subject } from '../../../engine/requirement.ts';
import { isAccepted, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import { queuedOf } from '../close/evidence.ts';
import { onForeignService } from '../control-api/foreign-service.ts';
import { needsScores, wrongValue } from '../findings.ts';
import { objectsAt, type ResultsObject } from '../results-api.ts';
import {
  conversationIdOf,
  hasControlApi,
  isStep,
  lastAccepted,
  lastPolledPage,
  seededEvalCount,
  sessionsById,
  sessionsOf,
  summaryNumber,
} from '../transcript.ts';
import {
  conversationIdIn,
  fastClock,
  objectAt,
  onSessions,
  onSessionsClosedTwice,
  setKey,
} from '../transforms.ts';
import { editProductionSessions } from './both-endpoints.ts';
import { noSessions } from './evidence.ts';
import { findClosedSession, isPolling, scoringCloses } from './listed-conversations.ts';

/** Replaces the number of queued evals in the responses to first closes. */
const reportQueued = (description: string, count: number): MutantEntry => ({
  description,
  transform: editAccepted('end', (body) => {
    if (body['already_closed'] === undefined) body['evaluations_queued'] = count;
  }),
});

export const scoredConversations: Subject = {
  requirements: {
    'SERVICE-085': {
      rule: '`run` of a production session equals `run` in the close response, even after a second close.',
      section: '2.5',
      statements: ['2.3.4', '2.5.3', '3.1.7'],
      reason: 'Clients filter the results by the run name that the close response gave them.',
      check: listsSameRun(),
      mutants: {
        'run-base-alone': editProductionSessions('Lists runs without their date.', (session) => {
          session['run'] = String(session['run']).replace(/^(Live traces) .*/, '$1');
        }),
        'repeat-moves-run': {
          description: 'Moves a session to another run when its conversation is closed again.',
          transform: () => onSessionsClosedTwice(setKey('run', OTHER_RUN)),
          ...fastClock,
        },
        'repeat-tells-other-run': {
          description: 'Returns another run when a conversation is closed again.',
          transform: editAccepted('end', (body) => {
            if (body['already_closed'] === true) body['run'] = OTHER_RUN;
          }),
        },
      },
    },
    'SERVICE-122': {
      rule: 'A closed conversation gets as many evaluations as `evaluations_queued` announced.',
      section: '2.3',
      statements: ['1.2', '2.3.6', '3.1.6'],
      reason: 'A client that waits for this number would wait forever or stop too early.',
      check: scoresQueuedEvals(),
      mutants: {
        'outcome-forgotten': editProductionSessions(
          'Queues two evals but scores only one.',
          keepFirstOutcome,
          isPolling,
        ),
        'four-of-five-scored': editProductionSessions(
          'Scores only four of five evals.',
          loseFifthOutcome,
        ),
        'deleted-eval-scored': {
          description: 'Adds an outcome of a deleted eval.',
          transform: addDeletedOutcome,
        },
        'outcome-unqueued': editProductionSessions(
          'Scores an eval that it did not queue.',
          addPassedOutcome,
          isPolling,
        ),
        'strange-queues-less': onForeignService(
          reportQueued('Reports fewer queued evals than it scores.', 1),
        ),
        'strange-queues-more': onForeignService(
          reportQueued('Reports more queued evals than it scores.', 3),
        ),
      },
      legal: {
        'eval-without-outcome': {
          description: 'Lacks the outcome of one eval that failed to run.',
          transform: loseOneOutcome,
          ...fastClock,
        },
      },
    },
  },
};

/** A run that no conversation of the check joins. */
const OTHER_RUN = 'Live traces 2099-01-01';

/** Responses to end calls for a conversation that was closed before. */
const repeatedCloses = ({ exchanges }: Transcript): Exchange[] =>
  exchanges.filter((exchange) => isStep(exchange, 'end', 'close again') && isAccepted(exchange));

/** Requires the run name of the close response, even of a repeated one, in the results. */
function listsSameRun(): Check {
  const listedCloses = (transcript: Transcript): Exchange[] =>
    [...scoringCloses(transcript), ...repeatedCloses(transcript)].filter(
      (close) =>
        typeof resolvePointer(close.json, '/run') === 'string' &&
        typeof findClosedSession(transcript, close)?.['run'] === 'string',
    );
  return {
    evidence(transcript) {
      const closes = listedCloses(transcript);
      const page = lastPolledPage(transcript);
      return page && closes.length > 0 ? [...closes, page] : [];
    },
    judge: (_evidence, transcript) =>
      listedCloses(transcript).flatMap((close) => {
        const page = lastPolledPage(transcript);
        const session = findClosedSession(transcript, close);
        const run = resolvePointer(close.json, '/run');
        if (!page || !session || session['run'] === run) return [];
        const pointer = `/items/${sessionsOf(page).indexOf(session)}/run`;
        const expected = `${formatValue(run)}, as in the close response (exchange ${close.id})`;
        return [wrongValue(page, pointer, expected)];
      }),
    unjudged: noSessions,
  };
}

/** A close and the number of evaluations that its session has. */
interface ScoredClose {
  close: Exchange;
  queued: number;
  scored: number;
  /** The page with its session, and the place of the session there. */
  page: Exchange;
  pointer: string;
}

/** The closes of an owner, and the page with the session of each. */
interface OwnerCloses {
  closes: Exchange[];
  pageOf: (queued: unknown) => Exchange | undefined;
  /** How many evals each close must queue; undefined if the run does not know. */
  evalCount: number | undefined;
}

/** Returns the closes of each owner whose sessions the run reads. */
function listClosesByOwner(transcript: Transcript): OwnerCloses[] {
  const closesOf = (isOfOwner: (exchange: Exchange) => boolean): Exchange[] =>
    transcript.exchanges.filter(
      (exchange) => exchange.endpoint === 'end' && isAccepted(exchange) && isOfOwner(exchange),
    );
  const polled = lastPolledPage(transcript);
  // Polling does not wait for closes that queued nothing, so a later page shows them.
  const later = lastAccepted(transcript, 'production', 'whole again') ?? polled;
  const isSeeded = hasControlApi(transcript);
  const main: OwnerCloses = {
    closes: closesOf(({ probe }) => probe === 'service/conversations'),
    pageOf: (queued) => (queued === 0 ? later : polled),
    evalCount: isSeeded ? seededEvalCount(transcript, 'main') : undefined,
  };
  if (!isSeeded) return [main];
  const beforeLate = lastAccepted(transcript, 'production', 'before late spans');
  const ofDeleted = lastAccepted(transcript, 'production', 'deleted');
  return [
    main,
    {
      closes: closesOf((exchange) =>
        isStep(exchange, 'end', 'close first of two', 'close second of two', 'close late'),
      ),
      pageOf: () => beforeLate,
      evalCount: seededEvalCount(transcript, 'apart'),
    },
    {
      closes: closesOf((exchange) => isStep(exchange, 'end', 'close deleted')),
      pageOf: () => ofDeleted,
      evalCount: seededEvalCount(transcript, 'deleted') - 1,
    },
  ];
}

/** Returns first closes with a listed session. A wrong number of queued evals is not its subject. */
function findScoredCloses({ closes, pageOf, evalCount }: OwnerCloses): ScoredClose[] {
  return closes.flatMap((close) => {
    const id = conversationIdOf(close);
    const queued = queuedOf(close);
    const page = pageOf(queued);
    const [session] = sessionsById(page, id);
    const scored = session && summaryNumber(session, 'total_evaluations');
    const isSingle = closes.filter((other) => conversationIdOf(other) === id).length === 1;
    if (typeof queued !== 'number' || !page || !session || !isSingle) return [];
    if (scored === undefined) return [];
    const pointer = `/items/${sessionsOf(page).indexOf(session)}`;
    const isRight = evalCount === undefined || evalCount === queued;
    return isRight ? [{ close, queued, scored, page, pointer }] : [];
  });
}

/**
 * Requires at most as many evaluations as were queued in each session, and as many in at least one of
 * each owner: a single eval may fail without a result.
 */
function scoresQueuedEvals(): Check {
  return {
    evidence(transcript) {
      const closes = listClosesByOwner(transcript).flatMap(findScoredCloses);
      const pages = closes.map(({ page }) => page);
      return [...new Set([...closes.map(({ close }) => close), ...pages])];
    },
    judge: (_evidence, transcript) =>
      listClosesByOwner(transcript).flatMap((ofOwner) => {
        const closes = findScoredCloses(ofOwner);
        const hasAlwaysLess = closes.every(({ queued, scored }) => scored < queued);
        return closes
          .filter(({ queued, scored }) => hasAlwaysLess || scored > queued)
          .map(({ close, queued, page, pointer }) => {
            const expected = `${queued}, as \`evaluations_queued\` in the close response (exchange ${close.id})`;
            const place = `${pointer}/outcome_summary/total_evaluations`;
            return {
              ...wrongValue(page, place, expected),
              ...(isStep(page, 'production', 'deleted')
                ? { hint: DELETED_EVAL_HINT }
                : findRepetitionHint(resolvePointer(page.json, pointer))),
            };
          });
      }),
    unjudged: needsScores('The results list no conversation whose close queued evals.'),
  };
}

const DELETED_EVAL_HINT =
  'Skip an eval that was deleted: store no outcome of it, not even a failing one.';

/** Requires at most as many evaluations as were queued. If there are more, a repeated close is not the cause. */
export function scoresAtMostQueuedEvals(): Check {
  const check = scoresQueuedEvals();
  const hasMore = ({ queued, scored }: ScoredClose): boolean => scored > queued;
  const isMore = (transcript: Transcript): boolean =>
    listClosesByOwner(transcript).flatMap(findScoredCloses).some(hasMore);
  return {
    ...check,
    judge: (evidence, transcript) => (isMore(transcript) ? check.judge(evidence, transcript) : []),
  };
}

/** Advises on a session with several outcomes of one eval. */
function findRepetitionHint(session: unknown): Pick<Finding, 'hint'> {
  const names = isObject(session)
    ? objectsAt(session, 'eval_outcomes').map(({ eval_name: name }) => name)
    : [];
  const name = names.find((each, index) => names.indexOf(each) < index);
  if (name === undefined) return {};
  const count = names.filter((each) => each === name).length;
  return { hint: `Store one outcome for each eval: ${formatValue(name)} has ${count}.` };
}

/** Reduces a session to its first outcome. */
export function keepFirstOutcome(session: ResultsObject): void {
  const [first] = objectsAt(session, 'eval_outcomes');
  const passed = first?.['outcome'] === 'pass' ? 1 : 0;
  session['eval_outcomes'] = [first];
  session['outcome_summary'] = {
    total_evaluations: 1,
    passed_count: passed,
    failed_count: 1 - passed,
    pass_rate: passed,
  };
}

/** Removes the last of five outcomes, which has passed like the first one. */
function loseFifthOutcome(session: ResultsObject): void {
  const outcomes = objectsAt(session, 'eval_outcomes');
  if (outcomes.length < LIVE_EVALS_MAX) return;
  session['eval_outcomes'] = outcomes.slice(0, -1);
  const summary = objectAt(session, 'outcome_summary');
  const [passed, total] = [Number(summary['passed_count']) - 1, outcomes.length - 1];
  Object.assign(summary, {
    total_evaluations: total,
    passed_count: passed,
    pass_rate: passed / total,
  });
}

/** Adds an outcome to conversations that queued one of two evals. */
function addDeletedOutcome(): Transform {
  const ids = new Set<unknown>();
  const add = onSessions('production', (session) => {
    if (ids.has(session['source_session_id'])) addPassedOutcome(session);
  })();
  return async (request, forward, clock) => {
    if (request.endpoint !== 'end') return add(request, forward, clock);
    const response = await forward(request);
    const body = parseJson(response.body);
    if (isSuccess(response) && resolvePointer(body, '/evaluations_queued') === 1) {
      ids.add(resolvePointer(body, '/conversation_id'));
    }
    return response;
  };
}

function addPassedOutcome(session: ResultsObject): void {
  const outcomes = objectsAt(session, 'eval_outcomes');
  const summary = objectAt(session, 'outcome_summary');
  const passed = Number(summary['passed_count']) + 1;
  const total = Number(summary['total_evaluations']) + 1;
  const added = { ...outcomes[0], eval_name: 'Another', outcome: 'pass' };
  session['eval_outcomes'] = [...outcomes, added];
  Object.assign(summary, {
    total_evaluations: total,
    passed_count: passed,
    pass_rate: passed / total,
  });
}

/**
 * Removes the first of several outcomes from a single session that passed every eval. The run filters by
 * the name of the second one.
 */
function loseOneOutcome(): Transform {
  let chosenId: unknown;
  return onSessions('production', (session) => {
    const { source_session_id: id } = session;
    const hasPassed = resolvePointer(session, '/outcome_summary/failed_count') === 0;
    const outcomes = objectsAt(session, 'eval_outcomes');
    const isLive = conversationIdIn(String(id)) !== undefined;
    if (hasPassed && isLive && outcomes.length > 1) chosenId ??= id;
    if (id !== chosenId || id === undefined) return;
    keepFirstOutcome(session);
  })();
}
