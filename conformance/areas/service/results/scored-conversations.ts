/** What the production results show of conversations that the run closed, or uploaded (spec 1, 2.3, 2.5). */
import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import { HOUR_MS, isoTime } from '../../../../src/platform/clock.ts';
import { checkEach, type Check } from '../../../engine/checks/check.ts';
import { editAccepted, type When } from '../../../engine/mutants/combinators.ts';
import type { Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { MutantEntry, Subject } from '../../../engine/requirement.ts';
import { isAccepted, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import {
  CLOSE_WITH_SECOND_KEY,
  CLOSED_LAST,
  CLOSED_LAST_SUBJECT,
  queuedOf,
  queuesEvals,
} from '../close/evidence.ts';
import {
  hasReversedTurns,
  hasTurnsOfOneTrace,
  LATER_TURNS_MS,
} from '../close/planned-conversations.ts';
import { onForeignService } from '../control-api/foreign-service.ts';
import { needsScores, requireControlApi, requirePlainRight, wrongValue } from '../findings.ts';
import { objectsAt, sessionsIn, type ResultsObject } from '../results-api.ts';
import { contains } from '../traces/trace-requests.ts';
import {
  conversationIdOf,
  findUpload,
  hasControlApi,
  isBeyond,
  isCutOff,
  isReadAfterDrain,
  isResultsPage,
  isStep,
  lastAccepted,
  lastPolledPage,
  seededEvalCount,
  sentChatSpans,
  sessionsById,
  sessionsOf,
  startedAtMs,
  summaryNumber,
} from '../transcript.ts';
import {
  conversationIdIn,
  fastClock,
  hasQuery,
  isLiveRun,
  listOnly,
  objectAt,
  onPages,
  onSessions,
  onSessionsClosedTwice,
  setKey,
  textOf,
  wantsTraces,
} from '../transforms.ts';
import { editProductionSessions } from './both-endpoints.ts';
import { checkConversations, countableSteps } from './sent-conversations.ts';
import { noSessions, TIME_PRECISION_MS, TRACES_STEP } from './evidence.ts';
import { noteIfUnscored } from './unlisted.ts';

const isPolling: When = (request) => wantsTraces(request) && hasQuery('limit', '500')(request);

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
    'SERVICE-087': {
      level: 'should',
      rule: 'The production results list a closed conversation by its id within 10 seconds.',
      section: '4.2',
      statements: ['1.2', '1.8', '1.10', '2.5.5', '4.2.8', '4.4.17'],
      reason: 'A build that waits for the results fails or takes too long.',
      probes: ['service/conversations'],
      check: listsClosedConversations(),
      mutants: {
        'scored-late': {
          description: 'Lists sessions only after more than 10 seconds.',
          transform: hideWhilePolling,
          ...fastClock,
        },
      },
    },
    'SERVICE-219': {
      rule: 'The production results list a closed conversation by its id once its evals have run.',
      section: '4.4',
      statements: ['1.2', '1.8', '1.10', '2.5.4', '2.5.5', '4.4.17'],
      reason: 'Nobody would see how the conversation was scored.',
      observability: 'provoked',
      probes: ['service/production'],
      check: listsAfterScoring(),
      mutants: {
        'own-session-id': {
          ...editProductionSessions('Lists sessions under internal ids.', (session) => {
            session['source_session_id'] = `svc-${String(session['source_session_id'])}`;
          }),
          alsoKills: ['SERVICE-087'],
        },
        'live-traces-hidden': {
          description: 'Lists only uploaded transcripts.',
          transform: () => listOnly(({ run }) => !isLiveRun(run)),
          ...fastClock,
          alsoKills: ['SERVICE-087'],
        },
      },
    },
    'SERVICE-091': {
      rule: '`started_at` of a production session is the start time of its first span.',
      statements: ['2.1.r1', '2.1.r3b'],
      reason: 'Conversations would be filtered and grouped under the wrong date.',
      check: startsWithFirstSpan(),
      mutants: {
        'start-of-ingestion': editProductionSessions(
          'Uses the time of arrival as started_at.',
          setKey('started_at', '2026-01-01T00:00:00.000Z'),
          (request) => wantsTraces(request) && !request.path.includes('limit=50&'),
        ),
        'start-of-first-arrival': {
          description: 'Uses the start of the span that arrives first as started_at.',
          transform: moveStarts(
            (request) => hasReversedTurns(request) && !hasTurnsOfOneTrace(request),
            LATER_TURNS_MS,
          ),
          ...fastClock,
        },
        'twelve-hour-clock': {
          description: 'Writes hours after noon like those before it.',
          // One conversation is enough: a moved start of others would also change time filters.
          transform: moveStarts(contains(CLOSED_LAST_SUBJECT), -12 * HOUR_MS),
          ...fastClock,
        },
      },
    },
    'SERVICE-120': {
      rule: 'The production results include uploaded transcripts.',
      section: '4.4',
      statements: ['1.11', '4.4.17'],
      reason: 'Customers who upload transcripts would not find their results.',
      observability: 'provoked',
      // If no session has its own id, that is the cause.
      check: requirePlainRight([listsAfterScoring()], listsUpload()),
      mutants: {
        'upload-hidden': {
          description: 'Does not list uploaded transcripts.',
          transform: () => listOnly(({ run }) => !String(run).includes(' upload ')),
          ...fastClock,
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

/** Moves the start of conversations with a trace request that matches. */
function moveStarts(matches: When, ms: number): TransformFactory {
  return () => {
    const ids = new Set<string>();
    const move = onSessions('production', (session) => {
      const startMs = startedAtMs(session);
      if (startMs === undefined || !ids.has(String(session['source_session_id']))) return;
      session['started_at'] = isoTime(startMs + ms);
    })();
    return async (request, forward, clock) => {
      if (request.endpoint === 'traces' && matches(request)) {
        const id = conversationIdIn(textOf(request));
        if (id !== undefined) ids.add(id);
      }
      return move(request, forward, clock);
    };
  };
}

/** A run that no conversation of the check joins. */
const OTHER_RUN = 'Live traces 2099-01-01';

/** Lists no live traces until the run reads all sessions without turns. */
function hideWhilePolling(): Transform {
  let isScored = false;
  const hide = onPages('production', (page) => {
    const items = sessionsIn(page).filter(({ run }) => !isLiveRun(run));
    Object.assign(page, { items, total: items.length });
  })();
  return async (request, forward, clock) => {
    if (hasQuery('limit', '500')(request) && !wantsTraces(request)) isScored = true;
    return isScored || !isPolling(request) ? forward(request) : hide(request, forward, clock);
  };
}

/** First closes of the main conversations that queued evals. */
const scoringCloses = ({ exchanges }: Transcript): Exchange[] =>
  exchanges.filter(
    (exchange) =>
      exchange.endpoint === 'end' &&
      exchange.intent === 'valid' &&
      exchange.probe === 'service/conversations' &&
      !isStep(exchange, 'end', 'close again', CLOSE_WITH_SECOND_KEY) &&
      isAccepted(exchange) &&
      queuesEvals(exchange),
  );

const findClosedSession = (transcript: Transcript, close: Exchange): ResultsObject | undefined =>
  sessionsById(lastPolledPage(transcript), conversationIdOf(close))[0];

/** Returns whether the last page that was polled has no room for a conversation that started so early. */
function isTooOld(transcript: Transcript, close: Exchange): boolean {
  const page = lastPolledPage(transcript);
  const [span] = sentChatSpans(conversationIdOf(close) ?? '', transcript);
  return !!page && !!span && isBeyond(page, Number(span.startNs / 1_000_000n));
}

/** Requires every closed conversation on the last page that was polled. */
function listsClosedConversations(): Check {
  return {
    evidence: (transcript) => (lastPolledPage(transcript) ? scoringCloses(transcript) : []),
    judge(evidence, transcript) {
      const page = lastPolledPage(transcript);
      if (!page) return [];
      const unlisted = evidence.filter(
        (close) => !findClosedSession(transcript, close) && !isTooOld(transcript, close),
      );
      return unlisted.map((close) => {
        const expected = `${formatValue(conversationIdOf(close))} in the results within 10 s`;
        const finding = wrongValue(close, '', expected, 'not listed');
        return noteIfUnscored(finding, { page, all: evidence, unlisted }, transcript);
      });
    },
    unjudged: needsScores('No evals are configured, so nothing is scored.'),
  };
}

/** Steps that read all sessions after the run has waited until no eval is queued. */
const scoredPageSteps = ['whole', TRACES_STEP] as const;

const CACHE_HINT =
  'Another read listed it before. If results are cached, drop them when an eval has run.';

const OWN_ID_HINT =
  'Return the conversation id of the spans as source_session_id, without changes, not an id of the service.';

/**
 * Requires every closed conversation on the pages that are read after the service has run all queued evals,
 * in runs that can wait for this. One of the pages repeats a query from the time before.
 */
export function listsAfterScoring(): Check {
  return checkEach(
    (page, transcript) =>
      isResultsPage('production')(page) &&
      isStep(page, 'production', ...scoredPageSteps) &&
      !isCutOff(page) &&
      isReadAfterDrain(page, transcript) &&
      scoringCloses(transcript).length > 0,
    (page, transcript) => {
      const ids = scoringCloses(transcript).map((close) => conversationIdOf(close) ?? '');
      const listed = listIds(page);
      const unlisted = ids.filter((id) => !listed.includes(id));
      const [first] = unlisted;
      if (first === undefined) return [];
      const expected = `${ids.length} conversations by their ids, such as ${formatValue(first)}`;
      // Of all sessions, one whose id contains the id of the conversation shows most.
      const unknown = listed.filter((id) => !ids.includes(id));
      const example = unknown.find((id) => id.includes(first)) ?? unknown[0];
      const seen = example === undefined ? '' : `, and sessions such as ${formatValue(example)}`;
      const count = ids.length - unlisted.length;
      const finding = wrongValue(page, '/items', expected, `${count} of them${seen}`);
      const isKnown = transcript.exchanges.some(
        (other) =>
          other.id < page.id && other.probe === page.probe && listIds(other).includes(first),
      );
      if (isKnown) return [{ ...finding, hint: CACHE_HINT }];
      const isRenamed = unknown.length >= unlisted.length;
      const withHint = isRenamed ? { ...finding, hint: OWN_ID_HINT } : finding;
      return [noteIfUnscored(withHint, { page, all: ids, unlisted }, transcript)];
    },
    requireControlApi(needsScores('No close response queued any evals.')),
  );
}

const listIds = (page: Exchange): string[] =>
  sessionsOf(page)
    .map(({ source_session_id: id }) => id)
    .filter((id) => typeof id === 'string');

/** Responses to end calls for a conversation that was closed before. */
const repeatedCloses = ({ exchanges }: Transcript): Exchange[] =>
  exchanges.filter((exchange) => isStep(exchange, 'end', 'close again') && isAccepted(exchange));

/** Requires the run name of the close response, also of a repeated one, in the results. */
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

/** Requires sessions to start when their first span starts. */
export function startsWithFirstSpan(): Check {
  return checkConversations(
    [...countableSteps, 'wrapper', CLOSED_LAST],
    ({ session }) => startedAtMs(session) !== undefined,
    ({ id, session, spans }) => {
      const firstMs = Number((spans[0]?.startNs ?? 0n) / 1_000_000n);
      const offsetMs = Math.abs((startedAtMs(session) ?? 0) - firstMs);
      if (offsetMs < TIME_PRECISION_MS) return [];
      const expected = `the start of the first span of ${formatValue(id)}`;
      return [{ expected, received: `a difference of ${offsetMs} ms` }];
    },
  );
}

function listsUpload(): Check {
  return {
    evidence: (transcript) => {
      const page = lastAccepted(transcript, 'production', 'whole') ?? lastPolledPage(transcript);
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
  /** The page with its session, and the place of the session there. */
  page: Exchange;
  pointer: string;
}

/** Returns first closes with a listed session. A wrong number of queued evals is not its subject. */
function findScoredCloses(transcript: Transcript): ScoredClose[] {
  const polled = lastPolledPage(transcript);
  // Polling does not wait for closes that queued nothing, so a later page shows them.
  const later = lastAccepted(transcript, 'production', 'whole again') ?? polled;
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
    const page = queued === 0 ? later : polled;
    const [session] = sessionsById(page, id);
    const scored = session && summaryNumber(session, 'total_evaluations');
    const isSingle = closes.filter((other) => conversationIdOf(other) === id).length === 1;
    if (typeof queued !== 'number' || !page || !session || !isSingle) return [];
    if (scored === undefined) return [];
    const pointer = `/items/${sessionsOf(page).indexOf(session)}`;
    const isRight = configured === 0 || configured === queued;
    return isRight ? [{ close, queued, scored, page, pointer }] : [];
  });
}

/**
 * Requires at most as many evaluations as were queued in each session, and as many in at least one:
 * a single eval may fail without a result.
 */
function scoresQueuedEvals(): Check {
  return {
    evidence(transcript) {
      const closes = findScoredCloses(transcript);
      const pages = closes.map(({ page }) => page);
      return [...new Set([...closes.map(({ close }) => close), ...pages])];
    },
    judge(_evidence, transcript) {
      const closes = findScoredCloses(transcript);
      const hasAlwaysLess = closes.every(({ queued, scored }) => scored < queued);
      return closes
        .filter(({ queued, scored }) => hasAlwaysLess || scored > queued)
        .map(({ close, queued, page, pointer }) => {
          const expected = `${queued}, as \`evaluations_queued\` in the close response (exchange ${close.id})`;
          return wrongValue(page, `${pointer}/outcome_summary/total_evaluations`, expected);
        });
    },
    unjudged: needsScores('The results list no conversation whose close queued evals.'),
  };
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
