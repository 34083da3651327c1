/** Which closed conversations and uploaded transcripts the production results list (spec 1, 4.2, 4.4). */
import { formatValue } from '../../../../src/contract/index.ts';
import { checkEach, type Check } from '../../../engine/checks/check.ts';
import type { When } from '../../../engine/mutants/combinators.ts';
import type { Transform } from '../../../engine/mutants/mutant.ts';
import type { Subject } from '../../../engine/requirement.ts';
import { isAccepted, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import { CLOSE_WITH_SECOND_KEY, queuesEvals } from '../close/evidence.ts';
import { needsScores, requireControlApi, requirePlainRight, wrongValue } from '../findings.ts';
import { sessionsIn, type ResultsObject } from '../results-api.ts';
import {
  conversationIdOf,
  findUpload,
  isBeyond,
  isCutOff,
  isReadAfterDrain,
  isResultsPage,
  isStep,
  lastAccepted,
  lastPolledPage,
  sentChatSpans,
  sessionsById,
  sessionsOf,
} from '../transcript.ts';
import { fastClock, hasQuery, isLiveRun, listOnly, onPages, wantsTraces } from '../transforms.ts';
import { editProductionSessions } from './both-endpoints.ts';
import { noSessions, TRACES_STEP } from './evidence.ts';
import { noteIfUnscored } from './unlisted.ts';

/** Matches the reads by which the run waits for results. */
export const isPolling: When = (request) =>
  wantsTraces(request) && hasQuery('limit', '500')(request);

export const listedConversations: Subject = {
  requirements: {
    'SERVICE-087': {
      level: 'should',
      rule: 'The production results include a closed conversation by its id within 10 seconds.',
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
      rule: 'The production results include a closed conversation by its id as soon as its evals have run.',
      section: '4.4',
      statements: ['1.2', '1.8', '1.10', '2.5.4', '2.5.5', '4.4.17'],
      reason: 'Otherwise, the scores of the conversation are invisible.',
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
  },
};

/** First closes of the main conversations that queued evals. */
export const scoringCloses = ({ exchanges }: Transcript): Exchange[] =>
  exchanges.filter(
    (exchange) =>
      exchange.endpoint === 'end' &&
      exchange.intent === 'valid' &&
      exchange.probe === 'service/conversations' &&
      !isStep(exchange, 'end', 'close again', CLOSE_WITH_SECOND_KEY) &&
      isAccepted(exchange) &&
      queuesEvals(exchange),
  );

/** Returns the listed session of a close. */
export function findClosedSession(
  transcript: Transcript,
  close: Exchange,
): ResultsObject | undefined {
  return sessionsById(lastPolledPage(transcript), conversationIdOf(close))[0];
}

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

const UNSCORED_HINT =
  'Run the evals that an end call queues, and list the conversation with their outcomes: none of the closed conversations is listed.';

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
      // The best example is a session whose id contains the id of the conversation.
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
      // An item without an id may be one of the conversations.
      const isUnscored = count === 0 && listed.length === sessionsOf(page).length;
      const hint = isRenamed ? OWN_ID_HINT : isUnscored ? UNSCORED_HINT : undefined;
      const withHint = hint === undefined ? finding : { ...finding, hint };
      return [noteIfUnscored(withHint, { page, all: ids, unlisted }, transcript)];
    },
    requireControlApi(needsScores('No close response queued any evals.')),
  );
}

const listIds = (page: Exchange): string[] =>
  sessionsOf(page)
    .map(({ source_session_id: id }) => id)
    .filter((id) => typeof id === 'string');

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
