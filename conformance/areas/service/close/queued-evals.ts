/** The evals that a close queues (spec 2.2, 3.1, 8). */
import { listAt, LIVE_EVALS_MAX, resolvePointer } from '../../../../src/contract/index.ts';
import { formatCount } from '../../../../src/report-kit/format.ts';
import { checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import { editAccepted, editBody, set } from '../../../engine/mutants/combinators.ts';
import type { Transform } from '../../../engine/mutants/mutant.ts';
import type { MutantEntry, Subject } from '../../../engine/requirement.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { needsScores, requireControlApi, requirePlainRight, wrongValue } from '../findings.ts';
import { listsAllOutcomes } from '../results/outcomes.ts';
import { scoresAtMostQueuedEvals } from '../results/scored-conversations.ts';
import {
  conversationIdOf,
  hasControlApi,
  isStep,
  lastAccepted,
  lastPolledPage,
  seededEvalCount,
  sessionsById,
} from '../transcript.ts';
import { closesUnscored, doubleOutcomes, fastClock, onSessionsClosedTwice } from '../transforms.ts';
import {
  closesWith,
  CONCURRENT_CLOSE_STEP,
  isClosed,
  isFirstClose,
  notClosed,
  queuedOf,
} from './evidence.ts';
import { closesOnceAtSameMoment, doesNotMarkFirstClose } from './already-closed.ts';

/** Replaces the number of queued evals in the responses to first closes. */
const replaceQueued = (description: string, count: number, replacement: number): MutantEntry => ({
  description,
  transform: editAccepted('end', (body) => {
    const isFirst = body['already_closed'] === undefined;
    if (isFirst && resolvePointer(body, '/evaluations_queued') === count) {
      body['evaluations_queued'] = replacement;
    }
  }),
});

export const queuedEvals: Subject = {
  requirements: {
    'SERVICE-047': {
      rule: 'A conversation that is closed twice appears once in the results, with one outcome per eval.',
      statements: ['3.1.12'],
      reason: 'Duplicate outcomes distort the pass rate, and each eval costs a model call.',
      observability: 'provoked',
      check: requirePlainRight(
        [listsAllOutcomes('production'), scoresAtMostQueuedEvals()],
        scoresOnce(),
      ),
      mutants: {
        'scores-again': {
          description: 'Scores a conversation again on a repeated end call.',
          transform: () => onSessionsClosedTwice(doubleOutcomes),
        },
      },
    },
    'SERVICE-049': {
      rule: 'Closing a conversation queues every configured eval.',
      section: '3.1',
      statements: ['1.10', '2.2.2', '3.1.6'],
      reason: 'The results would lack an eval, and nothing would report it.',
      observability: 'provoked',
      check: requirePlainRight([doesNotMarkFirstClose()], queuesAllEvals()),
      mutants: {
        'queues-less': replaceQueued('Queues only one of two evals.', 2, 1),
        'queues-four': replaceQueued('Queues only four of five evals.', 5, 4),
      },
    },
    'SERVICE-050': {
      rule: 'Closing a conversation queues at most 5 evals.',
      section: '8',
      statements: ['2.2.3', '8.a3'],
      reason: 'Each eval costs a model call for every conversation.',
      check: queuesFewEvals(),
      mutants: {
        'queues-six': {
          ...replaceQueued('Queues six evals.', 2, 6),
          ...fastClock,
          alsoKills: ['SERVICE-049'],
        },
      },
    },
    'SERVICE-051': {
      rule: 'Without configured evals, a conversation closes with `evaluations_queued: 0`.',
      section: '3.1',
      statements: ['2.2.6', '3.1.13', '3.1.14'],
      reason: 'Customers start sending traces before they choose evals.',
      observability: 'provoked',
      probes: ['service/settings'],
      check: closesWith(
        ['close bare'],
        '/evaluations_queued',
        (exchange) => queuedOf(exchange) === 0,
        '0',
      ),
      mutants: {
        'queues-none-as-two': replaceQueued('Queues evals although none are configured.', 0, 2),
        'queues-all-if-none': {
          description: 'Queues every eval of an owner whose settings choose none.',
          transform: queueUnchosenEvals,
        },
      },
    },
    'SERVICE-053': {
      rule: 'Closing a conversation skips a deleted eval and queues the others.',
      statements: ['3.1.16', '3.1.17'],
      reason: 'One deleted eval would stop the remaining evals from scoring.',
      observability: 'provoked',
      probes: ['service/settings'],
      check: closesWith(
        ['close deleted'],
        '/evaluations_queued',
        (exchange, transcript) => queuedOf(exchange) === seededEvalCount(transcript, 'deleted') - 1,
        'one less than the number of configured evals',
      ),
      mutants: { 'queues-deleted': replaceQueued('Counts deleted evals as queued.', 1, 2) },
    },
  },
};

/** Reports as many queued evals as the owners have whose settings choose none. */
function queueUnchosenEvals(): Transform {
  let unchosen = 0;
  return async (request, forward) => {
    const isSeed = request.endpoint === 'admin' && isObject(request.json);
    if (isSeed && resolvePointer(request.json, '/settings/evals') === undefined) {
      unchosen = Math.max(unchosen, listAt(request.json, '/evals').length);
    }
    const response = await forward(request);
    if (request.endpoint !== 'end' || !closesUnscored(response)) return response;
    return editBody(response, request, set('/evaluations_queued', unchosen));
  };
}

/** Requires a single session with unique evals for the conversation that is closed twice. */
function scoresOnce(): Check {
  const concurrent = closesOnceAtSameMoment();
  const idsOf = (transcript: Transcript): Set<string | undefined> => {
    // If both of two concurrent calls close a conversation, that is the cause.
    const areBothFirst = concurrent.judge(concurrent.evidence(transcript), transcript).length > 0;
    const repeated = transcript.exchanges.filter(
      (exchange) =>
        isClosed(exchange) &&
        (isStep(exchange, 'end', 'close again') ||
          (!areBothFirst && isStep(exchange, 'end', CONCURRENT_CLOSE_STEP))),
    );
    return new Set(repeated.map(conversationIdOf));
  };
  /** While it is scored again, a service may hide a session, so either page is evidence. */
  const findPage = (id: string | undefined, transcript: Transcript): Exchange | undefined =>
    [lastAccepted(transcript, 'production', 'whole'), lastPolledPage(transcript)].find(
      (candidate) => sessionsById(candidate, id).length > 0,
    );
  return {
    evidence: (transcript) => [
      ...new Set([...idsOf(transcript)].flatMap((id) => findPage(id, transcript) ?? [])),
    ],
    judge: (_evidence, transcript) =>
      [...idsOf(transcript)].flatMap((id): Finding[] => {
        const page = findPage(id, transcript);
        const sessions = sessionsById(page, id);
        if (!page) return [];
        const outcomes = resolvePointer(sessions[0], '/eval_outcomes');
        const names = Array.isArray(outcomes)
          ? outcomes.map((outcome) => resolvePointer(outcome, '/eval_name'))
          : [];
        if (sessions.length === 1 && new Set(names).size === names.length) return [];
        const first = sessions.length === 1 ? ' with' : ', the first with';
        const evals = formatCount(new Set(names).size, 'eval');
        const received = `${formatCount(sessions.length, 'session')}${first} ${formatCount(names.length, 'outcome')} of ${evals}`;
        return [wrongValue(page, '/items', 'one session with one outcome per eval', received)];
      }),
    unjudged: needsScores('No conversation that was closed twice is listed.'),
  };
}

/** Requires the number of configured evals: two for most conversations, and the most for the owner `named`. */
function queuesAllEvals(): Check {
  const isOfNamed = (exchange: Exchange): boolean => isStep(exchange, 'end', 'close named');
  return checkEach(
    (exchange, transcript) =>
      isFirstClose(exchange) &&
      (exchange.probe === 'service/conversations' || isOfNamed(exchange)) &&
      typeof queuedOf(exchange) === 'number' &&
      hasControlApi(transcript),
    (exchange, transcript) => {
      const count = seededEvalCount(transcript, isOfNamed(exchange) ? 'named' : 'main');
      if (queuedOf(exchange) === count) return [];
      return [wrongValue(exchange, '/evaluations_queued', String(count))];
    },
    requireControlApi(notClosed),
  );
}

function queuesFewEvals(): Check {
  return checkEach(
    (exchange) => isFirstClose(exchange) && typeof queuedOf(exchange) === 'number',
    (exchange) =>
      Number(queuedOf(exchange)) <= LIVE_EVALS_MAX
        ? []
        : [wrongValue(exchange, '/evaluations_queued', `at most ${LIVE_EVALS_MAX}`)],
    notClosed,
  );
}
